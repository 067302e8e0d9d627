// The variables of a module: where they lie, and what they start with.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "ptx/vgpu/decode/calls.hpp"
#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/memory/heap.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {
namespace {

using ir::InitKind;

// Executed code cannot be read or called by its address: the addresses of functions lie where nobody has memory.
constexpr std::uint64_t function_window = 0xF400'0000'0000'0000;
constexpr std::uint64_t function_bytes = 16;

void write_low_bytes(std::span<std::byte> out, std::uint64_t value) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i < sizeof value ? static_cast<std::byte>(value >> 8 * i) : std::byte{0};
}

// A floating-point number of either width as the bits of a type.
std::uint64_t floating_bits(const ir::Init& init, Type type) {
  const bool wide = init.width == 64;
  if (isa::bits(type) == 64)
    return wide ? init.value
                : std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(init.value))));
  return wide ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(init.value))) : init.value;
}

// Writes an initialiser's elements where they belong; what it does not mention stays as it is. check has seen that the braces go
// with the dimensions; an initialiser that reaches beyond the variable writes nothing there.
class Initialiser {
 public:
  Initialiser(const ir::Variable& v, std::span<std::byte> memory) : memory_(memory), scalar_(v.scalar_bytes()) {
    if (v.elements || v.unsized) strides_.push_back(v.scalars_of_element());
    for (std::size_t i = 0; i < v.inner.size(); ++i) {
      std::uint64_t stride = v.vector;
      for (std::size_t k = i + 1; k < v.inner.size(); ++k) stride = multiply_sizes(stride, v.inner[k]);
      strides_.push_back(stride);
    }
    if (v.vector > 1) strides_.push_back(1);
  }

  template <class Bits>
  void write(std::span<const ir::Init> elements, Bits bits) {
    for (const ir::Init& element : elements) {
      if (element.kind == InitKind::close) {
        if (!at_.empty()) at_.pop_back();
        continue;
      }
      const std::uint64_t place = next();
      if (element.kind == InitKind::open)
        at_.push_back({place, 0});
      else if (const std::uint64_t begin = multiply_sizes(place, scalar_);
               scalar_ <= memory_.size() && begin <= memory_.size() - scalar_)
        write_low_bytes(memory_.subspan(begin, scalar_), bits(element));
    }
  }

 private:
  struct List {
    std::uint64_t begin;  // scalar that it starts at
    std::uint64_t count;  // elements that it has had
  };
  // Where the next element of the innermost list begins.
  std::uint64_t next() {
    if (at_.empty()) return 0;
    List& list = at_.back();
    const std::uint64_t stride = at_.size() <= strides_.size() ? strides_[at_.size() - 1] : 1;
    return add_sizes(list.begin, multiply_sizes(list.count++, stride));
  }

  std::span<std::byte> memory_;
  std::uint64_t scalar_;
  std::vector<std::uint64_t> strides_;  // scalars from one element to the next, of the outermost list first
  std::vector<List> at_;
};

Unexpected too_much(const ir::Module& module, const ir::Variable& v) {
  return Unexpected{{.kind = Kind::out_of_memory,
                     .message = cat("the .", ir::name(v.space), " variable `", module.str(v.name), "` takes ", v.bytes(),
                                    " bytes, which this machine cannot provide"),
                     .where = module.where(v.where)}};
}

}  // namespace

// Zeros that cost nothing until they are touched.
class Instance::Block {
 public:
  Block() = default;
  Block(std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t whole = add_sizes(bytes, alignment);
    if (whole > host_memory()) return;
    memory_.reset(static_cast<std::byte*>(std::calloc(1, whole)));  // NOLINT: a vector would touch every page
    if (!memory_) return;
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    bytes_ = {memory_.get() + (align_size(address, alignment) - address), static_cast<std::size_t>(bytes)};
  }
  [[nodiscard]] explicit operator bool() const { return memory_ != nullptr; }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }  // NOLINT: of calloc
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::span<std::byte> bytes_;
};

Instance::Instance(const check::Accepted& accepted) : accepted_(accepted), module_(accepted.share()) {}
Instance::~Instance() = default;

Expected<std::shared_ptr<Instance>> Instance::make(const check::Accepted& accepted) {
  std::shared_ptr<Instance> instance(new Instance(accepted));
  const ir::Module& module = *instance->module_;
  const auto place = [&](const std::vector<ir::Variable>& variables, std::vector<Block>& blocks) -> Expected<void> {
    blocks.resize(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const ir::Variable& v = variables[i];
      if (v.space != ir::StateSpace::global && v.space != ir::StateSpace::const_) continue;
      // A declaration beside its definition is the same variable; alone, as ptxas says, it is one of its own.
      if (&variables == &module.variables && instance->definition(v.name) != i) continue;
      if (!(blocks[i] = Block(v.bytes(), v.alignment()))) return too_much(module, v);
      instance->regions_.push_back({.data = blocks[i].bytes().data(),
                                    .bytes = blocks[i].bytes().size(),
                                    .writable = v.space == ir::StateSpace::global,
                                    .initialised = true,
                                    .name = std::string(module.str(v.name))});
    }
    return {};
  };
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    const ir::Variable& v = module.variables[i];
    const auto [known, is_new] = instance->by_name_.try_emplace(v.name, i);
    if (!is_new && module.variables[known->second].linkage == ir::Linkage::extern_) known->second = i;
  }
  if (auto placed = place(module.variables, instance->of_module_); !placed) return Unexpected{std::move(placed).error()};
  instance->of_functions_.resize(module.functions.size());
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    auto placed = place(module.functions[f].variables, instance->of_functions_[f]);
    if (!placed) return Unexpected{std::move(placed).error()};
  }
  const auto asks = [&](const ir::Function& f) { return !f.has_body && module.str(f.name) == "malloc"; };
  if (std::any_of(module.functions.begin(), module.functions.end(), asks)) {
    instance->heap_ = Heap::make();
    if (instance->heap_ == nullptr)
      return Unexpected{
          {.kind = Kind::out_of_memory,
           .message = cat("the heap of malloc() takes ", Heap::bytes, " bytes, which this machine cannot provide")}};
    instance->regions_.push_back(instance->heap_->region());
  }
  instance->reset();
  return instance;
}

std::size_t Instance::definition(ir::StringId name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? module_->variables.size() : found->second;
}

// The address that a name in an initialiser stands for. Initialisers name things of the module, or of the function that they are
// in.
std::uint64_t Instance::address_of(ir::StringId name, std::span<const ir::Variable> local, std::span<const Block> blocks) const {
  const auto address = [](const Block& block) { return reinterpret_cast<std::uintptr_t>(block.bytes().data()); };
  for (std::size_t i = 0; i < local.size(); ++i)
    if (local[i].name == name && blocks[i]) return address(blocks[i]);
  if (const std::size_t i = definition(name); i < of_module_.size() && of_module_[i]) return address(of_module_[i]);
  return function_address(*module_, name);
}

std::uint64_t function_address(const ir::Module& module, ir::StringId name) {
  const auto found =
      std::find_if(module.functions.begin(), module.functions.end(), [&](const ir::Function& f) { return f.name == name; });
  return found == module.functions.end()
             ? 0
             : function_window + static_cast<std::uint64_t>(found - module.functions.begin() + 1) * function_bytes;
}

void Instance::reset() {
  const auto initialise = [&](const std::vector<ir::Variable>& variables, const std::vector<Block>& blocks, bool local) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!blocks[i]) continue;
      const ir::Variable& v = variables[i];
      const std::span<std::byte> memory = blocks[i].bytes();
      if (was_initialised_) std::fill(memory.begin(), memory.end(), std::byte{0});
      const auto here = local ? std::span<const ir::Variable>(variables) : std::span<const ir::Variable>();
      Initialiser(v, memory).write(v.initialiser, [&](const ir::Init& init) -> std::uint64_t {
        if (init.kind == InitKind::integer) return init.value;
        if (init.kind == InitKind::floating) return floating_bits(init, v.type);
        if (init.kind != InitKind::symbol && init.kind != InitKind::generic) return 0;
        const std::uint64_t address = address_of(init.symbol, here, blocks) + init.value;
        return init.mask_byte == 0 ? address : address >> 8 * (init.mask_byte - 1) & 0xFF;
      });
    }
  };
  initialise(module_->variables, of_module_, false);
  for (std::size_t f = 0; f < of_functions_.size(); ++f) initialise(module_->functions[f].variables, of_functions_[f], true);
  was_initialised_ = true;
}

std::optional<std::span<std::byte>> Instance::variable(std::string_view name) const {
  const std::size_t i = definition(module_->interned(name));
  if (i >= of_module_.size() || !of_module_[i]) return std::nullopt;
  return of_module_[i].bytes();
}

std::span<std::byte> Instance::memory(const ir::Function* function, std::size_t variable) const {
  if (function == nullptr) {
    const std::size_t i = definition(module_->variables[variable].name);
    return i < of_module_.size() ? of_module_[i].bytes() : std::span<std::byte>();
  }
  return of_functions_[static_cast<std::size_t>(function - module_->functions.data())][variable].bytes();
}

}  // namespace ptx::vgpu
