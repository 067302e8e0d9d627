// RMS norm, one block a row: y = x * w / sqrt(mean(x^2) + eps). f32 or bfloat16 in and out, f32 between. The twin of
// examples/hopper/rms_norm.py and of what it takes from examples/rows.py, line for line: both print the same PTX.
//
//     row of N elements   | t0 | t1 | t2 | … | t255 | t0 | t1 | … | t255 | t0 | …  |
//                          16 B  pass 0               pass 1               pass 2, perhaps not full
#pragma once

#include <ptx/ptx.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

using namespace ptx;

constexpr int warp_size = 32;
constexpr int load_bytes = 16;  // ld.global.v4, the most that one thread loads at once
constexpr int max_threads = 1024;
constexpr int kept_values = 32;       // of a row, in a thread's registers: with 1024 threads there are 64 registers each
constexpr int longest_row = 1 << 18;  // of unrolled passes there are 64 then

using Guard = std::optional<Reg<pred>>;  // nothing: every thread
using Values = std::vector<Reg<f32>>;

inline Inst guarded(Inst instruction, const Guard& guard) {
  return guard ? std::move(instruction).on(*guard) : std::move(instruction);
}

// `count` new registers, with a value or without.
template <Type T, class Value>
std::vector<Reg<T>> fresh(Kernel& k, int count, const std::optional<Value>& value) {
  std::vector<Reg<T>> registers;
  for (int i = 0; i < count; ++i) registers.push_back(value ? k.scalar<T>(*value) : k.scalar<T>());
  return registers;
}

// How a row of N elements is split among the threads of a block.
struct Row {
  Type dtype;
  int vector, bytes, loads, threads, passes;
  bool is_kept;

  Row(int N, Type element) : dtype(element) {
    if (dtype != f32 && dtype != bf16) throw std::invalid_argument("these kernels take f32 or bf16");
    vector = dtype == f32 ? 4 : 8;  // elements a load
    if (N <= 0 || N % vector != 0 || N > longest_row)
      throw std::invalid_argument("N is " + std::to_string(N) + "; it must be a multiple of " + std::to_string(vector) +
                                  ", up to " + std::to_string(longest_row));
    bytes = N * (load_bytes / vector);
    loads = N / vector;  // of the whole row
    // The fewest threads, in whole warps and a power of two, that have 16 values each; a longer row gives them more.
    threads = warp_size;
    while (threads < max_threads && threads * 16 < N) threads *= 2;
    passes = (loads + threads - 1) / threads;
    is_kept = passes * vector <= kept_values;
  }

  // Moves the pointer to a row. 64 bits: a tensor may be larger than 4 GiB.
  void start(Kernel& k, Reg<b64>& pointer, const Reg<u32>& row) const {
    auto offset = k.scalar<u64>();
    k << inst.mul.wide.u32(offset, row, bytes);
    pointer += offset;
  }

  // Per pass: nothing where every thread has elements, else the predicate of those that have. Only the last pass needs one.
  std::vector<Guard> guards(const Reg<u32>& tid) const {
    const int left = loads - (passes - 1) * threads;
    std::vector<Guard> result(passes);
    if (left < threads) result.back() = tid < left;
    return result;
  }

  // The thread's elements of pass i, as f32 registers; 0 in those of threads that have none.
  // `.nc`: nobody writes the inputs while the kernel runs. That lets ptxas move these loads ahead of earlier stores.
  Values load(Kernel& k, const Reg<b64>& pointer, int i, const Guard& guard) const {
    const auto address = addr(pointer, i * threads * load_bytes);
    if (dtype == f32) {
      auto v = fresh<f32>(k, 4, guard ? std::optional(0.0) : std::nullopt);
      k << guarded(inst.ld.global_.nc.v4.f32(vec(v[0], v[1], v[2], v[3]), address), guard);
      return v;
    }
    // Two bfloat16 a word, and each is the upper half of the f32 with the same value.
    auto words = fresh<b32>(k, 4, guard ? std::optional(0) : std::nullopt);
    k << guarded(inst.ld.global_.nc.v4.b32(vec(words[0], words[1], words[2], words[3]), address), guard);
    auto values = fresh<f32>(k, 8, std::optional<double>());
    for (int w = 0; w < 4; ++w) {
      k << inst.shl.b32(values[2 * w], words[w], 16);
      k << inst.and_.b32(values[2 * w + 1], words[w], 0xFFFF0000);
    }
    return values;
  }

  // Stores the thread's elements of pass i.
  void store(Kernel& k, const Reg<b64>& pointer, int i, const Guard& guard, const Values& v) const {
    const auto address = addr(pointer, i * threads * load_bytes);
    if (dtype == f32) {
      k << guarded(inst.st.global_.v4.f32(address, vec(v[0], v[1], v[2], v[3])), guard);
      return;
    }
    auto words = fresh<b32>(k, 4, std::optional<int>());
    for (int w = 0; w < 4; ++w)  // rounds both; the first goes to the upper half
      k << inst.cvt.rn.bf16x2.f32(words[w], v[2 * w + 1], v[2 * w]);
    k << guarded(inst.st.global_.v4.b32(address, vec(words[0], words[1], words[2], words[3])), guard);
  }

  // A function of the pass that gives its elements: of a short row from registers, of a long one from memory each time.
  auto reader(Kernel& k, const Reg<b64>& pointer, const std::vector<Guard>& guards) const {
    std::vector<Values> kept;
    for (int i = 0; is_kept && i < passes; ++i) kept.push_back(load(k, pointer, i, guards[i]));
    return [this, &k, pointer, guards, kept](int i) { return is_kept ? kept[i] : load(k, pointer, i, guards[i]); };
  }

  // The sum of every thread's `value` over the block, for all of them: warps first, then the warps' sums by way of shared memory.
  Reg<f32> all_sum(Kernel& k, const Reg<f32>& value, const Reg<u32>& tid) const {
    warp::reduce_sum(value);
    const int warps = threads / warp_size;
    if (warps == 1) return value;
    auto partial = k.smem.alloc<f32>({warps, 1});
    k.if_((tid & (warp_size - 1)) == 0, [&] { partial.store(tid >> 5, 0, value); });
    k.bar.sync(0);
    auto total = partial.load(tid & (warps - 1), 0);
    warp::reduce_sum(total, warps);
    return total;
  }
};

// Y = rms_norm(X, W) for X[B, N] and W[N]; N is a multiple of 4, of 8 for bf16. All lie 16-byte aligned.
inline Kernel rms_norm(int B, int N, double eps = 1e-6, Target arch = sm_90a, Type dtype = f32) {
  const Row row(N, dtype);
  Kernel k({.name = "rms_norm",
            .in_specs = {{"X", {B, N}, dtype}, {"W", {N}, dtype}},
            .out_specs = {{"Y", {B, N}, dtype}},
            .grid = {B, 1, 1},
            .block = {row.threads, 1, 1},
            .arch = arch,
            .raw_directives = {{"reqntid", {static_cast<unsigned>(row.threads), 1, 1}}}});

  auto [px, pw, py] = k.global_ptrs("X", "W", "Y");
  auto tid = k.from_<u32>(special.tid.x());
  auto this_row = k.from_<u32>(special.ctaid.x());
  for (auto* pointer : {&px, &py}) row.start(k, *pointer, this_row);
  for (auto* pointer : {&px, &pw, &py}) *pointer += tid * 16;
  auto guards = row.guards(tid);

  // the sum of the squares of the row
  auto x_of = row.reader(k, px, guards);
  auto sum_sq = k.scalar<f32>(0.0);
  for (int i = 0; i < row.passes; ++i)  // a C++ loop is an unrolled PTX loop
    for (auto& x : x_of(i)) k << inst.fma.rn.f32(sum_sq, x, x, sum_sq);
  sum_sq = row.all_sum(k, sum_sq, tid);

  // 1 / sqrt(mean + eps)
  auto rstd = k.scalar<f32>();
  k << inst.mul.f32(rstd, sum_sq, 1.0 / N);
  k << inst.add.f32(rstd, rstd, eps);
  k << inst.rsqrt.approx.f32(rstd, rstd);

  // the row once more, scaled
  for (int i = 0; i < row.passes; ++i) {
    auto xs = x_of(i);
    auto ws = row.load(k, pw, i, guards[i]);
    for (int j = 0; j < row.vector; ++j) {
      k << inst.mul.f32(xs[j], xs[j], rstd);
      k << inst.mul.f32(xs[j], xs[j], ws[j]);
    }
    row.store(k, py, i, guards[i], xs);
  }
  k << inst.ret();
  return k;
}

}  // namespace examples
