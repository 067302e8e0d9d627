#include "ptx/launch/run.hpp"

#include <algorithm>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/archive.hpp"
#include "ptx/launch/inspect.hpp"
#include "ptx/launch/sized.hpp"
#include "ptx/text/text.hpp"

namespace ptx {
namespace {

/// The only kernel, or that of the name; none: null.
const ir::Function* find_entry(const ir::Module& module, std::string_view name) {
  const auto wanted = [&](const ir::Function& function) {
    return function.is_entry && (name.empty() || module.str(function.name) == name);
  };
  const auto at = std::find_if(module.functions.begin(), module.functions.end(), wanted);
  return at != module.functions.end() ? &*at : nullptr;
}

Expected<void> require_one_kernel(const ir::Module& module) {
  const auto is_entry = [](const ir::Function& function) { return function.is_entry; };
  const auto entries = std::count_if(module.functions.begin(), module.functions.end(), is_entry);
  if (entries == 1) return {};
  return Unexpected{
      {.kind = Kind::unknown_kernel, .message = cat("a module with ", entries, " kernels; one is needed to compile it")}};
}

}  // namespace

Expected<Compiled> Compiled::make(ir::Module module, std::string_view entry, const CompileOptions& options,
                                  Diagnostics warnings) {
  const std::string name(module.str(find_entry(module, entry)->name));
  auto accepted = check::accept(std::move(module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  warnings.insert(warnings.end(), accepted->warnings().begin(), accepted->warnings().end());
  auto kernel = launch::SizedKernel::make(std::move(*accepted), name, options);
  if (!kernel) return Unexpected{std::move(kernel).error()};
  launch::warn(warnings);
  auto image = (*kernel)->only_image();
  return Compiled(std::move(*kernel), std::move(image), std::make_shared<const Diagnostics>(std::move(warnings)));
}

Expected<Compiled> compile(ir::Module module, const CompileOptions& options) {
  if (auto one = require_one_kernel(module); !one) return Unexpected{std::move(one).error()};
  return Compiled::make(std::move(module), {}, options, {});
}

Expected<Compiled> from_ptx(std::string_view text, std::string_view entry, const CompileOptions& options) {
  text::Parsed parsed = text::parse(std::string(text), entry.empty() ? std::string("kernel.ptx") : cat(entry, ".ptx"));
  for (Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return Unexpected{std::move(finding)};
  if (entry.empty()) {
    if (auto one = require_one_kernel(parsed.module); !one) return Unexpected{std::move(one).error()};
  } else if (find_entry(parsed.module, entry) == nullptr) {
    return Unexpected{{.kind = Kind::unknown_kernel, .message = cat("the text has no kernel `", entry, '`')}};
  }
  return Compiled::make(std::move(parsed.module), entry, options, std::move(parsed.findings));
}

Expected<Compiled> load(const std::string& path) {
  auto saved = launch::load_saved(path);
  if (!saved) return Unexpected{std::move(saved).error()};
  auto image = saved->image;
  auto kernel = launch::SizedKernel::of_image(std::move(saved->image), std::move(saved->tiles), std::move(saved->scalar_types));
  if (!kernel) return Unexpected{std::move(kernel).error()};
  return Compiled(std::move(*kernel), std::move(image), std::make_shared<const Diagnostics>());
}

const std::string& Compiled::ptx() const {
  const ir::Listing* const listing = kernel_->listing();
  return listing != nullptr ? listing->text : image_->text();
}

launch::CompilerText Compiled::compiler_text() const {
  return kernel_->accepted() != nullptr ? launch::CompilerText::of(*kernel_->accepted()) : image_->compiler_text();
}
std::string Compiled::ptx_with_lines() const { return compiler_text().text; }
Expected<std::string> Compiled::sass() const { return launch::sass(compiler_text()); }
Expected<launch::Resources> Compiled::resources() const { return launch::resources(compiler_text(), kernel_->name()); }

const std::vector<std::string>& Compiled::dims() const {
  static const std::vector<std::string> none;
  return sizes_ ? none : kernel_->dims();
}

Expected<void> Compiled::require_sizes() const {
  if (image_ != nullptr) return {};
  return Unexpected{Diagnostic{.kind = Kind::dim_unbound,
                               .message = cat("dimension `", dims().front(), "` of kernel `", kernel_->name(), "` has no size")}
                        .hint(cat("give it by name: `kernel.at({{\"", dims().front(), "\", 1024}})`"))};
}

const launch::KernelImage& Compiled::image() const {
  require_sizes().value();
  return *image_;
}

Expected<Compiled> Compiled::at(const Sizes& sizes) const {
  for (const auto& [name, size] : sizes) {
    if (std::find(dims().begin(), dims().end(), name) != dims().end()) continue;
    std::string known;
    for (const std::string& dim : dims()) known += cat(known.empty() ? "" : ", ", '`', dim, '`');
    return Unexpected{{.kind = Kind::argument_kind,
                       .message = cat("kernel `", kernel_->name(), "` has no open dimension `", name, "`; it has ",
                                      known.empty() ? "none" : known)}};
  }
  if (dims().empty()) return *this;
  auto image = kernel_->image(sizes);
  if (!image) return Unexpected{std::move(image).error()};
  if (!scalars_.empty()) {
    image = (*image)->with_scalars(scalars_);
    if (!image) return Unexpected{std::move(image).error()};
  }
  Compiled fixed = *this;
  fixed.image_ = std::move(*image);
  fixed.sizes_ = sizes;
  return fixed;
}

Expected<Compiled> Compiled::with_scalars(const std::vector<launch::Scalar>& values) const {
  auto packed = kernel_->pack(values);
  if (!packed) return Unexpected{std::move(packed).error()};
  Compiled other = *this;
  other.scalars_ = std::move(*packed);
  if (image_ == nullptr || other.scalars_.empty()) return other;
  auto image = image_->with_scalars(other.scalars_);
  if (!image) return Unexpected{std::move(image).error()};
  other.image_ = std::move(*image);
  return other;
}

Expected<void> Compiled::prepare(int ordinal) const {
  if (auto ok = require_sizes(); !ok) return ok;
  auto ready = image_->prepare(ordinal);
  launch::warn(image_->take_load_warnings());
  return ready;
}

Expected<void> Compiled::run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs, SourceLocation at) const {
  return placed(kernel_->run(place, inputs, outputs, scalars_, sizes_ ? &*sizes_ : nullptr), at);
}

Expected<std::span<std::byte>> Compiled::variable(std::string_view name) const {
  if (auto ok = require_sizes(); !ok) return Unexpected{std::move(ok).error()};
  return image_->variable(name);
}

Expected<Diagnostics> Compiled::save(const std::string& path, std::optional<std::vector<std::string>> targets) const {
  if (auto ok = require_sizes(); !ok) return Unexpected{std::move(ok).error()};
  auto tiles = sizes_ ? kernel_->tiles(*sizes_) : kernel_->tiles();
  if (!tiles) return Unexpected{std::move(tiles).error()};
  return launch::save(path, *image_,
                      {.targets = std::move(targets), .tiles = std::move(*tiles), .scalar_types = kernel_->scalar_types()});
}

}  // namespace ptx
