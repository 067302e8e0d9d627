// CUTLASS 3.x: Hopper's kernels in clusters whose blocks share what they load by multicast; sums split by streams; a bias and an
// activation in the epilogue; words of 8 bits that become f16 in registers; several products, whose tensor maps the kernel makes.
// targets: sm_90a
// include: cutlass=include
// include: cutlass=tools/util/include
#include <cutlass/cutlass.h>
#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/thread/activation.h>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/group_array_problem_shape.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

#include "operands.cuh"

using namespace cute;
using cutlass::half_t;
using cutlass::arch::OpClassTensorOp;
using cutlass::arch::Sm90;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using cutlass::epilogue::collective::EpilogueTileAuto;

template <class A, class B, class D, class Tile, class Cluster, class Mainloop, class Epilogue, class Fusion, class Shape, class Scheduler,
          class LayoutA = Row, class LayoutB = Column, class LayoutD = Row>
struct Made {
  using CollectiveEpilogue =
      typename cutlass::epilogue::collective::CollectiveBuilder<Sm90, OpClassTensorOp, Tile, Cluster, EpilogueTileAuto, float, float, D, LayoutD,
                                                                16 / sizeof(D), D, LayoutD, 16 / sizeof(D), Epilogue, Fusion>::CollectiveOp;
  using CollectiveMainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      Sm90, OpClassTensorOp, A, LayoutA, 16 / sizeof(A), B, LayoutB, 16 / sizeof(B), float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename CollectiveEpilogue::SharedStorage))>,
      Mainloop>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape, CollectiveMainloop, CollectiveEpilogue, Scheduler>;
  using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
};
using One = Shape<int, int, int, int>;
template <class D>
using Linear = cutlass::epilogue::fusion::LinearCombination<D, float>;

template <class M, class A, class B, class D>
typename M::Gemm::Arguments arguments_of(const Operands<A, B, D>& o, int m, int n, int k) {
  using Kernel = typename M::Kernel;
  typename M::Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                        {m, n, k, 1},
                                        {o.a, cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, {m, k, 1}), o.b,
                                         cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, {n, k, 1})},
                                        {{},
                                         o.c,
                                         cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, {m, n, 1}),
                                         o.d,
                                         cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, {m, n, 1})}};
  arguments.epilogue.thread.alpha = 1;
  arguments.epilogue.thread.beta = 1;
  arguments.hw_info.sm_count = 4;
  return arguments;
}

template <class M, class A, class B, class D>
void run(const char* name, int m, int n, int k) {
  const Operands<A, B, D> o(name, m * k, k * n, m * n);
  auto arguments = arguments_of<M, A, B, D>(o, m, n, k);
  perform<typename M::Gemm>(name, arguments);
}

void streams() {
  using M = Made<half_t, half_t, float, Shape<_128, _64, _64>, Shape<_1, _1, _1>, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                 cutlass::epilogue::TmaWarpSpecializedCooperative, Linear<float>, One, cutlass::gemm::StreamKScheduler>;
  const int m = 128, n = 192, k = 512;
  const Operands<half_t, half_t, float> o("streams", m * k, k * n, m * n);
  auto arguments = arguments_of<M, half_t, half_t, float>(o, m, n, k);
  perform<M::Gemm>("streams", arguments);
}

void fused() {
  using Fusion = cutlass::epilogue::fusion::LinCombPerRowBiasEltAct<cutlass::epilogue::thread::ReLU, half_t, float, float>;
  using M = Made<half_t, half_t, half_t, Shape<_64, _64, _64>, Shape<_1, _1, _1>, cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                 cutlass::epilogue::TmaWarpSpecialized, Fusion, One, void>;
  const int m = 128, n = 64, k = 64;
  const Operands<half_t, half_t, half_t> o("fused", m * k, k * n, m * n);
  auto arguments = arguments_of<M, half_t, half_t, half_t>(o, m, n, k);
  arguments.epilogue.thread.bias_ptr = given<float>("fused_bias", m, small_numbers(4));
  perform<M::Gemm>("fused", arguments);
}

// Products of different sizes: the kernel changes its tensor maps as it goes from one to the next.
void grouped() {
  using Sizes = cutlass::gemm::GroupProblemShape<Shape<int, int, int>>;
  using M = Made<half_t, half_t, float, Shape<_128, _64, _64>, Shape<_2, _1, _1>, cutlass::gemm::KernelPtrArrayTmaWarpSpecializedCooperative,
                 cutlass::epilogue::PtrArrayTmaWarpSpecializedCooperative, Linear<float>, Sizes, void, Row*, Column*, Row*>;
  using Kernel = M::Kernel;
  constexpr int count = 3;
  Sizes::UnderlyingProblemShape sizes[count] = {{136, 64, 72}, {64, 72, 200}, {256, 8, 64}};
  const half_t *a[count], *b[count];
  const float* c[count];
  float* d[count];
  Kernel::InternalStrideA stride_a[count];
  Kernel::InternalStrideB stride_b[count];
  Kernel::InternalStrideC stride_c[count];
  Kernel::InternalStrideD stride_d[count];
  for (int i = 0; i < count; ++i) {
    const auto [m, n, k] = sizes[i];
    const char* const names[] = {"grouped0", "grouped1", "grouped2"};
    const Operands<half_t, half_t, float> o(names[i], m * k, k * n, m * n);
    a[i] = o.a, b[i] = o.b, c[i] = o.c, d[i] = o.d;
    stride_a[i] = cutlass::make_cute_packed_stride(Kernel::InternalStrideA{}, {m, k, 1});
    stride_b[i] = cutlass::make_cute_packed_stride(Kernel::InternalStrideB{}, {n, k, 1});
    stride_c[i] = cutlass::make_cute_packed_stride(Kernel::InternalStrideC{}, {m, n, 1});
    stride_d[i] = cutlass::make_cute_packed_stride(Kernel::InternalStrideD{}, {m, n, 1});
  }
  const auto device = [](auto& host) {
    using T = std::decay_t<decltype(host[0])>;
    T* const memory = made<T>("grouped_arguments", count);
    cudaMemcpy(memory, host, sizeof(host), cudaMemcpyHostToDevice);
    return memory;
  };
  M::Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGrouped,
                               {count, device(sizes), sizes},
                               {device(a), device(stride_a), device(b), device(stride_b)},
                               {{}, device(c), device(stride_c), device(d), device(stride_d)}};
  arguments.epilogue.thread.alpha = 2;
  arguments.epilogue.thread.beta = 1;
  arguments.hw_info.sm_count = 4;
  perform<M::Gemm>("grouped", arguments);
}

int main() {
  using namespace cutlass::gemm;
  using namespace cutlass::epilogue;
  run<Made<half_t, half_t, float, Shape<_64, _64, _64>, Shape<_2, _1, _1>, KernelTmaWarpSpecialized, TmaWarpSpecialized, Linear<float>, One, void>,
      half_t, half_t, float>("two", 136, 72, 200);
  run<Made<half_t, half_t, half_t, Shape<_128, _64, _64>, Shape<_2, _2, _1>, KernelTmaWarpSpecializedCooperative, TmaWarpSpecializedCooperative,
           Linear<half_t>, One, PersistentScheduler>,
      half_t, half_t, half_t>("four", 264, 136, 136);
  run<Made<std::int8_t, half_t, float, Shape<_64, _64, _64>, Shape<_1, _2, _1>, KernelTmaWarpSpecializedPingpong, TmaWarpSpecialized,
           Linear<float>, One, void>,
      std::int8_t, half_t, float>("mixed", 64, 136, 144);
  streams();
  fused();
  grouped();
  return cudaDeviceSynchronize();
}
