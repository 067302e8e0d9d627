// Products of e4m3 whose numbers have a scale for each 32 of a row, for Blackwell's kernels of CUTLASS.
#pragma once

#include "operands.cuh"

using namespace cute;

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
