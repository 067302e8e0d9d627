// CUTLASS 2.x: a product's sums split among blocks, one after the other, at once, and by streams; many products in a launch.
// targets: sm_80
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/device/gemm_array.h>
#include <cutlass/gemm/device/gemm_batched.h>
#include <cutlass/gemm/device/gemm_grouped.h>
#include <cutlass/gemm/device/gemm_splitk_parallel.h>
#include <cutlass/gemm/device/gemm_universal.h>
#include <cutlass/gemm/kernel/default_gemm_grouped.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle_streamk.h>

#include "operands.cuh"

using cutlass::half_t, cutlass::bfloat16_t;
using cutlass::gemm::GemmShape;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using TensorOp = cutlass::arch::OpClassTensorOp;
using cutlass::arch::Sm80;
using Block = GemmShape<64, 64, 32>;
using Warp = GemmShape<32, 32, 32>;
using Instruction = GemmShape<16, 8, 16>;
template <class Out, int wide>
using Linear = cutlass::epilogue::thread::LinearCombination<Out, wide, float, float>;

void one_after_the_other() {
  using Gemm = cutlass::gemm::device::Gemm<half_t, Row, half_t, Column, float, Row, float, TensorOp, Sm80, Block, Warp, Instruction, Linear<float, 4>,
                                           cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, 8, 8, true>;
  const int m = 64, n = 72, k = 200;
  const Operands<half_t, half_t, float> o("serial", m * k, k * n, m * n);
  Gemm::Arguments arguments({m, n, k}, {o.a, k}, {o.b, k}, {o.c, n}, {o.d, n}, {2, 1}, 3);
  perform<Gemm>("serial", arguments);
}

void at_once() {
  using Gemm = cutlass::gemm::device::GemmSplitKParallel<bfloat16_t, Row, bfloat16_t, Row, float, Row, float, TensorOp, Sm80, Block, Warp, Instruction,
                                                         Linear<float, 4>>;
  const int m = 72, n = 64, k = 256;
  const Operands<bfloat16_t, bfloat16_t, float> o("parallel", m * k, k * n, m * n);
  Gemm::Arguments arguments({m, n, k}, {o.a, k}, {o.b, n}, {o.c, n}, {o.d, n}, {1, 1}, 4);
  perform<Gemm>("parallel", arguments);
}

void by_streams() {
  using Gemm = cutlass::gemm::device::GemmUniversal<half_t, Row, half_t, Column, half_t, Row, float, TensorOp, Sm80, Block, Warp, Instruction,
                                                    Linear<half_t, 8>, cutlass::gemm::threadblock::ThreadblockSwizzleStreamK, 3>;
  const int m = 64 * 3, n = 64, k = 320;
  const Operands<half_t, half_t, half_t> o("streams", m * k, k * n, m * n);
  Gemm::Arguments arguments(cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k}, 1, {1, 0.5F}, o.a, o.b, o.c, o.d, m * k, k * n, m * n, m * n,
                            k, k, n, n, 4);
  perform<Gemm>("streams", arguments);
}

void many() {
  using Gemm = cutlass::gemm::device::GemmBatched<half_t, Column, half_t, Row, float, Row, float, TensorOp, Sm80, Block, Warp, Instruction,
                                                  Linear<float, 4>, cutlass::gemm::threadblock::GemmBatchedIdentityThreadblockSwizzle, 3>;
  const int m = 40, n = 48, k = 72, count = 3;
  const Operands<half_t, half_t, float> o("batched", count * m * k, count * k * n, count * m * n);
  Gemm::Arguments arguments({m, n, k}, {o.a, m}, m * k, {o.b, n}, k * n, {o.c, n}, m * n, {o.d, n}, m * n, {1, 1}, count);
  perform<Gemm>("batched", arguments);
}

// Products of different sizes, whose tiles blocks that stay visit.
void grouped() {
  using Kernel = typename cutlass::gemm::kernel::DefaultGemmGrouped<
      half_t, Row, cutlass::ComplexTransform::kNone, 8, half_t, Column, cutlass::ComplexTransform::kNone, 8, float, Row, float, TensorOp, Sm80, Block,
      Warp, Instruction, Linear<float, 4>, cutlass::gemm::threadblock::GemmBatchedIdentityThreadblockSwizzle, 3,
      cutlass::gemm::kernel::GroupScheduleMode::kDeviceOnly>::GemmKernel;
  using Gemm = cutlass::gemm::device::GemmGrouped<Kernel>;
  constexpr int count = 3;
  static cutlass::gemm::GemmCoord sizes[count] = {{64, 64, 64}, {72, 40, 104}, {8, 136, 8}};
  std::int64_t lengths[3][count];
  half_t *a[count], *b[count];
  float *c[count], *d[count];
  for (int i = 0; i < count; ++i) {
    const auto [m, n, k] = std::array{sizes[i].m(), sizes[i].n(), sizes[i].k()};
    const char* const names[] = {"grouped0", "grouped1", "grouped2"};
    const Operands<half_t, half_t, float> o(names[i], m * k, k * n, m * n);
    a[i] = o.a, b[i] = o.b, c[i] = o.c, d[i] = o.d;
    lengths[0][i] = k, lengths[1][i] = k, lengths[2][i] = n;
  }
  const auto device = [](auto& host) {
    return given<std::decay_t<decltype(host[0])>>("grouped_arguments", count, [&](auto i) { return host[i]; });
  };
  std::int64_t* const lda = device(lengths[0]);
  std::int64_t* const ldc = device(lengths[2]);
  Gemm::Arguments arguments(device(sizes), count, 4, {1, 1}, device(a), device(b), device(c), device(d), lda, lda, ldc, ldc, sizes);
  perform<Gemm>("grouped", arguments);
}

int main() {
  one_after_the_other();
  at_once();
  by_streams();
  many();
  grouped();
  return cudaDeviceSynchronize();
}
