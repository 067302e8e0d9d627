#include "ptx/flow/definedness.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/flow/search.hpp"

namespace ptx::flow {
namespace {

// 512 registers at a time, a bit each.
struct Bits {
  static constexpr std::size_t count = 512;
  std::array<std::uint64_t, count / 64> words{};
  [[nodiscard]] bool has(std::size_t bit) const { return (words[bit / 64] >> (bit % 64) & 1) != 0; }
  void add(std::size_t bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); }
};

// What is written on every way to the start of each block, from what each block writes.
void settle(const Graph& graph, const Search& search, const std::vector<Bits>& written, std::vector<Bits>& defined) {
  for (Bits& bits : defined) bits.words.fill(~std::uint64_t{0});
  defined[0] = {};
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = search.postorder.rbegin(); at != search.postorder.rend(); ++at) {
      Bits& here = defined[*at];
      Bits now = here;
      for (const std::uint32_t from : graph.predecessors(*at)) {
        if (search.number[from] == none) continue;
        for (std::size_t i = 0; i < now.words.size(); ++i) now.words[i] &= defined[from].words[i] | written[from].words[i];
      }
      changed |= now.words != here.words;
      here = now;
    }
  }
}

// A read that no write in its block comes before.
struct Exposed {
  std::uint32_t reg, instruction, block;
};

}  // namespace

void Uses::reserve(std::size_t instructions, std::size_t mentions) {
  instructions_.reserve(instructions);
  mentions_.reserve(mentions);
}

std::uint32_t Uses::at(std::uint32_t item) const {
  const auto found =
      std::lower_bound(instructions_.begin(), instructions_.end(), item,
                       [](const Instruction& instruction, std::uint32_t place) { return instruction.item < place; });
  return static_cast<std::uint32_t>(found - instructions_.begin());
}

std::vector<MaybeUndefined> find_maybe_undefined(const Graph& graph, const Uses& uses, std::size_t registers) {
  // Forward, over all paths: a register is defined where every way there writes it.
  const Search search(graph);
  std::vector<Exposed> exposed;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;  // register, block
  Ids written_in(registers, none), last_read(registers, none);
  std::vector<bool> always(registers);  // written in the first block, so that all others find it
  for (const std::uint32_t b : search.preorder) {
    const std::uint32_t end = uses.at(graph.block(b).end);
    for (std::uint32_t i = uses.at(graph.block(b).begin); i < end; ++i) {
      uses.each_read(i, [&](std::uint32_t reg) {
        if (written_in[reg] == b || last_read[reg] == i || always[reg]) return;
        last_read[reg] = i;
        exposed.push_back({reg, i, b});
      });
      if (uses.is_guarded(i)) continue;
      uses.each_write(i, [&](std::uint32_t reg) {
        if (written_in[reg] == b) return;
        written_in[reg] = b;
        writes.emplace_back(reg, b);
        if (b == 0) always[reg] = true;
      });
    }
  }
  if (exposed.empty()) return {};
  std::sort(exposed.begin(), exposed.end(),
            [](const Exposed& a, const Exposed& b) { return a.reg != b.reg ? a.reg < b.reg : a.instruction < b.instruction; });
  std::sort(writes.begin(), writes.end());
  std::vector<MaybeUndefined> found;
  std::vector<Bits> defined(graph.size()), written(graph.size());
  auto write = writes.begin();
  for (std::size_t at = 0; at < exposed.size();) {
    // The next registers with such reads, as many as there are bits.
    std::size_t end = at, bit = 0;
    const std::size_t begin = at;
    std::fill(written.begin(), written.end(), Bits{});
    for (; end < exposed.size(); ++end) {
      const bool is_new = end == begin || exposed[end].reg != exposed[end - 1].reg;
      if (!is_new) continue;
      if (bit == Bits::count) break;
      while (write != writes.end() && write->first < exposed[end].reg) ++write;
      for (; write != writes.end() && write->first == exposed[end].reg; ++write) written[write->second].add(bit);
      ++bit;
    }
    settle(graph, search, written, defined);
    bit = 0;
    for (; at < end; ++at) {
      if (at != begin && exposed[at].reg != exposed[at - 1].reg) ++bit;
      if (!defined[exposed[at].block].has(bit)) found.push_back({exposed[at].instruction, exposed[at].reg});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const MaybeUndefined& a, const MaybeUndefined& b) { return a.instruction < b.instruction; });
  return found;
}

}  // namespace ptx::flow
