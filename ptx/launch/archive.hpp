// Saved kernels: one file with all that it takes to run a kernel elsewhere, without Python and without a compiler.
//     launch   LaunchSpec::serialise           names    of the tensors, inputs first
//     ptx      the text                        tiles    of the tensors, where they are known
//     cubin X  machine code for target X       scalars  types of the scalar parameters
//     log X    what ptxas said while making it
// Its container is that of ptx/cuda/sections.hpp; sections of other names are passed over.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::launch {

struct SaveOptions {
  /// What machine code is made for, such as "sm_90a" or, of a text for sm_80, also "sm_90"; nothing: the text's own target. An
  /// empty list: none, and who loads the file compiles it.
  std::optional<std::vector<std::string>> targets;
  std::vector<Tile> tiles{};         ///< of the tensors, inputs first: a run of the loaded kernel checks sizes against them
  std::vector<Type> scalar_types{};  ///< of the scalar parameters: the loaded kernel takes other values of them
};

/// A kernel out of a file.
struct SavedKernel {
  std::shared_ptr<const KernelImage> image;
  std::vector<Tile> tiles;
  std::vector<Type> scalar_types;
};

/// Compiles for the targets, as $PYPTX_NO_COMPILE, $PYPTX_STRICT and the cache have it, always with ptxas, and writes the file:
/// whole, or not at all. What the compiler warned of comes back. The machine code holds the author's file names and lines; the
/// text holds none. Errors: file_error, wrong_device (a target that the text is not for), argument_count (tiles or types that
/// are not as many as the kernel has), and those of cuda::compile.
Expected<Diagnostics> save(const std::string& path, const KernelImage& image, const SaveOptions& options = {});

/// Errors: file_error; bad_image for a file that `save` did not write, that is cut off or damaged, or that a newer pyptx wrote.
Expected<SavedKernel> load_saved(const std::string& path);
/// The same from memory; `name` is how messages call it.
Expected<SavedKernel> read_saved(std::string_view bytes, std::string_view name);

}  // namespace ptx::launch
