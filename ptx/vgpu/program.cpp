#include <new>

#include "ptx/vgpu/code.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

struct Program::Code : vgpu::Code {};

Program::Program(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
Program::~Program() = default;

Expected<std::shared_ptr<const Program>> Program::make(const check::Accepted& accepted,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry) {
  auto instance = Instance::make(accepted);
  if (!instance) return Unexpected{std::move(instance).error()};
  return make(std::move(*instance), std::move(listing), entry);
}

Expected<std::shared_ptr<const Program>> Program::make(std::shared_ptr<const Instance> instance,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry) {
  try {
    auto code = decode(std::move(instance), std::move(listing), entry);
    if (!code) return Unexpected{std::move(code).error()};
    auto owned = std::make_unique<const Code>(Code{std::move(**code)});
    return std::shared_ptr<const Program>(new Program(std::move(owned)));
  } catch (const std::bad_alloc&) {
    return Unexpected{{.kind = Kind::out_of_memory,
                       .message = cat("kernel `", entry, "` is too large for this machine's memory to be decoded")}};
  }
}

Expected<Report> Program::run(const LaunchConfig& config, std::span<const std::byte> params, std::span<const Region> regions,
                              const Options& options) const {
  return run_grid(*code_, config, params, regions, options);
}

std::string_view Program::name() const { return code_->name; }
const std::shared_ptr<const Instance>& Program::instance() const { return code_->instance; }

}  // namespace ptx::vgpu
