// Helpers of a whole block, and of a thread's place in the grid. Each writes several instructions.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/write/builder.hpp"
#include "ptx/write/idiom/warp.hpp"

namespace ptx::write::idiom {

/// The sum, maximum or minimum of a 32-bit register over all threads of a block, in place, in every thread. `threads` is how many
/// the block has: a multiple of 32 up to 1024, as the launch says where it is known, and all of them get here. Writes
/// warp_reduce, then, with more than one warp, one word of shared memory for each: the thread's number (5 instructions), `@p
/// st.shared`, `bar.sync 0`, `@p ld.shared`, warp_reduce, `bar.sync 0`. Kinds: bad_operator, argument_kind, and those of
/// Builder::allocate_shared.
Expected<void> block_reduce(Builder& builder, Reduction op, Reg value, std::int64_t threads, SourceLocation where);

/// The number of this thread in the grid along `axis` ('x', 'y' or 'z') as .u32: `mad.lo.u32 i, %ctaid, %ntid, %tid`, each copied
/// first. With a limit, threads beyond it end here: `setp.ge.u32 p, i, limit; @p ret;`. Kind argument_kind.
Expected<Reg> global_index(Builder& builder, char axis, const std::optional<Value>& limit, SourceLocation where);

}  // namespace ptx::write::idiom
