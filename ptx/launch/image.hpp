// A kernel that can be launched: its text, how to launch it, and (when it was made here) its checked IR. Named by its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/launch/spec.hpp"

namespace ptx::cuda {
struct Cubin;
}

namespace ptx::launch {

struct CompilerText;  // ptx/launch/loading.hpp

class DeviceSide;
struct ReadyKernel;

/// Immutable and shared: by registry, plans, XLA's executables. Everything made lazily is made once; any thread may call
/// anything.
class KernelImage : public std::enable_shared_from_this<KernelImage> {
 public:
  /// An image of a module made in this process: it runs on the executor and on GPUs. Kinds: unknown_kernel (no such entry),
  /// launch_config, param_layout.
  static Expected<std::shared_ptr<const KernelImage>> make(check::Accepted accepted, std::shared_ptr<const ir::Listing> listing,
                                                           LaunchSpec spec);
  /// An image of text and a serialised LaunchSpec, as HLO carries them. It runs on GPUs, and on the executor, which reads the
  /// text when it runs first. Kinds: bad_image.
  static Expected<std::shared_ptr<const KernelImage>> from_text(std::string text, std::string_view meta);
  /// What may be known of a text besides (ptx/launch/ready.hpp).
  struct Ready;
  static Expected<std::shared_ptr<const KernelImage>> from_text(std::string text, std::string_view meta, Ready ready);

  ~KernelImage();
  KernelImage(const KernelImage&) = delete;
  KernelImage& operator=(const KernelImage&) = delete;

  using Scalars = ScalarValues;
  /// The same kernel with other values of its scalar parameters. Both share what was decoded, compiled and loaded. Kind
  /// argument_count for another number of them.
  [[nodiscard]] Expected<std::shared_ptr<const KernelImage>> with_scalars(Scalars scalars) const;

  /// The same text, launched otherwise: in another grid, with other values and descriptors of tensors of other sizes. The image
  /// shares what the text comes to, its code and its variables, where nothing else differs; else it is made anew. Of an image
  /// that was made of a module. Kinds: those of make().
  [[nodiscard]] Expected<std::shared_ptr<const KernelImage>> with_launch(LaunchSpec spec) const;

  /// sha256(text || meta).
  [[nodiscard]] const Digest& key() const { return key_; }
  /// 63 bits of the key: positive, the same in every process.
  [[nodiscard]] std::int64_t handle() const { return handle_; }
  static std::int64_t handle_of(const Digest& key);
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const std::string& meta() const { return meta_; }
  [[nodiscard]] const LaunchSpec& spec() const { return spec_; }
  /// Whether it was made with its checked IR, so that the executor need not read the text.
  [[nodiscard]] bool has_module() const;

  /// Decodes for the executor. Kinds: bad_image (text that is not PTX or not accepted), not_executed.
  [[nodiscard]] Expected<std::shared_ptr<const vgpu::Program>> program() const;
  /// The bytes of a .global or .const variable of its module, as launches on the executor read and leave them: images that
  /// with_scalars and with_launch made of one another share them. Not while such a launch runs. Kinds: those of program(), and
  /// undefined_symbol.
  [[nodiscard]] Expected<std::span<std::byte>> variable(std::string_view name) const;
  /// Loads on the GPU and validates the launch there, as the first launch otherwise does. Kinds: no_driver, no_device,
  /// wrong_device, compile_error, launch_config, param_layout, driver_error, capture_unprepared, and those of cuda::compile.
  [[nodiscard]] Expected<void> prepare(int ordinal) const;
  [[nodiscard]] bool prepared(int ordinal) const noexcept;
  /// What the compiler said in prepare() or the first launch that the author should know (CompiledCode::warnings): each is given
  /// once, to the first who asks. Costs one load when there is nothing.
  [[nodiscard]] Diagnostics take_load_warnings() const;

  /// The tensors' names, inputs first, as the executor's reports call them.
  [[nodiscard]] const std::vector<std::string>& tensor_names() const;
  /// The author's place of each line of the text, by its number; none of an image of text.
  [[nodiscard]] std::vector<SourceLocation> places() const;
  /// The text as compilers get it: with the author's lines, when it was made here.
  [[nodiscard]] CompilerText compiler_text() const;
  /// The cubins that it was made with.
  [[nodiscard]] std::vector<cuda::Cubin> ready_cubins() const;

  /// Runs to the end. `pointers` are the tensors' addresses in host memory, inputs, then outputs; `bytes` their sizes. An output
  /// may be one of the inputs; it is one where the spec says so. Kinds: argument_memory (tensors overlap in another way),
  /// argument_alignment (a tensor lies where the kernel's wide accesses cannot go), not_executed for a kernel that takes TMA
  /// descriptors.
  [[nodiscard]] Expected<vgpu::Report> launch(const Cpu& cpu, std::span<void* const> pointers, std::span<const std::size_t> bytes,
                                              Scalars scalars = {}) const;
  /// Whether PYPTX_SYNC=1 has every launch on a GPU wait for its kernel.
  [[nodiscard]] static bool synchronous() noexcept;
  /// Launches and returns. `pointers` are addresses on the GPU. No lock and no heap after the first launch on a GPU, nor after
  /// the first one with a tensor whose TMA descriptor the kernel takes the address of; such a tensor's descriptor is then there
  /// for good, also for CUDA graphs that captured the launch. With PYPTX_SYNC=1 in the environment it waits for the kernel, and
  /// what goes wrong in it is its own error. Kind argument_alignment: as above, and nothing is launched.
  [[nodiscard]] Expected<void> launch(const Cuda& gpu, std::span<void* const> pointers, Scalars scalars = {}) const;

 private:
  struct Content;
  KernelImage(std::shared_ptr<Content> content, std::shared_ptr<DeviceSide> device, LaunchSpec spec);
  [[nodiscard]] Expected<void> check_count(std::size_t pointers, Scalars scalars) const;
  [[nodiscard]] Expected<void> check_alignments(std::span<void* const> pointers) const;
  [[nodiscard]] Diagnostic misaligned(std::size_t tensor, std::uintptr_t address) const;
  [[nodiscard]] Expected<const ReadyKernel*> load(int ordinal) const;
  [[nodiscard]] Expected<void> launch_with(const ReadyKernel& ready, const Cuda& gpu, std::span<void* const> pointers,
                                           Scalars scalars, cuda::api::TensorMapBytes* values_room) const;

  std::shared_ptr<Content> content_;    // shared by images that launch the same text
  std::shared_ptr<DeviceSide> device_;  // shared by images that differ in the values of scalars alone
  LaunchSpec spec_;
  std::string meta_;
  Digest key_{};
  std::int64_t handle_ = 0;
  bool passes_values_ = false;  // TMA descriptors by value
};

}  // namespace ptx::launch
