// A stand-in for the CUDA runtime: a program of nvcc that is linked with it runs its kernels in the executor, on the CPU. It
// knows what the programs of sources/ and CUTLASS's host side ask for. With PTX_RECORDING=PREFIX in the environment it writes
// what the program did: PREFIX.steps, and the modules beside it (recording.hpp). It needs no header of CUDA; layouts are the
// ABI's of 13.0.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/layout/layout.hpp"
#include "ptx/layout/tensor_map.hpp"
#include "ptx/layout/tensor_map_bytes.hpp"
#include "tests/producers/device.hpp"
#include "tests/producers/recording.hpp"

namespace ptx::producers {
namespace {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] Sizes3 sizes() const { return {x, y, z}; }
};

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "runtime: " << why << '\n';
  std::exit(1);
}

// A fat binary: a header, then entries with headers of their own, of which one is PTX. Compressed ones are not read.
struct FatBinary {
  std::uint32_t magic = 0, version = 0;
  const std::byte* data = nullptr;
};
template <class T>
T read_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
std::string ptx_of(const FatBinary& binary) {
  const auto header_bytes = read_at<std::uint16_t>(binary.data + 6);
  const auto all_bytes = read_at<std::uint64_t>(binary.data + 8);
  const std::byte* at = binary.data + header_bytes;
  const std::byte* const end = at + all_bytes;
  constexpr std::uint16_t is_ptx = 1;
  while (at < end) {
    const auto entry_header = read_at<std::uint32_t>(at + 4);
    const auto entry_bytes = read_at<std::uint64_t>(at + 8);
    const std::byte* const content = at + entry_header;
    if (read_at<std::uint16_t>(at) == is_ptx) {
      std::string text(entry_bytes, '\0');
      std::memcpy(text.data(), content, text.size());
      text.resize(std::min(text.find('\0'), text.size()));
      if (text.find(".version") == std::string::npos) give_up("the PTX is compressed; nvcc takes --compress-mode=none");
      return text;
    }
    at = content + entry_bytes;
  }
  give_up("a fat binary without PTX; nvcc takes -gencode arch=compute_X,code=compute_X");
}

struct HostModule {
  std::string file, text;
};
struct Symbol {
  HostModule* module = nullptr;
  std::string name;
  std::size_t bytes = 0;
};
struct Configuration {
  Dim3 grid, block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
};

class Runtime {
 public:
  static Runtime& get() {
    static Runtime runtime;
    return runtime;
  }

  HostModule& add(const FatBinary& binary) {
    const std::string number = modules_.empty() ? "" : cat('.', modules_.size());
    modules_.push_back(std::make_unique<HostModule>(HostModule{.file = cat(stem(), number, ".ptx"), .text = ptx_of(binary)}));
    return *modules_.back();
  }
  std::map<const void*, Symbol> functions, variables;
  std::vector<Configuration> configurations;
  Device& device() { return *device_; }

  std::uint64_t allocate(std::size_t bytes) {
    const std::uint64_t address = device_->allocate(bytes);
    if (address == 0) give_up(cat("no room for ", bytes, " bytes"));
    return address;
  }
  void wrote(const void* to) {
    if (Allocation* const one = device_->find(std::bit_cast<std::uintptr_t>(to))) one->initialised = true;
  }
  std::span<std::byte> variable(const void* host) {
    const auto found = variables.find(host);
    if (found == variables.end()) give_up("a symbol that nobody has registered");
    load(*found->second.module);
    return device_->variable(found->second.module->file, found->second.name);
  }
  void wrote_variable(const void* host) {
    const Symbol& symbol = variables.at(host);
    const auto bytes = variable(host);
    record(VariableStep{.file = symbol.module->file, .name = symbol.name, .bytes = {bytes.begin(), bytes.end()}});
  }
  int compute_capability() {
    if (modules_.empty()) return 80;
    const std::string& text = modules_.front()->text;
    return std::atoi(text.c_str() + text.find(".target sm_") + 11);
  }

  void launch(const void* host, const Dim3& grid, const Dim3& block, const Dim3& cluster, std::size_t shared_bytes,
              bool cooperative, void* const* arguments) {
    const auto found = functions.find(host);
    if (found == functions.end()) give_up("a kernel that nobody has registered");
    const Symbol& kernel = found->second;
    load(*kernel.module);
    const ir::Function* const entry = device_->entry(kernel.module->file, kernel.name);
    if (entry == nullptr) give_up(cat("no kernel ", kernel.name));
    const ParameterPlaces places = places_of_parameters(*entry);
    LaunchStep step{.file = kernel.module->file,
                    .entry = kernel.name,
                    .grid = grid.sizes(),
                    .block = block.sizes(),
                    .cluster = cluster.sizes(),
                    .shared_bytes = shared_bytes,
                    .cooperative = cooperative,
                    .params = std::vector<std::byte>(places.bytes)};
    for (std::size_t i = 0; i < entry->params.size(); ++i)
      std::memcpy(step.params.data() + places.offsets[i], arguments[i], entry->params[i].bytes());
    record_memory();
    record(step);
    const auto report = device_->launch(step);
    if (!report) give_up(render(report.error()));
    if (std::getenv("PTX_LAUNCHES") != nullptr)
      std::cerr << kernel.name << ": " << report->ctas << " blocks, " << report->warp_instructions << " warp instructions\n";
    remember();
    std::cout << device_->printed << std::flush;
    device_->printed.clear();
  }

 private:
  Runtime() {
    auto device = Device::make();
    if (!device) give_up(render(device.error()));
    device_ = std::move(*device);
    if (const char* const prefix = std::getenv("PTX_RECORDING")) {
      prefix_ = prefix;
      steps_.open(prefix_ + ".steps");
    }
  }

  std::string stem() const {
    const std::string name = prefix_.substr(prefix_.rfind('/') + 1);
    return name.empty() ? "program" : name;
  }
  void record(const Step& step) {
    if (steps_.is_open() && !(steps_ << to_line(step) << std::flush)) give_up("the recording cannot be written");
  }
  void load(const HostModule& module) {
    if (device_->has(module.file)) return;
    if (steps_.is_open()) std::ofstream(prefix_.substr(0, prefix_.rfind('/') + 1) + module.file) << module.text;
    record(LoadStep{.file = module.file});
    if (const auto loaded = device_->load(module.file, module.text); !loaded) give_up(render(loaded.error()));
  }
  // What the host has allocated and written since the last launch.
  void record_memory() {
    const auto& all = device_->allocations();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i >= seen_.size()) {
        record(AllocateStep{.bytes = all[i].bytes, .name = all[i].name});
        seen_.emplace_back();
      }
      if (!all[i].initialised) continue;
      const auto memory = all[i].memory();
      if (!std::equal(memory.begin(), memory.end(), seen_[i].begin(), seen_[i].end()))
        record(WriteStep{.allocation = i, .bytes = {memory.begin(), memory.end()}});
    }
  }
  void remember() {
    const auto& all = device_->allocations();
    for (std::size_t i = 0; i < all.size(); ++i) seen_[i].assign(all[i].memory().begin(), all[i].memory().end());
  }

  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<HostModule>> modules_;
  std::string prefix_;
  std::ofstream steps_;
  std::vector<std::vector<std::byte>> seen_;
};

void copy(void* to, const void* from, std::size_t bytes) {
  std::memmove(to, from, bytes);
  Runtime::get().wrote(to);
}
void fill(void* to, int value, std::size_t bytes) {
  std::memset(to, value, bytes);
  Runtime::get().wrote(to);
}

// A launch attribute: what it is, then 64 bytes of its value.
struct Attribute {
  std::uint32_t id = 0, unused = 0;
  std::array<std::uint32_t, 16> value{};
};
struct LaunchConfiguration {
  Dim3 grid, block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
  const Attribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
struct FunctionAttributes {
  std::size_t shared_bytes = 0, const_bytes = 0, local_bytes = 0;
  int max_threads = 1024, registers = 32, ptx_version = 0, binary_version = 0, cache_mode = 0;
  int max_dynamic_shared_bytes = 232448, carveout = -1;
};

int device_attribute(int attribute) {
  switch (attribute) {
    case 1:
      return 1024;  // threads per block
    case 10:
      return 32;  // warp size
    case 8:
      return 49152;  // shared memory per block
    case 16:
      return 4;  // multiprocessors
    case 39:
      return 2048;  // threads per multiprocessor
    case 75:
      return Runtime::get().compute_capability() / 10;
    case 76:
      return Runtime::get().compute_capability() % 10;
    case 81:
      return 233472;  // shared memory per multiprocessor
    case 97:
      return 232448;  // … per block, opted in
    case 106:
      return 32;  // blocks per multiprocessor
    case 5:
      return 2147483647;  // grid
    case 95:
      return 1;  // cooperative launches
    case 111:
      return 1024;  // reserved shared memory
    case 120:
      return 1;  // clusters
    default:
      return 0;
  }
}

int encode_tiled(void* map, int type, std::uint32_t rank, void* tensor, const std::uint64_t* sizes, const std::uint64_t* strides,
                 const std::uint32_t* box, const std::uint32_t* element_strides, int interleave, int swizzle, int promotion,
                 int fill) {
  if (type > static_cast<int>(layout::TensorMapType::tf32_ftz)) {
    std::cerr << "cuTensorMapEncodeTiled: elements of 4 and 6 bits (type " << type << ") are not among ptx::layout's\n";
    return 1;
  }
  layout::TensorMap made;
  made.type = static_cast<layout::TensorMapType>(type);
  made.rank = static_cast<std::uint8_t>(rank);
  made.element_strides = {};
  for (std::size_t i = 0; i < rank; ++i) {
    made.sizes.at(i) = sizes[i];
    made.box.at(i) = box[i];
    made.element_strides.at(i) = element_strides[i];
    if (i + 1 < rank) made.strides.at(i) = strides[i];
  }
  constexpr std::array swizzles{layout::Swizzle::none, layout::Swizzle::b32, layout::Swizzle::b64, layout::Swizzle::b128};
  made.swizzle = swizzles.at(static_cast<std::size_t>(swizzle));
  made.l2_promotion = static_cast<layout::L2Promotion>(promotion);
  made.interleave = static_cast<layout::Interleave>(interleave);
  made.fill = static_cast<layout::TensorMapFill>(fill);
  if (const auto good = made.check(); !good) {
    std::cerr << "cuTensorMapEncodeTiled: " << render(good.error()) << '\n';
    return 1;
  }
  const layout::TensorMapWords words = layout::encode(made, std::bit_cast<std::uintptr_t>(tensor));
  std::memcpy(map, words.word.data(), sizeof words.word);
  return 0;
}

int driver_function(const char* name, void** function) {
  *function = nullptr;
  if (std::string_view(name) == "cuTensorMapEncodeTiled") *function = reinterpret_cast<void*>(&encode_tiled);
  return *function == nullptr ? 500 : 0;
}

}  // namespace
}  // namespace ptx::producers

using namespace ptx::producers;  // NOLINT(google-build-using-namespace): what follows is the runtime's C interface

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void** __cudaRegisterFatBinary(const FatBinary* binary) { return reinterpret_cast<void**>(&Runtime::get().add(*binary)); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** module, const void* host, char*, const char* name, int, void*, void*, void*, void*, int*) {
  Runtime::get().functions[host] = {.module = reinterpret_cast<HostModule*>(module), .name = name};
}
void __cudaRegisterVar(void** module, const void* host, char*, const char* name, int, std::size_t bytes, int, int) {
  Runtime::get().variables[host] = {.module = reinterpret_cast<HostModule*>(module), .name = name, .bytes = bytes};
}
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes, void* stream) {
  Runtime::get().configurations.push_back({.grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream});
  return 0;
}
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes, void** stream) {
  const Configuration last = Runtime::get().configurations.back();
  Runtime::get().configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  return 0;
}
int __cudaGetKernel(const void** kernel, const void* host) {
  *kernel = host;
  return 0;
}
int cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared_bytes, void*) {
  Runtime::get().launch(host, grid, block, {}, shared_bytes, false, arguments);
  return 0;
}
int __cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared_bytes, void*) {
  return cudaLaunchKernel(host, grid, block, arguments, shared_bytes, nullptr);
}
int cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared_bytes, void*) {
  Runtime::get().launch(host, grid, block, {}, shared_bytes, true, arguments);
  return 0;
}
int cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* host, void** arguments) {
  Dim3 cluster;
  bool cooperative = false;
  constexpr std::uint32_t is_cooperative = 2, cluster_dimension = 4;
  for (unsigned i = 0; i < configuration->attribute_count; ++i) {
    const Attribute& one = configuration->attributes[i];
    if (one.id == cluster_dimension) cluster = {.x = one.value[0], .y = one.value[1], .z = one.value[2]};
    if (one.id == is_cooperative) cooperative = one.value[0] != 0;
  }
  Runtime::get().launch(host, configuration->grid, configuration->block, cluster, configuration->shared_bytes, cooperative,
                        arguments);
  return 0;
}

int cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::bit_cast<void*>(Runtime::get().allocate(bytes));
  return 0;
}
int cudaMallocManaged(void** memory, std::size_t bytes, unsigned) { return cudaMalloc(memory, bytes); }
int cudaMallocAsync(void** memory, std::size_t bytes, void*) { return cudaMalloc(memory, bytes); }
int cudaFree(void*) { return 0; }
int cudaFreeAsync(void*, void*) { return 0; }
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  copy(to, from, bytes);
  return 0;
}
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void*) { return cudaMemcpy(to, from, bytes, kind); }
int cudaMemset(void* to, int value, std::size_t bytes) {
  fill(to, value, bytes);
  return 0;
}
int cudaMemsetAsync(void* to, int value, std::size_t bytes, void*) { return cudaMemset(to, value, bytes); }
int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int) {
  std::memcpy(Runtime::get().variable(symbol).subspan(offset, bytes).data(), from, bytes);
  Runtime::get().wrote_variable(symbol);
  return 0;
}
int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, int) {
  std::memcpy(to, Runtime::get().variable(symbol).subspan(offset, bytes).data(), bytes);
  return 0;
}
int cudaGetSymbolAddress(void** address, const void* symbol) {
  *address = Runtime::get().variable(symbol).data();
  return 0;
}

int cudaFuncSetAttribute(const void*, int, int) { return 0; }
int cudaFuncGetAttributes(FunctionAttributes* attributes, const void*) {
  *attributes = {};
  attributes->ptx_version = attributes->binary_version = Runtime::get().compute_capability();
  return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = 1;
  return 0;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t, unsigned) {
  *blocks = 1;
  return 0;
}
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  *value = device_attribute(attribute);
  return 0;
}
int cudaGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cudaGetDeviceCount(int* count) {
  *count = 1;
  return 0;
}
int cudaSetDevice(int) { return 0; }
int cudaDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
int cudaGetLastError() { return 0; }
int cudaPeekAtLastError() { return 0; }
const char* cudaGetErrorString(int) { return "an error"; }
const char* cudaGetErrorName(int) { return "an error"; }
int cudaDeviceSynchronize() { return 0; }
int cudaStreamSynchronize(void*) { return 0; }
int cudaStreamCreate(void** stream) {
  *stream = nullptr;
  return 0;
}
int cudaStreamDestroy(void*) { return 0; }
int cudaEventCreate(void** event) {
  *event = nullptr;
  return 0;
}
int cudaEventDestroy(void*) { return 0; }
int cudaEventRecord(void*, void*) { return 0; }
int cudaEventSynchronize(void*) { return 0; }
int cudaEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 1;
  return 0;
}
int cudaStreamIsCapturing(void*, int* status) {
  *status = 0;
  return 0;
}
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long, int* status) {
  const int error = driver_function(name, function);
  if (status != nullptr) *status = error == 0 ? 0 : 1;
  return error;
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPoint(name, function, flags, status);
}
int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* tensor, const std::uint64_t* sizes,
                           const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* element_strides,
                           int interleave, int swizzle, int promotion, int fill) {
  return encode_tiled(map, type, rank, tensor, sizes, strides, box, element_strides, interleave, swizzle, promotion, fill);
}
int cudaPointerGetAttributes(void* attributes, const void* memory) {
  struct {
    int type = 2, device = 0;  // memory of the device
    const void *on_device = nullptr, *on_host = nullptr;
  } made;
  made.on_device = memory;
  std::memcpy(attributes, &made, sizeof made);
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "an error";
  return 0;
}
// What the programs of sources/ call an allocation.
void producers_name(const void* memory, const char* name) {
  if (Allocation* const one = Runtime::get().device().find(std::bit_cast<std::uintptr_t>(memory))) one->name = name;
}
}
// NOLINTEND(readability-identifier-naming)
