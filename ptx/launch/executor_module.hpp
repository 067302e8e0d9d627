// A PTX text on the executor: read and checked once, each of its kernels decoded once; grid, block, shared memory, parameters and
// the memory behind them are a launch's own.
//     auto module = launch::ExecutorModule::make(text).value();
//     auto block = module->parameter_block("add", {bytes_of(x), bytes_of(y), bytes_of(n)}).value();
//     module->run("add", {.grid = {4, 1, 1}, .block = {128, 1, 1}}, block, regions);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/launch/host.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::launch {

/// Immutable but for what its kernels store into the module's variables, which all launches share. Thread-safe as
/// vgpu::Program is.
class ExecutorModule {
 public:
  /// `file` is how findings call the text. Kinds: those of text::parse and check::accept, out_of_memory.
  static Expected<std::shared_ptr<const ExecutorModule>> make(std::string text, std::string_view file = "<ptx>");
  ~ExecutorModule();
  ExecutorModule(const ExecutorModule&) = delete;
  ExecutorModule& operator=(const ExecutorModule&) = delete;

  [[nodiscard]] const std::string& text() const { return listing_->text; }
  [[nodiscard]] const ir::Module& module() const { return accepted_.module(); }
  /// The kernels' names, in the order of the text.
  [[nodiscard]] std::vector<std::string> entries() const;
  /// What parser and checker found short of an error.
  [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }

  struct Parameter {
    std::string name;
    Type type = Type::none;
    std::uint64_t bytes = 0, offset = 0;  ///< in the parameter block
    std::uint32_t alignment = 1;
    bool is_array = false;
  };
  /// Of a kernel, in its order. Kind unknown_kernel.
  [[nodiscard]] Expected<std::vector<Parameter>> parameters(std::string_view entry) const;
  /// The parameter block of these values, each as many bytes as its parameter. Kinds: unknown_kernel, argument_count,
  /// argument_kind.
  [[nodiscard]] Expected<std::vector<std::byte>> parameter_block(std::string_view entry,
                                                                 std::span<const std::span<const std::byte>> values) const;

  /// The kernel, decoded when it is asked for first. Kinds: those of vgpu::Program::make.
  [[nodiscard]] Expected<std::shared_ptr<const vgpu::Program>> kernel(std::string_view entry) const;
  /// Everything of it that the executor does not run, with its line; nothing runs. Kind unknown_kernel.
  [[nodiscard]] Expected<Diagnostics> find_unsupported(std::string_view entry) const;
  /// The bytes of a .global or .const variable, as launches read and leave them. Kind undefined_symbol.
  [[nodiscard]] Expected<std::span<std::byte>> variable(std::string_view name) const;

  /// Runs a grid to its end. Kinds: those of kernel() and of vgpu::Program::run, and bad_setting.
  [[nodiscard]] Expected<vgpu::Report> run(std::string_view entry, const vgpu::LaunchConfig& config,
                                           std::span<const std::byte> parameter_block, std::span<const vgpu::Region> regions,
                                           const Cpu& cpu = default_cpu()) const;

 private:
  ExecutorModule(check::Accepted accepted, std::shared_ptr<const ir::Listing> listing, std::shared_ptr<vgpu::Instance> instance,
                 Diagnostics warnings);
  [[nodiscard]] Expected<const ir::Function*> find(std::string_view entry) const;

  check::Accepted accepted_;
  std::shared_ptr<const ir::Listing> listing_;
  std::shared_ptr<vgpu::Instance> instance_;
  Diagnostics warnings_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, HostSide> kernels_;  // by name; a place in it stays
};

}  // namespace ptx::launch
