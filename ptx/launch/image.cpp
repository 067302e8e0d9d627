#include "ptx/launch/image.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "ptx/check/check.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/content.hpp"
#include "ptx/launch/properties.hpp"
#include "ptx/launch/ready.hpp"

namespace ptx::launch {
namespace {

/// A name that stays for good: for what is said when the kernel may be gone.
const char* kept_name(const std::string& name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

/// What each tensor needs of its address, by what the parameters that pass them need; empty: nothing.
std::vector<Alignment> tensor_alignments(const check::Accepted& accepted, const ir::Function& entry, const LaunchSpec& spec) {
  std::vector<Alignment> by_tensor;
  const std::vector<Alignment> needed = alignments(accepted.module(), entry);
  for (std::size_t i = 0; i < spec.params.size(); ++i) {
    const Param& param = spec.params[i];
    if (param.kind != Param::Kind::pointer || needed[i].bytes == 1) continue;
    by_tensor.resize(std::size_t{spec.inputs} + spec.outputs);
    by_tensor[param.arg] = needed[i];
  }
  return by_tensor;
}

/// Whether two launches of a text are the same to its code, and pass the same parameters.
bool have_one_content(const LaunchSpec& a, const LaunchSpec& b) {
  const auto passes_alike = [](const Param& one, const Param& other) {
    return one.kind == other.kind && one.arg == other.arg && one.size_bytes == other.size_bytes &&
           one.align_bytes == other.align_bytes;
  };
  return a.entry == b.entry && a.inputs == b.inputs && a.outputs == b.outputs && a.geometry.cluster == b.geometry.cluster &&
         a.geometry.dynamic_smem_bytes == b.geometry.dynamic_smem_bytes &&
         std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(), passes_alike);
}

}  // namespace

KernelImage::Content::Content(std::shared_ptr<const ir::Listing> text, const LaunchSpec& spec, std::vector<cuda::Cubin> cubins)
    : listing(std::move(text)),
      name(kept_name(spec.entry)),
      param_offsets(spec.offsets()),
      code(std::make_shared<SharedCode>(std::move(cubins))) {
  hash.add(listing->text);
  for (std::uint32_t i = 0; i < spec.inputs + spec.outputs; ++i)
    tensor_names.push_back(i < spec.inputs ? cat("input ", i) : cat("output ", i - spec.inputs));
}

std::int64_t KernelImage::handle_of(const Digest& key) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{key[i]} << 8 * i;
  return static_cast<std::int64_t>(value & 0x7FFF'FFFF'FFFF'FFFF);
}

KernelImage::KernelImage(std::shared_ptr<Content> content, std::shared_ptr<DeviceSide> device, LaunchSpec spec)
    : content_(std::move(content)), device_(std::move(device)), spec_(std::move(spec)), meta_(spec_.serialise()) {
  if (device_ == nullptr) device_ = std::make_shared<DeviceSide>(content_->code);
  passes_values_ = std::any_of(spec_.params.begin(), spec_.params.end(),
                               [](const Param& param) { return param.kind == Param::Kind::tensor_map_value; });
  key_ = Sha256(content_->hash).add(meta_).finish();
  handle_ = handle_of(key_);
}
KernelImage::~KernelImage() = default;

const std::vector<std::string>& KernelImage::tensor_names() const { return content_->tensor_names; }
const std::string& KernelImage::text() const { return content_->listing->text; }
bool KernelImage::has_module() const { return content_->accepted.has_value(); }

Expected<std::shared_ptr<const KernelImage>> KernelImage::make(check::Accepted accepted,
                                                               std::shared_ptr<const ir::Listing> listing, LaunchSpec spec) {
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  const ir::Module& module = accepted.module();
  const ir::Function* entry = module.find(spec.entry);
  if (entry == nullptr || !entry->is_entry) {
    return Unexpected{{.kind = Kind::unknown_kernel, .message = cat("the module has no kernel `", spec.entry, '`')}};
  }
  if (auto ok = check_fits(accepted, *entry, spec); !ok) return Unexpected{std::move(ok).error()};
  auto content = std::make_shared<Content>(std::move(listing), spec);
  for (std::size_t i = 0; i < spec.params.size(); ++i) {
    const Param& param = spec.params[i];
    if (param.kind == Param::Kind::pointer) content->tensor_names[param.arg] = std::string(module.str(entry->params[i].name));
  }
  content->alignments = tensor_alignments(accepted, *entry, spec);
  content->accepted = std::move(accepted);
  return std::shared_ptr<const KernelImage>(new KernelImage(std::move(content), nullptr, std::move(spec)));
}

Expected<std::shared_ptr<const KernelImage>> KernelImage::from_text(std::string text, std::string_view meta) {
  return from_text(std::move(text), meta, {});
}
Expected<std::shared_ptr<const KernelImage>> KernelImage::from_text(std::string text, std::string_view meta, Ready ready) {
  auto spec = LaunchSpec::parse(meta);
  if (!spec) return Unexpected{std::move(spec).error()};
  if (auto target = cuda::target_of(text); !target) {
    return Unexpected{
        Diagnostic{.kind = Kind::bad_image, .message = cat("the text of kernel `", spec->entry, "` is not PTX")}.note(
            target.error().message)};
  }
  auto listing = std::make_shared<ir::Listing>();
  listing->text = std::move(text);
  auto content = std::make_shared<Content>(std::move(listing), *spec, std::move(ready.cubins));
  if (ready.tensor_names.size() == content->tensor_names.size()) content->tensor_names = std::move(ready.tensor_names);
  return std::shared_ptr<const KernelImage>(new KernelImage(std::move(content), nullptr, std::move(*spec)));
}

Expected<std::shared_ptr<const KernelImage>> KernelImage::with_scalars(Scalars scalars) const {
  if (auto ok = check_count(std::size_t{spec_.inputs} + spec_.outputs, scalars); !ok) return Unexpected{std::move(ok).error()};
  LaunchSpec spec = spec_;
  auto given = scalars.begin();
  for (Param& param : spec.params)
    if (param.kind == Param::Kind::scalar && given != scalars.end()) param.bits = given++->value_or(param.bits);
  return std::shared_ptr<const KernelImage>(new KernelImage(content_, device_, std::move(spec)));
}

Expected<std::shared_ptr<const KernelImage>> KernelImage::with_launch(LaunchSpec spec) const {
  if (!content_->accepted) {
    return Unexpected{{.kind = Kind::unknown_kernel,
                       .message = cat("kernel `", spec_.entry, "` was made of text alone, and is launched as that says")}};
  }
  if (!have_one_content(spec_, spec)) return make(*content_->accepted, content_->listing, std::move(spec));
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  const ir::Function& entry = *content_->accepted->module().find(spec.entry);
  if (auto ok = check_fits(*content_->accepted, entry, spec); !ok) return Unexpected{std::move(ok).error()};
  return std::shared_ptr<const KernelImage>(new KernelImage(content_, nullptr, std::move(spec)));
}

// -- what a launch is given
// --------------------------------------------------------------------------------------------------------------------

Expected<void> KernelImage::check_count(std::size_t pointers, Scalars scalars) const {
  const std::size_t takes = std::size_t{spec_.inputs} + spec_.outputs;
  if (pointers != takes) [[unlikely]]
    return Unexpected{{.kind = Kind::argument_count,
                       .message = cat("kernel `", spec_.entry, "` takes ", spec_.inputs, " inputs and ", spec_.outputs,
                                      " outputs; the launch has ", pointers, " tensors")}};
  if (scalars.empty()) [[likely]]
    return {};
  const auto is_scalar = [](const Param& param) { return param.kind == Param::Kind::scalar; };
  const auto has = static_cast<std::size_t>(std::count_if(spec_.params.begin(), spec_.params.end(), is_scalar));
  if (scalars.size() == has) return {};
  return Unexpected{
      {.kind = Kind::argument_count,
       .message = cat("kernel `", spec_.entry, "` has ", has, " scalar parameters; the launch has ", scalars.size())}};
}

Diagnostic KernelImage::misaligned(std::size_t tensor, std::uintptr_t address) const {
  const Alignment& needed = content_->alignments[tensor];
  Diagnostic error{
      .kind = Kind::argument_alignment,
      .message = cat("tensor `", content_->tensor_names[tensor], "` of kernel `", spec_.entry, "`: the address 0x", hex(address),
                     " is not a multiple of ", needed.bytes, " bytes, which `", needed.access, "` needs")};
  if (needed.where.known()) error.note(cat("`", needed.access, "` at ", to_string(needed.where)));
  return std::move(error).hint(
      "a tensor that begins in the middle of another may lie anywhere; a copy (`.clone()`, `numpy.copy`) is aligned");
}

Expected<void> KernelImage::check_alignments(std::span<void* const> pointers) const {
  const std::vector<Alignment>& needed = content_->alignments;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointers[i]);
    if ((address & (needed[i].bytes - 1)) != 0) [[unlikely]]
      return Unexpected{misaligned(i, address)};
  }
  return {};
}

}  // namespace ptx::launch
