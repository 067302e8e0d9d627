// What an image is to the executor.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "ptx/base/base.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::launch {

struct Cpu;

/// Runs a decoded kernel, attended where `cpu` says so. Kinds: those of vgpu::Program::run, and bad_setting.
Expected<vgpu::Report> run_on(const Cpu& cpu, const vgpu::Program& program, const vgpu::LaunchConfig& config,
                              std::span<const std::byte> params, std::span<const vgpu::Region> regions);

/// The decoded kernel, made once, when it is asked for first. Any thread may ask.
class HostSide {
 public:
  using Program = Expected<std::shared_ptr<const vgpu::Program>>;
  template <class Decode>
  [[nodiscard]] Program program(Decode decode) {
    std::call_once(decoded_, [&] { program_.emplace(decode()); });
    return *program_;
  }

 private:
  std::once_flag decoded_;
  std::optional<Program> program_;
};

}  // namespace ptx::launch
