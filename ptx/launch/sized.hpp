// A checked kernel whose launch depends on the sizes of a call's tensors: what ptx::Compiled shares among its copies.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/memory.hpp"
#include "ptx/launch/options.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/launch/plan.hpp"
#include "ptx/launch/shapes.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx {

namespace launch {

/// Thread-safe.
class SizedKernel {
 public:
  /// Of a checked module. `entry` is the kernel's name. Kinds: param_layout (other parameters than the options say), dim_unbound
  /// (an extent of a dimension that no tile has), and, when all sizes are numbers, those of the image.
  static Expected<std::shared_ptr<SizedKernel>> make(check::Accepted accepted, std::string_view entry, CompileOptions options);
  /// Of an image as it is, which serves every size of dimensions that the tiles have names for.
  static Expected<std::shared_ptr<SizedKernel>> of_image(std::shared_ptr<const KernelImage> image, std::vector<Tile> tiles,
                                                         std::vector<Type> scalars);

  /// Of a kernel that another maker makes for sizes of all dimensions: `make` gives its image. `names` are the tensors', inputs
  /// first.
  using Make = std::function<Expected<std::shared_ptr<const KernelImage>>(const Sizes& sizes)>;
  static Expected<std::shared_ptr<SizedKernel>> of_maker(std::string name, std::size_t inputs, std::vector<Tile> tiles,
                                                         std::vector<std::string> names, Make make);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Null of an image that was not made here.
  [[nodiscard]] const check::Accepted* accepted() const { return accepted_ ? &*accepted_ : nullptr; }
  [[nodiscard]] const ir::Listing* listing() const { return listing_.get(); }
  /// Names of dimensions without a size, in the order of the tensors.
  [[nodiscard]] const std::vector<std::string>& dims() const { return shapes_.names(); }
  /// The tensors; with these sizes for their names.
  [[nodiscard]] const std::vector<Tile>& tiles() const { return options_.tiles; }
  [[nodiscard]] Expected<std::vector<Tile>> tiles(const Sizes& sizes) const;
  [[nodiscard]] const std::vector<Type>& scalar_types() const { return scalar_types_; }

  /// The image, where its launch is the same for all sizes; else null.
  [[nodiscard]] const std::shared_ptr<const KernelImage>& only_image() const { return only_image_; }
  /// The image for these sizes, made once. Kinds: dim_unbound, argument_dim (a size below 0), and those of LaunchSpec::make and
  /// KernelImage::make.
  Expected<std::shared_ptr<const KernelImage>> image(const Sizes& sizes);

  /// What a launch passes for these values: all of the scalar parameters, or all that have no dimension's name; nothing stands
  /// for the dimension's size. Kinds: argument_count, launch_config.
  [[nodiscard]] Expected<std::vector<std::optional<std::uint64_t>>> pack(std::span<const Scalar> values) const;

  /// Fits the call's memory to the tiles, and to the sizes of all dimensions where they are fixed, and runs it. Errors: see
  /// Compiled::run.
  Expected<void> run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs, KernelImage::Scalars scalars,
                     const Sizes* fixed = nullptr);

 private:
  /// A plan for sizes of the dimensions that no input has.
  struct SizedPlan {
    std::vector<std::int64_t> sizes;
    std::unique_ptr<Plan> plan;
  };
  SizedKernel() = default;
  static Expected<std::shared_ptr<SizedKernel>> finish(std::shared_ptr<SizedKernel> kernel, std::vector<std::string> names);
  [[nodiscard]] Expected<void> count_parameters();
  [[nodiscard]] bool scalars_are_sizes() const;
  [[nodiscard]] bool depends_on_sizes() const;
  [[nodiscard]] Expected<std::shared_ptr<const KernelImage>> make_image(const Sizes& sizes) const;
  [[nodiscard]] Expected<LaunchSpec> spec(const Sizes& sizes) const;
  [[nodiscard]] Expected<Plan*> plan_for(std::span<const std::int64_t> sizes);
  [[nodiscard]] Expected<void> check_places(const CallMemory& call) const;
  [[nodiscard]] Expected<void> run_by_address(const CallMemory& memory, const Place& place, KernelImage::Scalars scalars) const;

  std::string name_;
  Make make_;  // empty: of the module, or of the image
  std::optional<check::Accepted> accepted_;
  std::shared_ptr<const ir::Listing> listing_;
  CompileOptions options_;
  std::size_t inputs_ = 0, tensors_ = 0;
  TensorShapes shapes_;
  std::shared_ptr<const KernelImage> only_image_;  // of a kernel whose launch no size changes
  std::optional<Signature> signature_;             // nothing: there are no tiles, and addresses alone count
  std::vector<Type> scalar_types_;
  std::vector<std::int32_t> scalar_dims_;  // of each scalar parameter, the dimension that it is named as; -1: none

  std::mutex mutex_;  // guards what follows; not held while an image is made
  std::map<Sizes, std::shared_ptr<const KernelImage>> images_;
  std::vector<SizedPlan> plans_;
  std::atomic<Plan*> only_plan_{nullptr};  // when inputs have all dimensions
};

}  // namespace launch
}  // namespace ptx
