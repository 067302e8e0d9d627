// CUTLASS 3.x: Blackwell's kernels, where tcgen05 multiplies into tensor memory, alone and by pairs of blocks, and with scales of
// blocks of numbers; tiles are handed out by clusterlaunchcontrol.
// targets: sm_100a
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include "scaled.cuh"

using cutlass::half_t, cutlass::bfloat16_t, cutlass::float_e4m3_t;
using cutlass::arch::OpClassBlockScaledTensorOp;
using cutlass::arch::OpClassTensorOp;
using cutlass::arch::Sm100;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <class Class, class A, class LayoutA, int wide_a, class B, class LayoutB, int wide_b, class D, class Tile, class Cluster, class Mainloop,
          class Epilogue>
struct Made {
  using CollectiveEpilogue =
      typename cutlass::epilogue::collective::CollectiveBuilder<Sm100, Class, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float,
                                                                float, D, Row, 16 / sizeof(D), D, Row, 16 / sizeof(D), Epilogue>::CollectiveOp;
  using CollectiveMainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      Sm100, Class, A, LayoutA, wide_a, B, LayoutB, wide_b, float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename CollectiveEpilogue::SharedStorage))>,
      Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, CollectiveMainloop, CollectiveEpilogue, void>;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};

template <class M, class A, class B, class D>
void run(const char* name, int m, int n, int k) {
  using Kernel = typename M::Kernel;
  const Operands<A, B, D> o(name, m * k, k * n, m * n);
  typename M::Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                        {m, n, k, 1},
                                        {o.a, cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}), o.b,
                                         cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1})},
                                        epilogue_of<Kernel>(o.c, o.d, m, n)};
  arguments.hw_info.sm_count = 4;
  perform<typename M::Gemm>(name, arguments);
}

int main() {
  using namespace cutlass::gemm;
  using namespace cutlass::epilogue;
  run<Made<OpClassTensorOp, half_t, Row, 8, half_t, Column, 8, float, Shape<_128, _64, _64>, Shape<_1, _1, _1>, KernelTmaWarpSpecialized1SmSm100,
           TmaWarpSpecialized1Sm>,
      half_t, half_t, float>("alone", 136, 72, 200);
  run<Made<OpClassTensorOp, bfloat16_t, Column, 8, bfloat16_t, Row, 8, bfloat16_t, Shape<_256, _128, _64>, Shape<_2, _1, _1>,
           KernelTmaWarpSpecialized2SmSm100, TmaWarpSpecialized2Sm>,
      bfloat16_t, bfloat16_t, bfloat16_t>("pairs", 264, 136, 136);
  run<Made<OpClassTensorOp, float_e4m3_t, Row, 16, float_e4m3_t, Column, 16, half_t, Shape<_128, _128, _128>, Shape<_1, _2, _1>,
           KernelTmaWarpSpecialized1SmSm100, TmaWarpSpecialized1Sm>,
      float_e4m3_t, float_e4m3_t, half_t>("fp8", 128, 256, 144);
  using Mx8 = cutlass::mx_float8_t<float_e4m3_t>;
  scaled<Made<OpClassBlockScaledTensorOp, Mx8, Row, 16, Mx8, Column, 16, float, Shape<_128, _128, _128>, Shape<_1, _1, _1>,
              KernelTmaWarpSpecialized1SmMxf8f6f4Sm100, TmaWarpSpecialized1Sm>,
         float_e4m3_t, float>("mxf8", 128, 128, 256);
  return cudaDeviceSynchronize();
}
