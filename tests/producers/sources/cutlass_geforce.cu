// CUTLASS 3.x: Blackwell's kernels without tensor memory, where warps multiply numbers with scales of blocks by mma.sync.
// targets: sm_120a
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

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <class A, class B, class D, class Mainloop>
struct Made {
  using Tile = Shape<_128, _128, _128>;
  using One = Shape<_1, _1, _1>;
  using Class = cutlass::arch::OpClassBlockScaledTensorOp;
  using CollectiveEpilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm120, Class, Tile, One, cutlass::epilogue::collective::EpilogueTileAuto, float, float, D, Row, 16 / sizeof(D), D, Row,
      16 / sizeof(D), cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
  using CollectiveMainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm120, Class, A, Row, 16, B, Column, 16, float, Tile, One,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename CollectiveEpilogue::SharedStorage))>,
      Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, CollectiveMainloop, CollectiveEpilogue, void>;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};

int main() {
  using Mx8 = cutlass::mx_float8_t<cutlass::float_e4m3_t>;
  scaled<Made<Mx8, Mx8, float, cutlass::gemm::KernelTmaWarpSpecializedCooperative>, cutlass::float_e4m3_t, float>("cooperative", 128, 128, 384);
  scaled<Made<Mx8, Mx8, float, cutlass::gemm::KernelTmaWarpSpecializedPingpong>, cutlass::float_e4m3_t, float>("pingpong", 256, 136, 128);
  return cudaDeviceSynchronize();
}
