#include "ptx/vgpu/code.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

struct Program::Code : vgpu::Code {};

Program::Program(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
Program::~Program() = default;

Expected<std::shared_ptr<const Program>> Program::make(const check::Accepted& accepted,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry) {
  auto code = decode(accepted.share(), std::move(listing), entry);
  if (!code) return Unexpected{std::move(code).error()};
  auto owned = std::make_unique<const Code>(Code{std::move(**code)});
  return std::shared_ptr<const Program>(new Program(std::move(owned)));
}

Expected<Report> Program::run(const LaunchConfig& config, std::span<const std::byte> params, std::span<const Region> regions,
                              const Options& options) const {
  return run_grid(*code_, config, params, regions, options);
}

std::string_view Program::name() const { return code_->name; }

}  // namespace ptx::vgpu
