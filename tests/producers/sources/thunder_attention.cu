// ThunderKittens: attention for Hopper, forward and back, where a warp's TMA feeds warp groups of wgmma.
// targets: sm_90a -std=c++20 -DKITTENS_HOPPER --use_fast_math --expt-extended-lambda
// include: thunderkittens=include
// include: thunderkittens=prototype
// include: thunderkittens=kernels
#define main main_of_their_harness
#include <attention/mha_h100/mha_h100.cu>
#undef main

#include "program.cuh"

inline auto parts(std::uint32_t seed) {
  return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4) / 8; };
}

// Two heads of queries to one of keys and values; tensors NAME_q, NAME_k, NAME_v, NAME_o and NAME_l, the rows' logarithms.
template <int wide, bool causal>
void forward(const char* name, int rows) {
  using Globals = fwd_globals<wide>;
  constexpr unsigned heads = 2, keyed = 1;
  const auto named = [name](const char* what) { return std::string(name) + '_' + what; };
  bf16* const q = given<bf16>(named("q").c_str(), heads * rows * wide, parts(1));
  bf16* const k = given<bf16>(named("k").c_str(), keyed * rows * wide, parts(2));
  bf16* const v = given<bf16>(named("v").c_str(), keyed * rows * wide, parts(3));
  bf16* const o = made<bf16>(named("o").c_str(), heads * rows * wide);
  float* const l = made<float>(named("l").c_str(), heads * rows);
  const unsigned n = rows;
  Globals globals{{q, 1u, heads, n, unsigned(wide)}, {k, 1u, keyed, n, unsigned(wide)}, {v, 1u, keyed, n, unsigned(wide)},
                  {l, 1u, heads, 1u, n},   {o, 1u, heads, n, unsigned(wide)}, rows, int(heads / keyed)};
  fwd_attend_ker<wide, causal><<<dim3(rows / 192, heads, 1), 32 * NUM_WORKERS, kittens::MAX_SHARED_MEMORY - 1024>>>(globals);
  if (causal) return;
  // Back: NAME_og is what comes, NAME_qg, NAME_kg and NAME_vg go on.
  bf16* const og = given<bf16>(named("og").c_str(), heads * rows * wide, parts(4));
  float* const d = made<float>(named("d").c_str(), heads * rows);
  bwd_prep_globals<wide> prepared{{og, 1u, heads, n, unsigned(wide)}, {o, 1u, heads, n, unsigned(wide)}, {d, 1u, heads, 1u, n}};
  bwd_attend_prep_ker<wide><<<dim3(rows / 256 + (rows % 256 != 0), heads, 1), 128, kittens::MAX_SHARED_MEMORY - 1024>>>(prepared);
  bwd_globals<wide> back{{q, 1u, heads, n, unsigned(wide)},
                         {k, 1u, keyed, n, unsigned(wide)},
                         {v, 1u, keyed, n, unsigned(wide)},
                         {og, 1u, heads, n, unsigned(wide)},
                         {zeros<float>(named("qg").c_str(), heads * rows * wide), 1u, heads, n, unsigned(wide)},
                         {zeros<float>(named("kg").c_str(), keyed * rows * wide), 1u, keyed, n, unsigned(wide)},
                         {zeros<float>(named("vg").c_str(), keyed * rows * wide), 1u, keyed, n, unsigned(wide)},
                         {l, 1u, heads, 1u, n},
                         {d, 1u, heads, 1u, n},
                         rows,
                         int(heads / keyed)};
  bwd_attend_ker<wide, causal><<<dim3(rows / 128, heads, 1), 32 * BWD_NUM_WORKERS, 194000>>>(back);
}

int main() {
  forward<128, false>("whole", 384);
  forward<64, true>("causal", 384);
  return cudaDeviceSynchronize();
}
