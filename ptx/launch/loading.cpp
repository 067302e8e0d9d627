#include "ptx/launch/loading.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

/// Whether this process has not been told of it before. A kernel is compiled for one set of shapes after the other, and what its
/// instructions make ptxas serialise or ignore it says each time, of the same line.
bool is_news(const std::string& kernel, const Diagnostic& warning) {
  if (warning.kind != Kind::wgmma_pipeline && warning.kind != Kind::setmaxnreg_ignored) return true;
  static std::mutex mutex;
  static auto& told = *new std::set<std::string>;  // never destroyed: threads may outlive our statics
  const std::lock_guard lock(mutex);
  return told
      .insert(warning.where.known()
                  ? cat(kernel, '\0', static_cast<int>(warning.kind), '\0', warning.where.file, '\0', warning.where.line)
                  : cat(kernel, '\0', warning.message))
      .second;
}

}  // namespace

std::vector<SourceLocation> places_of(const ir::Module& module, const ir::Listing& listing) {
  std::vector<SourceLocation> places;
  for (std::size_t f = 0; f < listing.line_of.size() && f < module.functions.size(); ++f) {
    const std::vector<std::uint32_t>& lines = listing.line_of[f];
    for (std::size_t item = 0; item < lines.size(); ++item) {
      if (lines[item] >= places.size()) places.resize(std::size_t{lines[item]} + 1);
      places[lines[item]] = module.where(module.functions[f].body[item]);
    }
  }
  return places;
}

CompilerText CompilerText::of(const check::Accepted& accepted) {
  ir::Listing listing = text::list(accepted.module(), text::SourceLines::loc);
  auto places = std::make_shared<const std::vector<SourceLocation>>(places_of(accepted.module(), listing));
  return {.text = std::move(listing.text),
          .where = [places](std::uint32_t line) { return line < places->size() ? (*places)[line] : SourceLocation{}; }};
}

Expected<cuda::CompiledCode> compile_for(const CompilerText& text, const std::string& entry, const std::string& target,
                                         const cuda::CompileSettings& settings, int driver_version) {
  auto own = cuda::target_of(text.text);
  if (!own) return Unexpected{std::move(own).error()};
  auto wanted = cuda::parse_target(target);
  if (!wanted) return Unexpected{std::move(wanted).error()};
  if (!cuda::runs_on(*own, wanted->capability)) {
    return Unexpected{
        {.kind = Kind::wrong_device,
         .message = cat("kernel `", entry, "` is PTX for `", to_string(*own), "`, which cannot be compiled for `", target, '`')}};
  }
  return cuda::compile(
      {.text = text.text, .entry = entry, .target = target, .where = text.where, .driver_version = driver_version}, settings);
}

cuda::LoadedKernel* DeviceCode::find(const cuda::Device& gpu) const {
  const auto at = loaded_.find(gpu.capability());
  return at != loaded_.end() ? at->second.get() : nullptr;
}

const cuda::Cubin* DeviceCode::ready_for(const cuda::Device& gpu, const std::string& target) const {
  const cuda::Cubin* best = nullptr;
  cuda::ComputeCapability most{};
  for (const cuda::Cubin& cubin : ready_) {
    if (cubin.target == target) return &cubin;
    const auto made_for = cuda::parse_target(cubin.target);
    if (!made_for || !cuda::runs_on(*made_for, gpu.capability(), cuda::ImageKind::cubin)) continue;
    if (best == nullptr || made_for->capability > most) {
      best = &cubin;
      most = made_for->capability;
    }
  }
  return best;
}

Expected<cuda::LoadedKernel*> DeviceCode::load(const cuda::Device& gpu, const Image& image, const CompilerText& text) {
  auto own = cuda::target_of(text.text);
  if (!own) return Unexpected{std::move(own).error()};
  if (auto fits = cuda::check_target(*own, gpu, cuda::ImageKind::text, image.entry); !fits)
    return Unexpected{std::move(fits).error()};
  auto settings = cuda::CompileSettings::from_environment();
  if (!settings) return Unexpected{std::move(settings).error()};

  cuda::KernelSource source{.entry = image.entry,
                            .dynamic_smem_bytes = image.dynamic_smem_bytes,
                            .non_portable_cluster = image.non_portable_cluster,
                            .param_bytes = image.param_bytes};
  Diagnostics warnings;
  const std::string target = cuda::assembly_target(*own, gpu.capability());
  if (const cuda::Cubin* ready = ready_for(gpu, target); ready != nullptr && settings->jit != cuda::Jit::driver) {
    warnings =  // Its lines are of the text that was compiled then, with other places in it.
        cuda::performance_warnings(cuda::parse_ptxas_log(ready->log, {}), image.entry, {}, {});
    if (auto ok = cuda::check_strict(warnings, settings->strict); !ok) return Unexpected{std::move(ok).error()};
    source.image = ready->bytes;
    source.target = ready->target;
  } else {
    auto code = compile_for(text, image.entry, target, *settings, gpu.driver().version());
    if (!code) return Unexpected{std::move(code).error()};
    warnings = std::move(code->warnings);
    source.image = std::move(code->cubin);
    source.target = target;
    source.no_cubin = std::move(code->no_cubin);
  }
  const bool from_cubin = !source.image.empty();
  cuda::KernelSource as_text = source;
  as_text.image = text.text;
  auto kernel = cuda::LoadedKernel::make(gpu.driver(), from_cubin ? std::move(source) : as_text);
  if (!kernel) return Unexpected{std::move(kernel).error()};
  // A driver may be too old for a new ptxas's code, and still compile the text.
  if (from_cubin && settings->jit == cuda::Jit::automatic && !settings->no_compile) {
    if (auto function = (*kernel)->prepare(gpu); !function && function.error().kind == Kind::compile_error) {
      as_text.no_cubin = function.error();
      auto by_driver = cuda::LoadedKernel::make(gpu.driver(), std::move(as_text));
      if (by_driver && (*by_driver)->prepare(gpu)) {
        warnings.push_back({.kind = Kind::compiler_warning,
                            .severity = Severity::warning,
                            .message = cat("kernel `", image.entry, "` is compiled by the driver, since it does not load what ",
                                           "ptxas made: ", function.error().message)});
        kernel = std::move(by_driver);
      }
    }
  }
  warn(image.entry, std::move(warnings));
  return loaded_.insert_or_assign(gpu.capability(), std::move(*kernel)).first->second.get();
}

void DeviceCode::warn(const std::string& kernel, Diagnostics warnings) {
  for (Diagnostic& warning : warnings) {
    if (std::find(warned_.begin(), warned_.end(), warning.message) != warned_.end()) continue;
    if (!is_news(kernel, warning)) continue;
    warned_.push_back(warning.message);
    warnings_.push_back(std::move(warning));
  }
}

std::vector<std::unique_ptr<cuda::LoadedKernel>> DeviceCode::release() {
  std::vector<std::unique_ptr<cuda::LoadedKernel>> kernels;
  for (auto& [capability, kernel] : loaded_) kernels.push_back(std::move(kernel));
  loaded_.clear();
  return kernels;
}

}  // namespace ptx::launch
