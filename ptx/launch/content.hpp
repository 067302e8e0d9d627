// What an image's text comes to: everything but how it is launched, so that images which differ in that alone share it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/alignment.hpp"
#include "ptx/launch/device.hpp"
#include "ptx/launch/host.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/spec.hpp"

namespace ptx::launch {

struct KernelImage::Content {
  Content(std::shared_ptr<const ir::Listing> text, const LaunchSpec& spec, std::vector<cuda::Cubin> cubins = {});

  const std::shared_ptr<const ir::Listing> listing;
  Sha256 hash;                                   // of the text, to which an image adds its launch
  const char* const name;                        // for good
  std::optional<check::Accepted> accepted{};     // of an image that was made here
  std::vector<std::string> tensor_names{};       // as the executor's reports call them
  std::vector<Alignment> alignments{};           // by tensor, where the text was read; empty: no tensor needs any
  const std::vector<std::size_t> param_offsets;  // of the spec's

  HostSide host{};
  const std::shared_ptr<SharedCode> code;
};

}  // namespace ptx::launch
