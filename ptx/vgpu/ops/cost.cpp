// What the timeline takes instructions to cost, by what they are called.
#include "ptx/vgpu/timeline/cost.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::vgpu::timeline {
namespace {

std::vector<std::string_view> words_of(std::string_view spelled) {
  std::vector<std::string_view> words;
  while (!spelled.empty()) {
    const std::size_t end = std::min(spelled.find('.'), spelled.size());
    words.push_back(spelled.substr(0, end));
    spelled.remove_prefix(std::min(end + 1, spelled.size()));
  }
  return words;
}

bool has(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool has_any(const std::vector<std::string_view>& words, std::initializer_list<std::string_view> some) {
  return std::any_of(some.begin(), some.end(), [&](std::string_view word) { return has(words, word); });
}

std::uint32_t number_in(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  std::uint32_t value = 0;
  if (first != std::string_view::npos) std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

// Bits of a type's name, "f16x2", "e4m3", "b128"; 0 for a word that is none.
std::uint32_t bits_of(std::string_view word) {
  constexpr std::pair<std::string_view, std::uint32_t> odd[] = {{"bf16", 16}, {"bf16x2", 32}, {"f16x2", 32},  {"tf32", 32},
                                                                {"e4m3", 8},  {"e5m2", 8},    {"e2m3", 8},    {"e3m2", 8},
                                                                {"e2m1", 4},  {"e4m3x2", 16}, {"e5m2x2", 16}, {"u16x2", 32}};
  for (const auto& [name, bits] : odd)
    if (name == word) return bits;
  if (word.size() < 2 || std::string_view("bfsu").find(word[0]) == std::string_view::npos) return 0;
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), bits);
  return error == std::errc() && end == word.data() + word.size() ? bits : 0;
}

std::uint32_t last_bits(const std::vector<std::string_view>& words) {
  for (std::size_t i = words.size(); i-- > 1;)
    if (const std::uint32_t bits = bits_of(words[i]); bits != 0) return bits;
  return 32;
}

// "m64n256k16"
struct Shape {
  std::string_view word;
  std::uint64_t m = 0, n = 0, k = 0;
};
Shape shape_in(const std::vector<std::string_view>& words) {
  for (const std::string_view word : words) {
    const std::size_t n = word.find('n'), k = word.find('k');
    if (word.size() < 6 || word[0] != 'm' || n == std::string_view::npos || k == std::string_view::npos || n > k) continue;
    return {word, number_in(word), number_in(word.substr(n)), number_in(word.substr(k))};
  }
  return {};
}

// Bits of an element of a: the second type of d.a.b.c.
std::uint32_t multiplied_bits(const std::vector<std::string_view>& words) {
  std::vector<std::uint32_t> types;
  for (const std::string_view word : words)
    if (const std::uint32_t bits = bits_of(word); bits != 0) types.push_back(bits);
  return types.size() > 1 ? types[1] : types.empty() ? 16 : types[0];
}

InstructionCost product(const std::vector<std::string_view>& words, Work work) {
  const Shape shape = shape_in(words);
  InstructionCost cost{.work = work, .issue = 1, .latency = mma_latency, .name = cat(words[0], ' ', shape.word)};
  // wgmma's shape is that of four warps, each of which has a quarter on its own tensor core.
  const std::uint64_t products = shape.m * shape.n * shape.k / (work == Work::wgmma ? 4 : 1);
  const std::uint64_t sparse = has_any(words, {"sp", "sp::ordered_metadata"}) ? 2 : 1;
  cost.cycles =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, products * multiplied_bits(words) / 16 / mma_a_cycle / sparse));
  return cost;
}

InstructionCost memory(const std::vector<std::string_view>& words, Work work) {
  std::uint32_t count = 1;
  for (const std::string_view word : words)
    if (word == "v2" || word == "v4" || word == "v8") count = number_in(word);
  InstructionCost cost{.work = work, .issue = 1, .latency = global_latency, .bytes = count * last_bits(words) / 8};
  if (has_any(words, {"shared", "shared::cta", "shared::cluster"}))
    cost.latency = work == Work::update ? 2 * shared_latency : shared_latency;
  else if (has_any(words, {"param", "const", "param::entry", "param::func"}))
    cost.latency = constant_latency;
  return cost;
}

InstructionCost compute(const std::vector<std::string_view>& words) {
  const std::string_view op = words[0];
  const auto is = [&](std::initializer_list<std::string_view> some) {
    return std::find(some.begin(), some.end(), op) != some.end();
  };
  const std::uint32_t bits = last_bits(words);
  const bool approximate = has_any(words, {"approx", "full"});
  if (is({"rcp", "rsqrt", "sqrt", "sin", "cos", "ex2", "lg2", "tanh"}) && approximate) return {.issue = 8, .latency = 20};
  if (is({"div", "rem", "rcp", "rsqrt", "sqrt"})) return {.issue = 16, .latency = bits == 64 ? 120u : 60u};
  if (is({"shfl", "redux"})) return {.issue = 4, .latency = 24};
  if (is({"vote", "match", "activemask", "elect", "cvt", "popc", "clz", "brev", "bfind"})) return {.issue = 2, .latency = 8};
  if (is({"mov", "bra", "ret", "exit", "nop"})) return {.issue = 1, .latency = 4};
  const bool floats = std::any_of(words.begin() + 1, words.end(), [](std::string_view word) {
    return bits_of(word) != 0 && (word[0] == 'f' || word.starts_with("bf"));
  });
  if (floats) return bits == 64 ? InstructionCost{.issue = 2, .latency = 8} : InstructionCost{.issue = 1, .latency = 4};
  return {.issue = bits == 64 ? 4u : 2u, .latency = bits == 64 ? 8u : 4u};
}

constexpr std::array<std::string_view, 12> all_assumptions{
    "A tick is a cycle of a model, not of a GPU: order and what waits for what are meant, not how long it takes.",
    "Each block has a multiprocessor of its own, with the clock of its warps and the engines below; 132 blocks run at a time.",
    "A warp issues its instructions in order, without a rival: 1 cycle for 32-bit floating point, moves, memory and branches, 2 "
    "for integers and conversions, 4 for shuffles and 64-bit integers, 8 for approximations, 16 for divisions (results in a "
    "clock "
    "and multiprocessor, CUDA C++ Programming Guide, arithmetic instructions of compute capability 9.0).",
    "An instruction waits until the registers that it reads are there: 4 cycles after arithmetic, 30 after a load of shared "
    "memory, 500 of global memory, 8 of parameters.",
    "An access of shared memory takes a cycle for each wavefront: 32 banks of 4 bytes, lanes taken 32, 16 or 8 at a time for "
    "accesses of 4, 8 or 16 bytes, equal words once. One of global memory takes a cycle for each 4 sectors of 32 bytes. Accesses "
    "of a block's warps take turns; a warp comes to a barrier when its own have had theirs.",
    "A copy of cp.async, cp.async.bulk or a tensor moves 32 bytes in a cycle, one copy after the other on the block's engine, "
    "500 cycles after it began at the earliest. Caches and other blocks change nothing.",
    "A tensor core, one for each fourth of a block's warps, takes 512 multiplications and additions of 16-bit values in a cycle, "
    "of 8-bit values twice and of 32-bit values half as many; wgmma's four warps use one each; what sparsity leaves out is not "
    "done.",
    "tcgen05.mma takes 4096 of them in a cycle, one product after the other.",
    "A wait at a barrier or an mbarrier ends 8 cycles after the last arrival, or the last byte, of its phase. A loop that polls "
    "an mbarrier costs nothing beside the wait.",
    "A loop that polls memory costs what its instructions cost, and nothing waits for the store that ends it.",
    "Instructions of one warp whose lanes have parted follow one another.",
    "What groups of asynchronous copies complete is followed by warp, not by thread.",
};

}  // namespace

InstructionCost cost_of(std::string_view spelled) {
  const std::vector<std::string_view> words = words_of(spelled);
  if (words.empty()) return {};
  const std::string_view op = words[0];
  if (op == "ld" || op == "ldu") return memory(words, Work::load);
  if (op == "st" && has_any(words, {"async", "bulk"}))
    return {.work = Work::begins, .name = std::string(spelled), .engine = "st.async"};
  if (op == "st") return memory(words, Work::store);
  if (op == "atom" || op == "red")
    return has(words, "async") ? InstructionCost{.work = Work::begins, .name = std::string(spelled), .engine = "st.async"}
                               : memory(words, Work::update);
  if (op == "ldmatrix" || op == "stmatrix") {
    const std::uint32_t matrices = has(words, "x4") ? 4 : has(words, "x2") ? 2 : 1;
    return {.work = Work::matrix, .issue = 1, .latency = shared_latency, .bytes = 16, .cycles = matrices};
  }
  if (op == "mma") return product(words, Work::mma);
  if (op == "wmma" && has(words, "mma")) return product(words, Work::mma);
  if (op == "wgmma") {
    if (has(words, "mma_async")) return product(words, Work::wgmma);
    if (has(words, "commit_group")) return {.work = Work::wgmma_commit, .name = "wgmma.commit_group"};
    if (has(words, "wait_group")) return {.work = Work::wgmma_wait, .name = "wgmma.wait_group"};
    return {};
  }
  if (op == "tcgen05") {
    if (has(words, "commit")) return {.work = Work::tensor_commit, .name = "tcgen05.commit"};
    if (has(words, "mma")) return {.work = Work::begins, .name = "tcgen05.mma", .engine = "tcgen05"};
    return {.issue = 1, .latency = shared_latency};
  }
  if (op == "cp" && has_any(words, {"async", "reduce"})) {
    const bool meets = has_any(words, {"commit_group", "wait_group", "wait_all", "mbarrier"});
    const bool bulk = has(words, "bulk") || has(words, "reduce");
    return {.work = meets ? Work::meets : Work::begins, .name = std::string(spelled), .engine = bulk ? "TMA" : "cp.async"};
  }
  if (op == "bar" || op == "barrier" || op == "mbarrier")
    return {.work = Work::meets, .asks = has_any(words, {"try_wait", "test_wait"}), .name = std::string(spelled)};
  return compute(words);
}

std::span<const std::string_view> assumptions() { return all_assumptions; }

}  // namespace ptx::vgpu::timeline
