// Attention in one kernel, on tensor cores of Ampere: example 41 of CUTLASS.
// targets: sm_80
// include: cutlass=include
// include: cutlass=tools/util/include
// include: cutlass=examples
// include: curand=include
#include <41_fused_multi_head_attention/kernel_forward.h>

#include "operands.cuh"

using cutlass::half_t;

// Tensors NAME_q, NAME_k, NAME_v and NAME_o: images, rows, heads, numbers; of queries and keys multiples of 1/8 from -1/2 to 1/2.
template <class Attention>
void ampere(const char* name, int images, int heads, int queries, int keys, int wide, int value_wide, bool causal) {
  char names[5][64];
  for (int i = 0; i < 5; ++i) snprintf(names[i], 64, "%s_%s", name, &"q\0k\0v\0o\0l"[2 * i]);
  const auto small = [](std::uint32_t seed) { return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4) / 8; }; };
  typename Attention::Params p;
  p.query_ptr = given<half_t>(names[0], images * queries * heads * wide, small(1));
  p.key_ptr = given<half_t>(names[1], images * keys * heads * wide, small(2));
  p.value_ptr = given<half_t>(names[2], images * keys * heads * value_wide, small(3));
  p.output_ptr = made<half_t>(names[3], images * queries * heads * value_wide);
  const int lines = (queries + Attention::kAlignLSE - 1) / Attention::kAlignLSE * Attention::kAlignLSE;
  p.logsumexp_ptr = made<float>(names[4], images * heads * lines);
  if (Attention::kNeedsOutputAccumulatorBuffer)
    p.output_accum_ptr = made<typename Attention::output_accum_t>("room", images * queries * heads * value_wide);
  p.scale = 0.5F;
  p.num_heads = heads, p.num_batches = images, p.head_dim = wide, p.head_dim_value = value_wide, p.num_queries = queries, p.num_keys = keys;
  if (causal) p.custom_mask_type = Attention::CausalFromTopLeft;
  p.q_strideH = wide, p.k_strideH = wide, p.v_strideH = value_wide;
  p.q_strideM = p.k_strideM = heads * wide, p.v_strideM = p.o_strideM = heads * value_wide;
  p.q_strideB = p.q_strideM * queries, p.k_strideB = p.k_strideM * keys, p.v_strideB = p.v_strideM * keys;
  if (!Attention::check_supported(p)) exit(1);
  attention_kernel_batched_impl<Attention><<<p.getBlocksGrid(), p.getThreadsGrid(), sizeof(typename Attention::SharedStorage)>>>(p);
}

int main() {
  using cutlass::arch::Sm80;
  ampere<AttentionKernel<half_t, Sm80, true, 64, 64, 64, false, false>>("whole", 2, 2, 70, 90, 64, 64, false);
  ampere<AttentionKernel<half_t, Sm80, true, 32, 128, 128, false, false>>("causal", 1, 3, 100, 100, 96, 72, true);
  return cudaDeviceSynchronize();
}
