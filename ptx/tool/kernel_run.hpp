// What commands that run a kernel share: its file read and checked, its launch and its arguments from the command line.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/tool/kernel_arguments.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {

/// An option that is a number; `otherwise` where it was not given.
struct Number {
  std::uint64_t value = 0;
  std::string wrong;
};
Number number(const Arguments& arguments, std::string_view name, std::uint64_t otherwise);

/// What --grid, --block and --cluster say, where they are given. Kind launch_config.
Expected<void> read_sizes(const Arguments& arguments, vgpu::LaunchConfig& config);
/// How it runs: --numerics, --schedule and --completion, whose words have been looked at.
void read_manner(const Arguments& arguments, vgpu::Options& options);

/// What is said of an error in the text, or of a run: status 1.
Outcome failed(const Diagnostic& error, std::string_view source, const Caller& caller);

/// The kernel of that name, or the only one. Kind unknown_kernel.
Expected<std::size_t> find_entry(const ir::Module& module, std::string_view wanted);
/// What .reqntid says; ones where a function has none.
std::array<std::uint32_t, 3> required_block(const ir::Function& entry);

/// A kernel of a file, read, checked and decoded, and what its parameters are given.
struct LoadedKernel {
  std::string file, name;
  std::string source;  ///< the file's text
  check::Accepted accepted;
  std::size_t entry = 0;                      ///< of the module's functions
  std::shared_ptr<vgpu::Instance> variables;  ///< of the module
  std::shared_ptr<const vgpu::Program> program;
  KernelArguments given;
  [[nodiscard]] const ir::Module& module() const { return accepted.module(); }
  [[nodiscard]] const ir::Function& function() const { return module().functions[entry]; }
};
struct Loading {
  std::optional<LoadedKernel> kernel;  ///< nothing: `failure`
  Outcome failure = {};
};
/// By the file and the options --entry and --arg.
Loading load_kernel(const Arguments& arguments, const Caller& caller);

/// A kernel that is about to run.
struct KernelRun {
  LoadedKernel kernel;
  vgpu::LaunchConfig config;
  vgpu::Options options;
};
struct PreparedRun {
  std::optional<KernelRun> run;  ///< nothing: `failure`
  Outcome failure = {};
};
/// By the options of `debug`.
PreparedRun prepare_run(const Arguments& arguments, const Caller& caller);

}  // namespace ptx::tool
