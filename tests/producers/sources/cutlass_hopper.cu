// CUTLASS 3.x: Hopper's kernels, where warps that copy by TMA feed warps that multiply by wgmma.
// targets: sm_90a
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include "program.cuh"

using namespace cute;

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <class A, class LayoutA, class B, class LayoutB, class D, class Tile, class Mainloop, class Epilogue>
void run(const char* name, int m, int n, int k, float alpha, float beta) {
  constexpr int wide_a = 16 / sizeof(A), wide_b = 16 / sizeof(B), wide_d = 16 / sizeof(D);
  using One = Shape<_1, _1, _1>;
  using CollectiveEpilogue =
      typename cutlass::epilogue::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, One,
                                                                cutlass::epilogue::collective::EpilogueTileAuto, float, float, D, Row, wide_d, D,
                                                                Row, wide_d, Epilogue>::CollectiveOp;
  using CollectiveMainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, A, LayoutA, wide_a, B, LayoutB, wide_b, float, Tile, One,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename CollectiveEpilogue::SharedStorage))>,
      Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, CollectiveMainloop, CollectiveEpilogue>;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
  char names[5][64];
  for (int i = 0; i < 5; ++i) snprintf(names[i], 64, "%s_%c", name, "abcdw"[i]);
  const auto small = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4); }; };
  A* const a = given<A>(names[0], m * k, small(1));
  B* const b = given<B>(names[1], k * n, small(2));
  D* const c = given<D>(names[2], m * n, small(3));
  D* const d = made<D>(names[3], m * n);
  const auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1});
  const auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1});
  const auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1});
  const auto stride_d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1});
  typename Gemm::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, {a, stride_a, b, stride_b}, {{alpha, beta}, c, stride_c, d, stride_d}};
  arguments.hw_info.sm_count = 4;
  std::uint8_t* workspace = nullptr;
  if (const std::size_t bytes = Gemm::get_workspace_size(arguments)) workspace = zeros<std::uint8_t>(names[4], bytes);
  Gemm gemm;
  if (gemm.can_implement(arguments) != cutlass::Status::kSuccess || gemm.initialize(arguments, workspace) != cutlass::Status::kSuccess ||
      gemm.run() != cutlass::Status::kSuccess) {
    fprintf(stderr, "%s is refused\n", name);
    exit(1);
  }
}

int main() {
  using cutlass::half_t, cutlass::bfloat16_t, cutlass::tfloat32_t, cutlass::float_e4m3_t, cutlass::float_e5m2_t;
  using namespace cutlass::gemm;
  using namespace cutlass::epilogue;
  run<half_t, Row, half_t, Column, half_t, Shape<_64, _64, _64>, KernelTmaWarpSpecialized, TmaWarpSpecialized>("specialised", 128, 128, 192, 1.5F,
                                                                                                              0.5F);
  run<bfloat16_t, Column, bfloat16_t, Row, float, Shape<_64, _64, _64>, KernelTmaWarpSpecializedPingpong, TmaWarpSpecialized>("pingpong", 256,
                                                                                                                            192, 128, 1, 0);
  run<half_t, Row, half_t, Row, float, Shape<_128, _64, _64>, KernelTmaWarpSpecializedCooperative, TmaWarpSpecializedCooperative>(
      "cooperative", 256, 128, 128, 1, 1);
  run<float_e4m3_t, Row, float_e5m2_t, Column, half_t, Shape<_64, _64, _128>, KernelTmaWarpSpecializedPingpong, TmaWarpSpecialized>("fp8", 64, 128,
                                                                                                                                  256, 1, 0);
  run<float, Row, float, Column, float, Shape<_64, _64, _32>, KernelTmaWarpSpecialized, TmaWarpSpecialized>("tf32", 64, 64, 96, 1, 0);
  run<half_t, Row, half_t, Column, float, Shape<_64, _64, _64>, KernelTma, NoSmemWarpSpecialized>("plain_tma", 64, 128, 128, 1, 0);
  run<half_t, Row, half_t, Column, half_t, Shape<_64, _64, _64>, KernelCpAsyncWarpSpecialized, NoSmemWarpSpecialized>("cp_async", 72, 64, 72, 1,
                                                                                                                    1);
  return cudaDeviceSynchronize();
}
