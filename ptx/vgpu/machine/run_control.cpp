#include "ptx/vgpu/machine/run_control.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {
namespace {

constexpr auto attend_every = std::chrono::milliseconds(5);
// Turns without a change before a CTA's state is looked at: a CTA that computes for long without a store is no rare thing.
constexpr std::uint32_t quiet_turns = 16, quiet_turns_of_polls = 4;

class Fingerprint {
 public:
  void add(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u, hash_ ^= hash_ >> 29; }
  void add(const std::vector<RegisterLine>& lines) {
    for (const RegisterLine& line : lines) {
      std::array<std::uint64_t, sizeof line.bytes / sizeof(std::uint64_t)> words;
      std::memcpy(words.data(), line.bytes.data(), sizeof words);
      std::uint64_t sum = 0, factor = 0x9E3779B97F4A7C15u;
      for (const std::uint64_t word : words) sum += (word ^ word >> 32) * factor, factor += 0xD1B54A32D192ED02u;
      add(sum);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

void add(Fingerprint& state, const Cta& cta) {
  for (const Warp& warp : cta.warps) {
    state.add(warp.live);
    if (warp.live == 0) continue;
    // The lane groups of a warp lie in the order in which they had their turns, which says nothing.
    std::uint64_t fragments = 0;
    for (const LaneGroup& f : warp.others) {
      Fingerprint one;
      one.add(std::uint64_t{f.pc} << 32 | f.mask);
      one.add(std::uint64_t{static_cast<std::uint8_t>(f.wait)} << 32 | f.key);
      fragments += one.value();
    }
    state.add(fragments);
    state.add(warp.file);
  }
}
std::uint64_t fingerprint(const Cluster& cluster) {
  Fingerprint state;
  for (const Cta& cta : cluster.blocks) add(state, cta);
  return state.value();
}

}  // namespace

bool Rounds::stuck_after_turn(const Cluster& cluster, bool polled, std::uint64_t changes) {
  if (changes != changes_) {
    *this = Rounds();
    changes_ = changes;
    return false;
  }
  if (stuck_) return true;
  // A state is kept at turns 16, 32, 64, …, and compared with those of some turns behind it: a look costs as much as hundreds of
  // instructions.
  if (mark_ == 0) mark_ = polled ? quiet_turns_of_polls : quiet_turns;
  ++turns_;
  if (turns_ == 2 * mark_) mark_ = turns_;
  if (turns_ < mark_ || turns_ > mark_ + 8 + mark_ / 32) return false;
  const std::uint64_t state = fingerprint(cluster);
  if (turns_ == mark_)
    seen_ = state;
  else
    stuck_ = state == seen_;
  return stuck_;
}

RunControl::RunControl(const Code& code, const Options& options, std::uint64_t ctas, std::size_t workers)
    : code_(code), options_(options), ctas_(ctas), stuck_since_(workers), attended_(std::chrono::steady_clock::now()) {
  for (auto& since : stuck_since_) since.store(running);
}

void RunControl::end(Diagnostic why) {
  const std::lock_guard lock(mutex_);
  if (!ending_) ending_ = std::move(why);
  over_.store(true, std::memory_order_relaxed);
}

std::string RunControl::say_done() const {
  return cat(done_.load(), " of ", ctas_, ctas_ == 1 ? " block had ended" : " blocks had ended");
}

void RunControl::attend(std::uint64_t instructions) {
  if (over()) return;
  const auto stop = [&] {
    end({.kind = Kind::interrupted,
         .message = cat("kernel `", code_.name, "` was stopped after ", executed(), " warp instructions; ", say_done())});
  };
  if (options_.stop.stop_requested()) return stop();
  since_ += instructions + 64;
  if (!options_.watch || since_ < 1024) return;  // a look at the clock costs as much as a very small CTA
  since_ = 0;
  const auto now = std::chrono::steady_clock::now();
  if (now - attended_ < attend_every) return;
  attended_ = now;
  if (!options_.watch({done_.load(), ctas_, executed()})) stop();
}

bool RunControl::all_stuck(std::size_t worker, std::uint64_t changes) {
  stuck_since_[worker].store(changes);
  return changes_.load() == changes && std::all_of(stuck_since_.begin(), stuck_since_.end(), [&](const auto& since) {
           const std::uint64_t at = since.load();
           return at == changes || at == gone;
         });
}

}  // namespace ptx::vgpu
