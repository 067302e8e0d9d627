#include "ptx/launch/executor_module.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ptx/ir/ir.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {

ExecutorModule::ExecutorModule(check::Accepted accepted, std::shared_ptr<const ir::Listing> listing,
                               std::shared_ptr<vgpu::Instance> instance, Diagnostics warnings)
    : accepted_(std::move(accepted)),
      listing_(std::move(listing)),
      instance_(std::move(instance)),
      warnings_(std::move(warnings)) {}
ExecutorModule::~ExecutorModule() = default;

Expected<std::shared_ptr<const ExecutorModule>> ExecutorModule::make(std::string text, std::string_view file) {
  auto listing = std::make_shared<ir::Listing>();
  listing->text = text;
  text::Parsed parsed = text::parse(std::move(text), file);
  Diagnostics warnings;
  for (Diagnostic& finding : parsed.findings) {
    if (finding.severity == Severity::error) return Unexpected{std::move(finding)};
    warnings.push_back(std::move(finding));
  }
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  warnings.insert(warnings.end(), accepted->warnings().begin(), accepted->warnings().end());
  for (const ir::Function& function : accepted->module().functions) {
    std::vector<std::uint32_t>& lines = listing->line_of.emplace_back();
    lines.reserve(function.body.size());
    for (const ir::Inst& item : function.body) lines.push_back(accepted->module().where(item).line);
  }
  auto instance = vgpu::Instance::make(*accepted);
  if (!instance) return Unexpected{std::move(instance).error()};
  return std::shared_ptr<const ExecutorModule>(
      new ExecutorModule(std::move(*accepted), std::move(listing), std::move(*instance), std::move(warnings)));
}

std::vector<std::string> ExecutorModule::entries() const {
  std::vector<std::string> names;
  for (const ir::Function& function : module().functions)
    if (function.is_entry) names.emplace_back(module().str(function.name));
  return names;
}

Expected<const ir::Function*> ExecutorModule::find(std::string_view entry) const {
  const ir::Function* function = module().find(entry);
  if (function != nullptr && function->is_entry) return function;
  Diagnostic unknown{.kind = Kind::unknown_kernel, .message = cat("the text has no kernel `", entry, '`')};
  if (const std::vector<std::string> names = entries(); !names.empty()) unknown.hint(cat("it has ", list_choices(names)));
  return Unexpected{std::move(unknown)};
}

Expected<std::vector<ExecutorModule::Parameter>> ExecutorModule::parameters(std::string_view entry) const {
  const auto function = find(entry);
  if (!function) return Unexpected{function.error()};
  std::vector<Parameter> all;
  const std::vector<std::uint64_t> offsets = ir::param_offsets((*function)->params);
  for (const ir::Param& param : (*function)->params)
    all.push_back({.name = std::string(module().str(param.name)),
                   .type = param.type,
                   .bytes = param.bytes(),
                   .offset = offsets[all.size()],
                   .alignment = param.alignment(),
                   .is_array = param.elements.has_value() || param.vector != 1});
  return all;
}

Expected<std::vector<std::byte>> ExecutorModule::parameter_block(std::string_view entry,
                                                                 std::span<const std::span<const std::byte>> values) const {
  const auto function = find(entry);
  if (!function) return Unexpected{function.error()};
  const std::vector<ir::Param>& params = (*function)->params;
  if (values.size() != params.size())
    return refuse(Kind::argument_count,
                  cat("kernel `", entry, "` takes ", params.size(), params.size() == 1 ? " parameter, " : " parameters, ",
                      values.size(), values.size() == 1 ? " was given" : " were given"));
  const std::vector<std::uint64_t> offsets = ir::param_offsets(params);
  std::vector<std::byte> block(offsets.back());
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (values[i].size() != params[i].bytes())
      return refuse(Kind::argument_kind, cat("parameter `", module().str(params[i].name), "` of kernel `", entry, "` has ",
                                             params[i].bytes(), " bytes, ", values[i].size(), " were given"));
    std::copy(values[i].begin(), values[i].end(), block.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
  }
  return block;
}

Expected<std::shared_ptr<const vgpu::Program>> ExecutorModule::kernel(std::string_view entry) const {
  if (const auto function = find(entry); !function) return Unexpected{function.error()};
  HostSide* side = nullptr;
  {
    const std::lock_guard lock(mutex_);
    side = &kernels_[std::string(entry)];
  }
  return side->program([&] { return vgpu::Program::make(instance_, listing_, entry); });
}

Expected<Diagnostics> ExecutorModule::find_unsupported(std::string_view entry) const {
  if (const auto function = find(entry); !function) return Unexpected{function.error()};
  return vgpu::Program::find_unsupported(instance_, listing_, entry);
}

Expected<std::span<std::byte>> ExecutorModule::variable(std::string_view name) const {
  if (const auto bytes = instance_->variable(name)) return *bytes;
  return refuse(Kind::undefined_symbol, cat("the text has no .global or .const variable `", name, '`'));
}

Expected<vgpu::Report> ExecutorModule::run(std::string_view entry, const vgpu::LaunchConfig& config,
                                           std::span<const std::byte> parameter_block, std::span<const vgpu::Region> regions,
                                           const Cpu& cpu) const {
  auto decoded = kernel(entry);
  if (!decoded) return Unexpected{std::move(decoded).error()};
  return run_on(cpu, **decoded, config, parameter_block, regions);
}

}  // namespace ptx::launch
