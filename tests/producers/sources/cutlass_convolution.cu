// CUTLASS 2.x: convolutions as products of matrices, forward and both ways back, with strides, dilation and padding.
// targets: sm_80
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/conv/conv2d_problem_size.h>
#include <cutlass/conv/device/implicit_gemm_convolution.h>
#include <cutlass/conv/kernel/default_conv2d_dgrad.h>
#include <cutlass/conv/kernel/default_conv2d_fprop.h>
#include <cutlass/conv/kernel/default_conv2d_wgrad.h>
#include <cutlass/epilogue/thread/linear_combination.h>

#include "operands.cuh"

using cutlass::half_t;
using cutlass::conv::IteratorAlgorithm, cutlass::conv::StrideSupport;
using cutlass::gemm::GemmShape;
using Nhwc = cutlass::layout::TensorNHWC;
using TensorOp = cutlass::arch::OpClassTensorOp;
using cutlass::arch::Sm80;
using InOrder = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>;
using Linear = cutlass::epilogue::thread::LinearCombination<float, 4, float, float>;
using Block = GemmShape<64, 64, 32>;
using Warp = GemmShape<32, 32, 32>;
using Instruction = GemmShape<16, 8, 16>;

// The three tensors are NAME_a, NAME_b and NAME_c: of a convolution forward its input, its filters and what is added.
template <class Kernel>
void run(const char* name, const cutlass::conv::Conv2dProblemSize& problem) {
  using Convolution = cutlass::conv::device::ImplicitGemmConvolution<Kernel>;
  constexpr auto way = Kernel::kConvolutionalOperator;
  const auto layout = [](const cutlass::Tensor4DCoord& extent) { return Nhwc::packed(extent); };
  const auto extent_a = cutlass::conv::implicit_gemm_tensor_a_extent(way, problem);
  const auto extent_b = cutlass::conv::implicit_gemm_tensor_b_extent(way, problem);
  const auto extent_c = cutlass::conv::implicit_gemm_tensor_c_extent(way, problem);
  const Operands<half_t, half_t, float> o(name, extent_a.product(), extent_b.product(), extent_c.product());
  typename Convolution::Arguments arguments(problem, {o.a, layout(extent_a)}, {o.b, layout(extent_b)}, {o.c, layout(extent_c)},
                                            {o.d, layout(extent_c)}, {1, 1});
  perform<Convolution>(name, arguments);
}

template <IteratorAlgorithm algorithm, int wide>
using Forward = typename cutlass::conv::kernel::DefaultConv2dFprop<half_t, Nhwc, half_t, Nhwc, float, Nhwc, float, TensorOp, Sm80, Block, Warp, Instruction,
                                                                   Linear, InOrder, 3, cutlass::arch::OpMultiplyAdd, algorithm, StrideSupport::kStrided,
                                                                   wide, wide>::Kernel;
using ToInput = typename cutlass::conv::kernel::DefaultConv2dDgrad<half_t, Nhwc, half_t, Nhwc, float, Nhwc, float, TensorOp, Sm80, Block, Warp, Instruction,
                                                                   Linear, cutlass::conv::threadblock::StridedDgradIdentityThreadblockSwizzle<>, 3,
                                                                   cutlass::arch::OpMultiplyAdd, IteratorAlgorithm::kOptimized,
                                                                   StrideSupport::kStrided>::Kernel;
using ToFilters = typename cutlass::conv::kernel::DefaultConv2dWgrad<half_t, Nhwc, half_t, Nhwc, float, Nhwc, float, TensorOp, Sm80, Block, Warp,
                                                                     Instruction, Linear, InOrder, 3, cutlass::arch::OpMultiplyAdd,
                                                                     IteratorAlgorithm::kOptimized>::Kernel;

int main() {
  using Problem = cutlass::conv::Conv2dProblemSize;
  const auto cross = cutlass::conv::Mode::kCrossCorrelation;
  run<Forward<IteratorAlgorithm::kOptimized, 8>>("forward", Problem({2, 9, 7, 16}, {24, 3, 3, 16}, {1, 1, 1, 1}, {1, 1}, {1, 1}, cross, 1));
  run<Forward<IteratorAlgorithm::kAnalytic, 8>>("strided", Problem({1, 11, 13, 8}, {8, 3, 2, 8}, {2, 2, 1, 1}, {2, 3}, {2, 1}, cross, 1));
  run<Forward<IteratorAlgorithm::kOptimized, 8>>("turned", Problem({1, 6, 6, 8}, {8, 3, 3, 8}, {1, 1, 1, 1}, {1, 1}, {1, 1},
                                                                   cutlass::conv::Mode::kConvolution, 1));
  run<Forward<IteratorAlgorithm::kFewChannels, 2>>("few_channels", Problem({1, 8, 8, 2}, {16, 3, 3, 2}, {1, 1, 1, 1}, {1, 1}, {1, 1}, cross, 1));
  run<ToInput>("to_input", Problem({1, 10, 9, 16}, {8, 3, 3, 16}, {1, 1, 1, 1}, {2, 2}, {1, 1}, cross, 1));
  run<ToFilters>("to_filters", Problem({2, 8, 6, 8}, {16, 3, 3, 8}, {1, 1, 1, 1}, {1, 1}, {1, 1}, cross, 2));
  return cudaDeviceSynchronize();
}
