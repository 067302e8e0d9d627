// A device for programs of nvcc: modules, memory at addresses that are the same in every process, launches. The executor runs
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/vgpu/vgpu.hpp"
#include "tests/producers/recording.hpp"

namespace ptx::producers {

struct Allocation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  bool initialised = false;  ///< the host wrote to it, or a launch may have
  std::string name;          ///< what the program calls it
  [[nodiscard]] std::span<std::byte> memory() const;
};

/// One at a time in a process: its memory lies at fixed addresses, so that recorded parameters and tensor maps stay true.
class Device {
 public:
  /// Kinds: out_of_memory, where the addresses are taken.
  static Expected<std::unique_ptr<Device>> make();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Memory that nobody has written, aligned to 512 bytes and apart from all other.
  std::uint64_t allocate(std::size_t bytes);
  /// Where an address lies; null where nothing was allocated.
  Allocation* find(std::uint64_t address);
  std::vector<Allocation>& allocations() { return allocations_; }

  /// Reads, checks and loads a module. Kinds: those of the parser and of check::accept.
  Expected<void> load(const std::string& name, const std::string& text);
  [[nodiscard]] bool has(const std::string& module) const { return modules_.contains(module); }
  /// The module and entry as it declares itself; null for one that is not there.
  [[nodiscard]] const ir::Module* module(const std::string& name) const;
  [[nodiscard]] const ir::Function* entry(const std::string& module, std::string_view name) const;
  /// The bytes of a module's variable; none when it has none of that name.
  [[nodiscard]] std::span<std::byte> variable(const std::string& module, std::string_view name) const;

  /// Takes a step of a recording other than the loading of a module, whose text is its caller's to read. Kinds: out_of_memory;
  /// syntax, where the recording contradicts itself; those of launch().
  Expected<void> take(const Step& step);
  /// Runs a kernel to its end. Kinds: those of vgpu::Program.
  Expected<vgpu::Report> launch(const LaunchStep& step);
  /// Of its launches, which have all checks; what kernels print goes to `printed`.
  vgpu::Options options;
  /// What kernels have printed.
  std::string printed;
  /// What checks of the runs have found.
  Diagnostics findings;

 private:
  struct Module {
    check::Accepted accepted;
    std::shared_ptr<vgpu::Instance> instance;
    std::map<std::string, std::shared_ptr<const vgpu::Program>, std::less<>> programs;
  };
  explicit Device(std::span<std::byte> memory) : memory_(memory) {}

  std::span<std::byte> memory_;
  std::size_t used_ = 0;
  std::vector<Allocation> allocations_;
  std::map<std::string, Module, std::less<>> modules_;
};

/// Where each parameter of an entry lies in its block, as the driver lays it out, and the block's bytes.
struct ParameterPlaces {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};
ParameterPlaces places_of_parameters(const ir::Function& entry);

}  // namespace ptx::producers
