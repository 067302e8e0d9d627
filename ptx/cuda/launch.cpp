#include "ptx/cuda/launch.hpp"

#include <bit>
#include <string_view>

namespace ptx::cuda {
namespace {

constexpr std::uint32_t portable_cluster = 8;

std::array<std::uint32_t, 3> axes(Dim3 dim) { return {dim.x, dim.y, dim.z}; }
Expected<void> check_cluster(const LaunchConfig& config, const DeviceLimits& limits) {
  const Dim3 cluster = config.cluster;
  if (cluster == Dim3{}) return {};
  if (!limits.clusters) {
    return refuse(Kind::launch_config, cat("cluster ", to_string(cluster), " needs compute capability 9.0 or later; this GPU is ",
                                           to_string(limits.capability)));
  }
  if (const std::uint64_t blocks = volume(axes(cluster)); blocks > portable_cluster && !config.non_portable_cluster) {
    return refuse(Kind::launch_config, cat("cluster ", to_string(cluster), " has ", blocks, " blocks; at most ", portable_cluster,
                                           " are portable (16 with the non-portable cluster flag)"));
  }
  return {};
}

}  // namespace

std::string to_string(Dim3 dim) { return ptx::to_string(axes(dim)); }

Expected<void> validate(const LaunchConfig& config, const DeviceLimits& limits, const FunctionFacts* facts) {
  const LaunchLimits most{.grid = limits.max_grid, .block = limits.max_block, .block_threads = limits.max_threads_per_block};
  auto ok = check_launch_geometry(axes(config.grid), axes(config.block), axes(config.cluster), most);
  if (!ok) return ok;
  const std::uint64_t threads = volume(axes(config.block));
  if (facts != nullptr && threads > facts->max_threads_per_block) {
    return refuse(
        Kind::launch_config,
        cat("block ", to_string(config.block), " has ", threads, " threads; the compiled kernel, with ", facts->registers,
            " registers a thread and its `.maxntid`, runs with at most ", facts->max_threads_per_block));
  }
  const std::uint64_t static_smem = facts != nullptr ? facts->static_smem_bytes : 0;
  if (static_smem + config.dynamic_smem_bytes > limits.max_smem_bytes) {
    return refuse(Kind::launch_config, cat("a block needs ", config.dynamic_smem_bytes, " bytes of dynamic shared memory",
                                           static_smem != 0 ? cat(" and ", static_smem, " of static") : std::string(),
                                           "; at most ", limits.max_smem_bytes, " fit"));
  }
  if ((config.flags & flag(api::LaunchAttributeId::cooperative)) != 0 && !limits.cooperative)
    return refuse(Kind::launch_config, "this GPU does not support cooperative launches");
  return check_cluster(config, limits);
}

LaunchTemplate::LaunchTemplate(const LaunchConfig& config)
    : config_{.grid_x = config.grid.x,
              .grid_y = config.grid.y,
              .grid_z = config.grid.z,
              .block_x = config.block.x,
              .block_y = config.block.y,
              .block_z = config.block.z,
              .dynamic_smem_bytes = config.dynamic_smem_bytes} {
  const auto add = [this](api::LaunchAttributeId id, std::array<std::uint32_t, 3> value) {
    api::LaunchAttribute& attribute = attributes_[config_.attribute_count++];
    attribute.id = id;
    attribute.value[0] = value[0];
    attribute.value[1] = value[1];
    attribute.value[2] = value[2];
  };
  if (config.cluster != Dim3{}) add(api::LaunchAttributeId::cluster_dimension, axes(config.cluster));
  for (std::uint32_t left = config.flags; left != 0 && config_.attribute_count < attributes_.size(); left &= left - 1)
    add(api::LaunchAttributeId{static_cast<std::uint32_t>(std::countr_zero(left))}, {1, 0, 0});
}

Expected<LaunchTemplate> LaunchTemplate::make(const LaunchConfig& config, const Device& device, const FunctionFacts* facts) {
  if (auto ok = validate(config, device.limits(), facts); !ok) {
    Diagnostic error = std::move(ok).error();
    return Unexpected{std::move(error).note(cat("GPU ", device.ordinal(), ": ", device.name()))};
  }
  return LaunchTemplate(config);
}

Diagnostic launch_error(const Driver& driver, api::Result result, const api::LaunchConfig& config) {
  Diagnostic error = driver_error(driver, result, "cuLaunchKernelEx");
  if (!is_sticky(result)) {
    error.note(cat("grid ", to_string(Dim3{config.grid_x, config.grid_y, config.grid_z}), ", block ",
                   to_string(Dim3{config.block_x, config.block_y, config.block_z}), ", ", config.dynamic_smem_bytes,
                   " bytes of dynamic shared memory"));
  }
  return error;
}

Expected<void> check_cluster_fits(const Driver& driver, api::Function function, const LaunchTemplate& launch_template) {
  const api::LaunchConfig config = launch_template.on(nullptr);
  int clusters = 0;
  if (auto ok = checked(driver, driver.call.occupancy_max_active_clusters(&clusters, function, &config),
                        "cuOccupancyMaxActiveClusters");
      !ok) {
    return ok;
  }
  if (clusters > 0) return {};
  return refuse(Kind::launch_config, cat("not one cluster finds room on the GPU: block ",
                                         to_string(Dim3{config.block_x, config.block_y, config.block_z}), ", ",
                                         config.dynamic_smem_bytes, " bytes of dynamic shared memory a block"));
}

}  // namespace ptx::cuda
