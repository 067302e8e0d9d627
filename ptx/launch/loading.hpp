// How an image's code comes onto GPUs: a saved cubin, one from the cache, one that ptxas makes, or the text by the driver.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/cuda/cuda.hpp"

namespace ptx::launch {

/// The author's place of each line of a listing, by its number; those that hold no instruction have none.
std::vector<SourceLocation> places_of(const ir::Module& module, const ir::Listing& listing);

/// PTX as compilers get it, and whose line each of its lines is.
struct CompilerText {
  std::string text;
  cuda::LineMap where;

  /// With the places of the author (`.loc`), for profilers and debuggers. The map may outlive the module.
  static CompilerText of(const check::Accepted& accepted);
};

/// Compiles for one target ("sm_90a") as $PYPTX_JIT and its kin say. Errors: those of cuda::compile, wrong_device for a target
/// that the text is not for.
Expected<cuda::CompiledCode> compile_for(const CompilerText& text, const std::string& entry, const std::string& target,
                                         const cuda::CompileSettings& settings, int driver_version = 0);

/// The code of one image on this process's GPUs: one LoadedKernel for all GPUs of an architecture. Not synchronised.
class DeviceCode {
 public:
  /// What a load needs to know of the image.
  struct Image {
    std::string entry;
    std::uint32_t dynamic_smem_bytes = 0;
    bool non_portable_cluster = false;
    std::optional<std::vector<std::size_t>> param_bytes{};  ///< of each parameter, when it is known what a launch passes
  };

  DeviceCode() = default;
  /// With machine code that was made before: `target`, `bytes` and `log` count.
  explicit DeviceCode(std::vector<cuda::Cubin> ready) : ready_(std::move(ready)) {}
  DeviceCode(DeviceCode&&) = default;  // and no copy
  DeviceCode& operator=(DeviceCode&&) = default;

  /// The kernel, prepared on the GPU. `text()` makes the CompilerText when it is needed. Errors: those of compile_for and of
  /// LoadedKernel::prepare.
  template <class Text>
  Expected<cuda::LoadedKernel*> on(const cuda::Device& gpu, const Image& image, Text text) {
    auto loaded = find(gpu);
    if (loaded == nullptr) {
      auto made = load(gpu, image, text());
      if (!made) return made;
      loaded = *made;
    }
    if (auto function = loaded->prepare(gpu); !function) return Unexpected{std::move(function).error()};
    return loaded;
  }

  [[nodiscard]] const std::vector<cuda::Cubin>& ready() const { return ready_; }
  /// What the compiler warned of since the last time. That it serialises wgmma or ignores setmaxnreg, a process is told once of a
  /// kernel's line.
  Diagnostics take_warnings() { return std::exchange(warnings_, {}); }
  /// The kernels, which are then no longer here.
  std::vector<std::unique_ptr<cuda::LoadedKernel>> release();

 private:
  [[nodiscard]] cuda::LoadedKernel* find(const cuda::Device& gpu) const;
  Expected<cuda::LoadedKernel*> load(const cuda::Device& gpu, const Image& image, const CompilerText& text);
  [[nodiscard]] const cuda::Cubin* ready_for(const cuda::Device& gpu, const std::string& target) const;
  void warn(const std::string& kernel, Diagnostics warnings);

  std::vector<cuda::Cubin> ready_;
  std::map<cuda::ComputeCapability, std::unique_ptr<cuda::LoadedKernel>> loaded_;  // by what the GPU is
  Diagnostics warnings_;
  std::vector<std::string> warned_;  // messages
};

}  // namespace ptx::launch
