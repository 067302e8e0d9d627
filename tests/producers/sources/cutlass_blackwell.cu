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

#include "operands.cuh"

using namespace cute;
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

template <class Kernel, class D>
auto epilogue_of(const D* c, D* d, int m, int n) {
  typename Kernel::EpilogueArguments epilogue{{},
                                              c,
                                              cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1}),
                                              d,
                                              cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1})};
  epilogue.thread.alpha = 1;
  epilogue.thread.beta = 1;
  return epilogue;
}

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

// Numbers NAME_a and NAME_b (bytes of them), and one scale for each 32 of them: NAME_scales_a and NAME_scales_b, in rows of
// the matrix. The kernel reads them in an order of its own.
template <class M, class Number, class D>
void scaled(const char* name, int m, int n, int k) {
  using Kernel = typename M::Kernel;
  constexpr int vector = 32;
  using Layout = typename Kernel::CollectiveMainloop::Sm1xxBlkScaledConfig;
  char names[8][64];
  const char* const ends[] = {"a", "b", "c", "d", "scales_a", "scales_b", "ordered_a", "ordered_b"};
  for (int i = 0; i < 8; ++i) snprintf(names[i], 64, "%s_%s", name, ends[i]);
  // Bits of e4m3 from 1 to 15/8, of both signs: sums are exact.
  const auto bits_of = [](std::uint32_t seed) {
    return [seed](std::uint32_t i) { return drawn(seed, i) & 0x87 | 0x38; };
  };
  auto* const a = given<std::uint8_t>(names[0], m * k, bits_of(1));
  auto* const b = given<std::uint8_t>(names[1], n * k, bits_of(2));
  D* const c = given<D>(names[2], m * n, small_numbers(3));
  D* const d = made<D>(names[3], m * n);
  // Scales: a half, 1 or 2, as bits of ue8m0.
  const auto scale = [](std::uint32_t seed, std::uint32_t i) {
    return static_cast<std::uint8_t>(126 + drawn(seed, i) % 3);
  };
  const auto scales = [&](int which, int rows, auto layout) {
    given<std::uint8_t>(names[4 + which], rows * (k / vector), [&](std::uint32_t i) { return scale(5 + which, i); });
    std::vector<std::uint8_t> ordered(cosize(filter_zeros(layout)));
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < k; column += vector)
        ordered[layout(make_coord(row, column, 0))] = scale(5 + which, row * (k / vector) + column / vector);
    auto* const memory = made<std::uint8_t>(names[6 + which], ordered.size());
    cudaMemcpy(memory, ordered.data(), ordered.size(), cudaMemcpyHostToDevice);
    return reinterpret_cast<cutlass::float_ue8m0_t*>(memory);
  };
  const auto layout_a = Layout::tile_atom_to_shape_SFA(make_shape(m, n, k, 1));
  const auto layout_b = Layout::tile_atom_to_shape_SFB(make_shape(m, n, k, 1));
  auto* const scales_a = scales(0, m, layout_a);
  auto* const scales_b = scales(1, n, layout_b);
  typename M::Gemm::Arguments arguments{
      cutlass::gemm::GemmUniversalMode::kGemm,
      {m, n, k, 1},
      {reinterpret_cast<const Number*>(a), cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}),
       reinterpret_cast<const Number*>(b), cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1}), scales_a, layout_a, scales_b,
       layout_b},
      epilogue_of<Kernel>(c, d, m, n)};
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
