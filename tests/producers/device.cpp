#include "tests/producers/device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "ptx/text/text.hpp"

namespace ptx::producers {
namespace {

// Free in every process, with sanitizers too: far above programs and below libraries and stacks.
constexpr std::uint64_t first_address = 0x2000'0000'0000;
constexpr std::size_t most_bytes = std::size_t{16} << 30;
constexpr std::size_t alignment = 512;

}  // namespace

std::span<std::byte> Allocation::memory() const { return {std::bit_cast<std::byte*>(address), bytes}; }

Expected<std::unique_ptr<Device>> Device::make() {
  void* const wanted = std::bit_cast<void*>(first_address);
  void* const got =
      mmap(wanted, most_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted) {
    if (got != MAP_FAILED) munmap(got, most_bytes);
    return refuse(Kind::out_of_memory, cat("the device's memory, ", most_bytes, " bytes at address ", first_address,
                                           ", is not to be had: another Device, or something else, is there"));
  }
  return std::unique_ptr<Device>(new Device({static_cast<std::byte*>(got), most_bytes}));
}

Device::~Device() { munmap(memory_.data(), memory_.size()); }

std::uint64_t Device::allocate(std::size_t bytes) {
  const std::size_t at = used_;
  if (bytes > memory_.size() - at - 2 * alignment) return 0;
  used_ = (at + bytes + 2 * alignment - 1) / alignment * alignment;  // never side by side
  const std::uint64_t address = first_address + at;
  allocations_.push_back({.address = address, .bytes = bytes, .name = cat("allocation_", allocations_.size())});
  return address;
}

Allocation* Device::find(std::uint64_t address) {
  for (Allocation& one : allocations_)
    if (address >= one.address && address - one.address < std::max<std::size_t>(one.bytes, 1)) return &one;
  return nullptr;
}

Expected<void> Device::load(const std::string& name, const std::string& text) {
  text::Parsed parsed = text::parse(text, name);
  for (const Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return Unexpected{finding};
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  auto instance = vgpu::Instance::make(*accepted);
  if (!instance) return Unexpected{std::move(instance).error()};
  modules_.emplace(name, Module{.accepted = std::move(*accepted), .instance = std::move(*instance), .programs = {}});
  return {};
}

const ir::Module* Device::module(const std::string& name) const {
  const auto found = modules_.find(name);
  return found == modules_.end() ? nullptr : &found->second.accepted.module();
}

const ir::Function* Device::entry(const std::string& module, std::string_view name) const {
  const ir::Module* const in = this->module(module);
  if (in == nullptr) return nullptr;
  const auto found = std::find_if(in->functions.begin(), in->functions.end(), [&](const ir::Function& function) {
    return function.is_entry && in->str(function.name) == name;
  });
  return found == in->functions.end() ? nullptr : &*found;
}

std::span<std::byte> Device::variable(const std::string& module, std::string_view name) const {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return {};
  return found->second.instance->variable(name).value_or(std::span<std::byte>());
}

Expected<void> Device::take(const Step& step) {
  if (const auto* const wanted = std::get_if<AllocateStep>(&step)) {
    if (allocate(wanted->bytes) == 0) return refuse(Kind::out_of_memory, "the device's memory is full");
    allocations_.back().name = wanted->name;
    return {};
  }
  if (const auto* const write = std::get_if<WriteStep>(&step)) {
    if (write->allocation >= allocations_.size() || allocations_[write->allocation].bytes != write->bytes.size())
      return refuse(Kind::syntax, cat("allocation ", write->allocation, " has not ", write->bytes.size(), " bytes"));
    Allocation& one = allocations_[write->allocation];
    std::memcpy(one.memory().data(), write->bytes.data(), write->bytes.size());
    one.initialised = true;
    return {};
  }
  if (const auto* const given = std::get_if<VariableStep>(&step)) {
    const auto bytes = variable(given->file, given->name);
    if (bytes.size() != given->bytes.size()) return refuse(Kind::syntax, cat("no variable ", given->name, " of that size"));
    std::memcpy(bytes.data(), given->bytes.data(), bytes.size());
    return {};
  }
  auto report = launch(std::get<LaunchStep>(step));
  if (!report) return Unexpected{std::move(report).error()};
  return {};
}

Expected<vgpu::Report> Device::launch(const LaunchStep& step) {
  const auto module = modules_.find(step.file);
  if (module == modules_.end()) return refuse(Kind::unknown_kernel, cat("no module `", step.file, "` is loaded"));
  auto& program = module->second.programs[step.entry];
  if (program == nullptr) {
    auto made = vgpu::Program::make(module->second.instance, nullptr, step.entry);
    if (!made) return Unexpected{std::move(made).error()};
    program = std::move(*made);
  }
  std::vector<vgpu::Region> regions;
  for (const Allocation& one : allocations_)
    if (one.bytes != 0)
      regions.push_back({.data = one.memory().data(), .bytes = one.bytes, .initialised = one.initialised, .name = one.name});
  const vgpu::LaunchConfig config{.grid = step.grid,
                                  .block = step.block,
                                  .dynamic_smem_bytes = step.shared_bytes,
                                  .cluster = step.cluster,
                                  .cooperative = step.cooperative};
  options.print = [this](std::string_view text) { printed += text; };
  options.checks = vgpu::Checks::full;
  auto report = program->run(config, step.params, regions, options);
  if (report) findings.insert(findings.end(), report->findings.begin(), report->findings.end());
  for (Allocation& one : allocations_) one.initialised = true;
  return report;
}

ParameterPlaces places_of_parameters(const ir::Function& entry) {
  ParameterPlaces places;
  for (const ir::Param& param : entry.params) {
    const std::size_t align = std::max<std::uint32_t>(param.alignment(), 1);
    places.offsets.push_back((places.bytes + align - 1) / align * align);
    places.bytes = places.offsets.back() + param.bytes();
  }
  return places;
}

}  // namespace ptx::producers
