// CUTLASS 2.x: products of sparse matrices, of words of 4 bits and of 1, of complex numbers, and of f32 by three of tf32.
// targets: sm_80
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/epilogue/thread/linear_combination_clamp.h>
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/device/gemm_complex.h>
#include <cutlass/gemm/device/gemm_sparse.h>

#include "operands.cuh"

using cutlass::half_t;
using cutlass::gemm::GemmShape;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using TensorOp = cutlass::arch::OpClassTensorOp;
using cutlass::arch::Sm80;
using InOrder = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>;
template <class Out, int wide, class Sum>
using Linear = cutlass::epilogue::thread::LinearCombination<Out, wide, Sum, Sum>;

// Of each four of A two are there; which, NAME_e says, two bits each in the order that the kernel reads.
void sparse() {
  using Gemm = cutlass::gemm::device::SparseGemm<half_t, Row, half_t, Column, float, Row, float, TensorOp, Sm80, GemmShape<64, 64, 64>,
                                                 GemmShape<32, 32, 64>, GemmShape<16, 8, 32>, Linear<float, 4, float>, InOrder, 3>;
  const int m = 64, n = 64, k = 128;
  const Operands<half_t, half_t, float> o("sparse", m * k / 2, k * n, m * n);
  using E = Gemm::ElementE;
  const int per = Gemm::kElementsPerElementE, wide = k / 2 / per;
  // 4, 8, 9, C, D, E are the pairs of places; all are used.
  const auto e = [](std::uint32_t i) {
    unsigned bits = 0;
    for (unsigned j = 0; j < sizeof(E) * 2; ++j) bits |= (0xEDC984u >> drawn(4, i * 8 + j) % 6 * 4 & 15) << j * 4;
    return static_cast<E>(bits);
  };
  E* const plain = given<E>("sparse_plain_e", m * wide, e);  // row by row
  E* const ordered = made<E>("sparse_e", m * wide);
  const Gemm::LayoutE layout = Gemm::LayoutE::packed({m, wide});
  std::vector<E> host(m * wide);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < wide; ++j) {
      // As cutlass/util/host_reorder.h says: rows of 32 (of 16-bit words) or 16 are interleaved, and pairs of rows and columns swapped.
      const int group = sizeof(E) == 2 ? 32 : 16, interweave = sizeof(E) == 2 ? 4 : 2;
      int row = i / group * group + i % 8 * interweave + i % group / 8, column = j;
      if (row % 2 == 0 && column % 2 == 1) ++row, --column;
      else if (row % 2 == 1 && column % 2 == 0) --row, ++column;
      host[layout({row, column})] = e(i * wide + j);
    }
  cudaMemcpy(ordered, host.data(), host.size() * sizeof(E), cudaMemcpyHostToDevice);
  (void)plain;
  Gemm::Arguments arguments({m, n, k}, {o.a, k / 2}, {o.b, k}, {o.c, n}, {o.d, n}, {ordered, layout}, {1, 1});
  perform<Gemm>("sparse", arguments);
}

template <class Gemm>
void words(const char* name, int m, int n, int k, int bits) {
  const auto any = [](std::uint32_t seed) { return [seed](std::uint32_t i) { return drawn(seed, i) & 255; }; };
  char names[4][64];
  for (int i = 0; i < 4; ++i) snprintf(names[i], 64, "%s_%c", name, "abcd"[i]);
  const auto a = reinterpret_cast<typename Gemm::ElementA*>(given<std::uint8_t>(names[0], m * k * bits / 8, any(5)));
  const auto b = reinterpret_cast<typename Gemm::ElementB*>(given<std::uint8_t>(names[1], k * n * bits / 8, any(6)));
  std::int32_t* const c = given<std::int32_t>(names[2], m * n, any(7));
  std::int32_t* const d = made<std::int32_t>(names[3], m * n);
  typename Gemm::Arguments arguments({m, n, k}, {a, k}, {b, k}, {c, n}, {d, n}, {1, 1});
  perform<Gemm>(name, arguments);
}

void complex_numbers() {
  using Complex = cutlass::complex<double>;
  using Gemm = cutlass::gemm::device::GemmComplex<Complex, Row, Complex, Column, Complex, Row, Complex, TensorOp, Sm80, GemmShape<32, 32, 8>,
                                                  GemmShape<16, 16, 8>, GemmShape<8, 8, 4>, Linear<Complex, 1, Complex>, InOrder, 3,
                                                  cutlass::ComplexTransform::kNone, cutlass::ComplexTransform::kConjugate>;
  const int m = 33, n = 20, k = 19;
  const auto pair = [](auto from) { return [from](auto i) { return Complex(from(2 * i), from(2 * i + 1)); }; };
  Complex* const a = given<Complex>("complex_a", m * k, pair(small_numbers(1)));
  Complex* const b = given<Complex>("complex_b", k * n, pair(small_numbers(2)));
  Complex* const d = made<Complex>("complex_d", m * n);
  Gemm::Arguments arguments({m, n, k}, {a, k}, {b, k}, {d, n}, {d, n}, {Complex(1, 2), Complex(0)});
  perform<Gemm>("complex", arguments);
}

// f32 as three products of tf32: numbers with more bits than tf32 has.
void three() {
  using Gemm = cutlass::gemm::device::Gemm<float, Row, float, Row, float, Row, float, TensorOp, Sm80, GemmShape<64, 64, 16>, GemmShape<32, 32, 16>,
                                           GemmShape<16, 8, 8>, Linear<float, 4, float>, InOrder, 3, 4, 4, false,
                                           cutlass::arch::OpMultiplyAddFastF32>;
  const int m = 64, n = 60, k = 44;
  const auto unit = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i)) >> 8) / (1 << 23); }; };
  float* const a = given<float>("three_a", m * k, unit(8));
  float* const b = given<float>("three_b", k * n, unit(9));
  float* const d = made<float>("three_d", m * n);
  Gemm::Arguments arguments({m, n, k}, {a, k}, {b, n}, {d, n}, {d, n}, {1, 0});
  perform<Gemm>("three", arguments);
}

int main() {
  using cutlass::gemm::device::Gemm;
  using Sums = Linear<std::int32_t, 4, std::int32_t>;
  sparse();
  words<Gemm<cutlass::int4b_t, Row, cutlass::int4b_t, Column, std::int32_t, Row, std::int32_t, TensorOp, Sm80, GemmShape<64, 64, 128>,
             GemmShape<32, 32, 128>, GemmShape<16, 8, 64>, Sums, InOrder, 3>>("s4", 72, 40, 224, 4);
  words<Gemm<cutlass::uint1b_t, Row, cutlass::uint1b_t, Column, std::int32_t, Row, std::int32_t, TensorOp, Sm80, GemmShape<64, 64, 512>,
             GemmShape<32, 32, 512>, GemmShape<16, 8, 256>, Sums, InOrder, 3, 128, 128, false, cutlass::arch::OpXorPopc>>("b1", 64, 40, 640, 1);
  complex_numbers();
  three();
  return cudaDeviceSynchronize();
}
