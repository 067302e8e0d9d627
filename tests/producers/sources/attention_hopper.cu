// Attention in one kernel, by TMA and wgmma, specialised by warps, forward and back: example 88 of CUTLASS.
// targets: sm_90a
// include: cutlass=include
// include: cutlass=tools/util/include
// include: cutlass=examples/88_hopper_fmha
#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <collective/fmha_fusion.hpp>
#include <device/device_universal.hpp>
#include <device/fmha_device_bwd.hpp>
#include <kernel/fmha_kernel_builder.hpp>

#include "operands.cuh"

using namespace cute;
using cutlass::half_t;
using Sizes = cute::tuple<int, int, int, int, int>;  // images, heads, queries, keys, numbers
using Places = cute::tuple<int, _1, cute::tuple<int, int>>;
using Lines = cute::tuple<_1, cute::tuple<int, int>>;

inline auto parts(std::uint32_t seed) {
  return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4) / 8; };
}
// Tensors lie as images, heads, rows, numbers.
Places places(int heads, int rows, int wide) { return {wide, _1{}, {heads * rows * wide, rows * wide}}; }

template <class Tile, class Fusion, class Policy>
void forward(const char* name, int images, int heads, int queries, int keys, int wide) {
  using Kernel = typename cutlass::fmha::kernel::FmhaBuilder<half_t, float, float, Tile, Places, Places, Places, Fusion, Policy>::Kernel;
  using Operation = cutlass::device::Universal<Kernel>;
  char names[5][64];
  for (int i = 0; i < 5; ++i) snprintf(names[i], 64, "%s_%s", name, &"q\0k\0v\0o\0l"[2 * i]);
  const half_t* const q = given<half_t>(names[0], images * heads * queries * wide, parts(1));
  const half_t* const k = given<half_t>(names[1], images * heads * keys * wide, parts(2));
  const half_t* const v = given<half_t>(names[2], images * heads * keys * wide, parts(3));
  half_t* const o = made<half_t>(names[3], images * heads * queries * wide);
  float* const l = made<float>(names[4], images * heads * queries);
  cutlass::KernelHardwareInfo hardware;
  hardware.sm_count = 4;
  typename Operation::Arguments arguments{
      Sizes{images, heads, queries, keys, wide},
      {q, places(heads, queries, wide), k, places(heads, keys, wide), v, places(heads, keys, wide)},
      {o, places(heads, queries, wide), l, Lines{_1{}, {heads * queries, queries}}},
      hardware};
  perform<Operation>(name, arguments);
}

int main() {
  using namespace cutlass::fmha::collective;
  using namespace cutlass::gemm;
  forward<Shape<_128, _64, _64>, ResidualFusion, KernelTmaWarpSpecializedCooperative>("cooperative", 1, 2, 136, 104, 64);
  forward<Shape<_128, _64, _64>, CausalFusion, KernelTmaWarpSpecializedPingpong>("pingpong", 2, 1, 192, 192, 64);
  forward<Shape<_64, _64, _32>, DefaultFusion, KernelTma>("plain", 1, 1, 64, 128, 32);
  return cudaDeviceSynchronize();
}
