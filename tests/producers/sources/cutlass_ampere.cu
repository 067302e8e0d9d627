// CUTLASS 2.x: products of matrices on Turing's and Ampere's tensor cores and without, in several types, layouts and epilogues.
// targets: sm_80
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/epilogue/thread/linear_combination_relu.h>
#include <cutlass/gemm/device/gemm.h>

#include "program.cuh"

using cutlass::gemm::GemmShape;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
template <class Out, int wide, class Sum = float>
using Linear = cutlass::epilogue::thread::LinearCombination<Out, wide, Sum, Sum>;
using InOrder = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>;

// D = alpha A B + beta C; A, B, C are named NAME_a, NAME_b, NAME_c.
template <class Gemm>
void run(const char* name, int m, int n, int k, float alpha, float beta) {
  using A = typename Gemm::ElementA;
  using B = typename Gemm::ElementB;
  using C = typename Gemm::ElementC;
  char names[4][64];
  for (int i = 0; i < 4; ++i) snprintf(names[i], 64, "%s_%c", name, "abcd"[i]);
  const auto small = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4); }; };
  A* const a = given<A>(names[0], m * k, small(1));
  B* const b = given<B>(names[1], k * n, small(2));
  C* const c = given<C>(names[2], m * n, small(3));
  C* const d = made<C>(names[3], m * n);
  using Factor = typename Gemm::EpilogueOutputOp::ElementCompute;
  const typename Gemm::LayoutA la = Gemm::LayoutA::packed({m, k});
  const typename Gemm::LayoutB lb = Gemm::LayoutB::packed({k, n});
  const typename Gemm::LayoutC lc = Gemm::LayoutC::packed({m, n});
  typename Gemm::Arguments arguments({m, n, k}, {a, la}, {b, lb}, {c, lc}, {d, lc}, {static_cast<Factor>(alpha), static_cast<Factor>(beta)});
  std::uint8_t* workspace = nullptr;
  if (const std::size_t bytes = Gemm::get_workspace_size(arguments)) {
    snprintf(names[0], 64, "%s_workspace", name);
    workspace = zeros<std::uint8_t>(names[0], bytes);
  }
  Gemm gemm;
  if (gemm.initialize(arguments, workspace) != cutlass::Status::kSuccess || gemm() != cutlass::Status::kSuccess) exit(1);
}

int main() {
  using cutlass::half_t, cutlass::bfloat16_t, cutlass::tfloat32_t;
  using TensorOp = cutlass::arch::OpClassTensorOp;
  using Simt = cutlass::arch::OpClassSimt;
  using cutlass::arch::Sm75, cutlass::arch::Sm80, cutlass::arch::Sm50;
  using cutlass::gemm::device::Gemm;
  run<Gemm<half_t, Row, half_t, Column, half_t, Row, float, TensorOp, Sm80, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 16>,
           Linear<half_t, 8>, InOrder, 3>>("f16_tn", 64, 128, 96, 1.5F, 0.5F);
  run<Gemm<half_t, Column, half_t, Row, float, Column, float, TensorOp, Sm80, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 16>,
           Linear<float, 4>, InOrder, 4>>("f16_nt", 72, 64, 64, 1, 0);
  run<Gemm<bfloat16_t, Row, bfloat16_t, Row, bfloat16_t, Row, float, TensorOp, Sm80, GemmShape<64, 64, 64>, GemmShape<32, 32, 64>,
           GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombinationRelu<bfloat16_t, 8, float, float>, InOrder, 3>>("bf16_relu", 64, 64,
                                                                                                                          128, 1, 1);
  run<Gemm<tfloat32_t, Row, tfloat32_t, Column, float, Row, float, TensorOp, Sm80, GemmShape<64, 64, 16>, GemmShape<32, 32, 16>,
           GemmShape<16, 8, 8>, Linear<float, 4>, InOrder, 3>>("tf32", 64, 64, 48, 1, 0);
  run<Gemm<std::int8_t, Row, std::int8_t, Column, std::int32_t, Row, std::int32_t, TensorOp, Sm80, GemmShape<64, 64, 64>, GemmShape<32, 32, 64>,
           GemmShape<16, 8, 32>, Linear<std::int32_t, 4, std::int32_t>, InOrder, 3>>("s8", 64, 64, 128, 2, 1);
  run<Gemm<double, Row, double, Column, double, Row, double, TensorOp, Sm80, GemmShape<32, 32, 16>, GemmShape<16, 16, 16>, GemmShape<8, 8, 4>,
           Linear<double, 1, double>, InOrder, 3>>("f64", 32, 32, 32, 1, 2);
  run<Gemm<half_t, Row, half_t, Column, half_t, Row, half_t, TensorOp, Sm75, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 8>,
           Linear<half_t, 8, half_t>, InOrder, 2>>("turing", 64, 64, 64, 1, 0);
  run<Gemm<float, Row, float, Row, float, Row, float, Simt, Sm50, GemmShape<64, 64, 8>, GemmShape<32, 32, 8>, GemmShape<1, 1, 1>,
           Linear<float, 1>, InOrder, 2>>("simt", 50, 70, 33, 1, 1);
  return cudaDeviceSynchronize();
}
