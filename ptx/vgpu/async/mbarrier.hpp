// mbarriers: 8 bytes of shared memory that count arrivals and bytes (manual: "mbarrier"). What those bytes hold is our own
// choice, and stands here alone:
//
//   bits 0-19   expected  arrivals of a phase; arrive_drop lowers it
//   bits 20-39  pending   arrivals that the current phase lacks
//   bits 40-60  tx        bytes that it lacks, two's complement: they may come before they are expected
//   bits 61-63  phase     its number modulo 8, so that its parity and its predecessor are known
//
// The state that an arrive returns is the 8 bytes as they were before it, but says whose it is where they count bytes. A CTA also
// keeps what it last wrote to each of its mbarriers, so that one which something else has overwritten, or that is none, is told
// from a sound one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ptx/vgpu/machine/lanes.hpp"

namespace ptx::vgpu {

struct Cta;
struct Step;
struct Warp;
enum class Space : std::uint8_t;

/// An mbarrier of a CTA that was initialised and not invalidated since.
struct LiveMbarrier {
  std::uint64_t word = 0;     ///< its 8 bytes
  std::uint64_t phase = 0;    ///< all of the number
  std::uint32_t made_by = 0;  ///< item of the mbarrier.init
  std::uint32_t maker = 0;    ///< thread of the block that ran it
};
/// By shared address.
using LiveMbarriers = std::map<std::uint64_t, LiveMbarrier>;

/// What a lane's wait found: for the report when nobody can end it any more.
struct AwaitedMbarrier {
  std::uint64_t address = 0;
  std::uint64_t phase = 0;
};

namespace mbarrier {

inline constexpr std::uint32_t max_count = (1u << 20) - 1;  ///< of arrivals, and of bytes

/// The lane of a warp that operates on an mbarrier. Each operation gives nothing, or false, after it has recorded a fault:
/// misaligned, out_of_bounds, barrier_misuse.
struct Operator {
  Warp& warp;
  const Step& step;
  int lane;
  Space space;
  std::uint64_t address;
  Mask others = 0;  ///< lanes that do the same at once
  [[nodiscard]] Mask lanes() const { return Mask{1} << lane | others; }
};

bool init(const Operator& by, std::uint32_t count);
bool invalidate(const Operator& by);
/// That there is one.
bool check(const Operator& by);

struct Arrival {
  std::uint32_t count = 1;
  std::optional<std::uint32_t> expects{};  ///< bytes, before it arrives
  bool drops = false;                      ///< the phases from the next one on expect as many less
  bool may_complete = true;                ///< false: .noComplete
  bool returns = false;                    ///< its state: of an mbarrier of the block itself alone
  bool of_copies = false;                  ///< cp.async.mbarrier.arrive: it tells of the copies of its thread
};
/// Gives the state.
std::optional<std::uint64_t> arrive(const Operator& by, const Arrival& arrival);
/// So many arrivals of each of the lanes. False, and nothing is changed: they are to arrive one by one. Nothing after a fault.
std::optional<bool> arrive_together(const Operator& by, std::uint32_t count);
/// The current phase lacks an arrival more: cp.async.mbarrier.arrive without .noinc, when it begins.
bool count_in(const Operator& by);
bool expect(const Operator& by, std::uint32_t bytes);
bool complete(const Operator& by, std::uint64_t bytes);

/// Whether the phase that a state names, or the one of a parity, is complete.
std::optional<bool> test_state(const Operator& by, std::uint64_t state);
std::optional<bool> test_parity(const Operator& by, std::uint32_t parity);

/// Arrivals that the phase of a state lacks; nothing of what no arrival has returned.
std::optional<std::uint32_t> pending_count(std::uint64_t state);

/// What the 8 bytes of an mbarrier say.
struct Lacks {
  std::uint32_t expected = 0, pending = 0;  ///< arrivals: of a phase, and that the current one lacks
  std::int32_t bytes = 0;                   ///< that it lacks
};
Lacks lacks(std::uint64_t word);

/// "phase 3 of the mbarrier at shared address 0x400, which lacks 1 of 2 arrivals and 128 bytes"
std::string say(const Cta& cta, const AwaitedMbarrier& awaited);

}  // namespace mbarrier
}  // namespace ptx::vgpu
