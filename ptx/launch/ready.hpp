// What may be known of an image's text besides the text.
#pragma once

#include <string>
#include <vector>

#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/image.hpp"

namespace ptx::launch {

/// What may be known of a text besides: it is no part of the key.
struct KernelImage::Ready {
  std::vector<cuda::Cubin> cubins;        ///< made of the text before, each for another target; its log is kept with it
  std::vector<std::string> tensor_names;  ///< inputs first; used when there are as many as tensors
};

}  // namespace ptx::launch
