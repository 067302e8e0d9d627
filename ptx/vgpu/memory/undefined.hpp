// Undefined values: what a register holds that nothing has written, and what is loaded from memory that nothing has written. They
// may be moved, shuffled, computed with and dropped; a fault is what they decide: a guard, an address, a barrier, a store to
// memory that outlives the block.
//
// Of a value that is undefined in part each bit goes its own way (undefined_bits.hpp): what masks and moves pick of it may be
// used.
//
// The gaps of structures are no fault when they are copied, also to memory that outlives the block: what is loaded together with
// bytes that are written, and what lies beside such bytes in a thread's local memory. It stays a gap as long as it is only moved.
//
// A warp runs without looking for them until it meets one. From then on it is traced, which costs about twice the time: the lanes
// of each register that hold an undefined value are carried along, until there are none.
#pragma once

#include <cstdint>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// The warp is traced from here on. A handler that has begun it returns go_on_behind(…) instead of Outcome::next.
void begin_tracing(Warp& warp);
/// Ends tracing when no register holds an undefined value, but for those that nothing has written yet.
void end_tracing_if_clean(Warp& warp);

/// Runs an instruction's step in a traced warp: faults when an undefined value decides something, else hands it on.
Outcome run_traced(Warp& warp, const Step& step, Mask mask);

/// The instruction reads a register that lanes have not written, and perhaps more of them.
void note_unwritten(Warp& warp, const Step& step, std::uint32_t scalar);
/// A load found unwritten bytes: the elements that hold some are undefined. Begins tracing when there are such.
void note_unwritten(Warp& warp, const Step& step, Mask mask, std::uint32_t elements, std::uint32_t element_bytes,
                    const std::uint64_t* addresses, const std::array<Place, lane_count>& places);
/// A shuffle reads a lane that takes no part.
void note_absent(Warp& warp, const Step& step, int lane, int source, Mask members);

// -- for handlers of Passes::by_handler, in a traced warp: values and results by their place among the instruction's registers
/// The lanes in which a value is undefined.
Mask undefined_value(const Warp& warp, const Step& step, std::size_t value);
/// Whether any value or result is undefined in any lane: if not, and no memory was found to be, there is nothing to hand on.
bool has_undefined(const Warp& warp, const Step& step);
/// Among the lanes of the mask, a result is undefined in `lanes`, because of `source`: a value that is, or no_value where the
/// instruction itself has found it (note_found).
inline constexpr std::size_t no_value = ~std::size_t{0};
void set_result(Warp& warp, const Step& step, std::size_t result, Mask mask, Mask lanes, std::size_t source = no_value);
/// The instruction has found unwritten bytes, which `message` says: begins tracing.
void note_found(Warp& warp, const Step& step, std::string message);
/// A fault when an address is undefined in lanes of the mask. True: it was recorded.
bool fail_undefined_address(Warp& warp, const Step& step, Mask mask);
/// A fault: it stores an undefined value where others see it.
Outcome fail_undefined_store(Warp& warp, const Step& step, Mask lanes, std::size_t value);

/// Says what of the lanes' values for a .sync instruction is undefined.
void give_undefined(const Warp& warp, const Step& step, Mask mask, Exchange& exchange);
/// Of the lanes in the mask, the results of a .sync instruction are undefined in these.
void pass_exchanged(Warp& warp, const Step& step, Mask mask, Mask undefined);
/// The results of a reduction over a barrier are undefined, because the predicates of so many of its threads are.
void pass_undefined_votes(Warp& warp, const Step& step, Mask mask, std::uint32_t unknown, const Barrier& barrier);
/// Bits of a shuffle's result that are undefined. Its predicate says only where they come from.
void pass_shuffled(Warp& warp, const Step& step, Mask mask, const std::array<std::uint32_t, lane_count>& undefined);

}  // namespace ptx::vgpu
