// Helpers of a whole block and of the grid for C++ kernels, the twins of Python's `ptx.block` and `ptx.global_index`; what each
// writes is said at idiom/block.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "ptx/write/idiom/block.hpp"
#include "ptx/write/kernel.hpp"

namespace ptx {

/// Block-wide reductions in place: every thread of a block of `threads` (a multiple of 32) gets the result.
///     block::reduce_sum(x, 256);
namespace block {
template <Type T>
  requires(isa::bits(T) == 32 && isa::kind(T) != isa::TypeKind::packed)
void reduce(write::idiom::Reduction op, const Reg<T>& value, std::int64_t threads, SourceLocation at) {
  if (auto done = write::idiom::block_reduce(value.builder(), op, value.untyped(), threads, at); !done)
    value.builder().fail(std::move(done).error());
}
template <Type T>
void reduce_sum(const Reg<T>& value, std::int64_t threads, SourceLocation at = SourceLocation::current()) {
  reduce(write::idiom::Reduction::sum, value, threads, at);
}
template <Type T>
void reduce_max(const Reg<T>& value, std::int64_t threads, SourceLocation at = SourceLocation::current()) {
  reduce(write::idiom::Reduction::max, value, threads, at);
}
template <Type T>
void reduce_min(const Reg<T>& value, std::int64_t threads, SourceLocation at = SourceLocation::current()) {
  reduce(write::idiom::Reduction::min, value, threads, at);
}
}  // namespace block

/// The thread's number in the grid: `auto i = global_index(k);`. With a limit, threads at it and beyond end here.
inline Reg<Type::u32> global_index(Body& body, char axis = 'x', SourceLocation at = SourceLocation::current()) {
  write::Builder& builder = body.builder();
  return {builder, write::keep_error(builder, write::idiom::global_index(builder, axis, std::nullopt, at), Type::u32)};
}
inline Reg<Type::u32> global_index_below(Body& body, const write::Source& limit, char axis = 'x') {
  write::Builder& builder = body.builder();
  return {builder, write::keep_error(builder, write::idiom::global_index(builder, axis, limit.value, limit.at), Type::u32)};
}

}  // namespace ptx
