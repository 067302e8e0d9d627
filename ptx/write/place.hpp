// A place in memory as helpers are given it: a base and a number of bytes behind it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/write/builder.hpp"

namespace ptx::write {

/// `[base]`, `[base+offset]`: a register or a symbol, and a number of bytes. A symbol's text must live as long as the place
/// (names that the builder gives back do).
class Place {
 public:
  Place() = default;
  explicit Place(const Value& base, std::int64_t offset = 0, std::optional<std::int64_t> room = std::nullopt)
      : parts_{base, Value::of_integer(offset)}, room_(room) {}

  [[nodiscard]] const Value& base() const { return parts_[0]; }
  [[nodiscard]] std::int64_t offset() const { return parts_[1].integer; }
  /// Bytes from here to the end of the allocation in shared memory that it is a part of, where that is known.
  [[nodiscard]] std::optional<std::int64_t> room() const { return room_; }
  /// The place `bytes` further on.
  [[nodiscard]] Place at(std::int64_t bytes) const {
    return Place(base(), offset() + bytes, room_ ? std::optional(*room_ - bytes) : std::nullopt);
  }
  /// The operand `[base+offset]`: a view of this place, which has to live until the instruction is written.
  [[nodiscard]] Value address() const& { return Value::address_of(parts_); }
  Value address() && = delete;

 private:
  std::array<Value, 2> parts_;
  std::optional<std::int64_t> room_;
};

/// Bytes of a region from `offset` on: nothing for one that has no bytes, which stands for an allocation that failed.
std::optional<std::int64_t> room_of(const SharedRegion& region, std::int64_t offset);

/// A copy of `bytes` bytes stays within the shared memory that its place is a part of, where that is known: an allocation, or a
/// variable by its name. `what` is what copies, and which way: "`cp.async.bulk` copies 64 bytes to". Kind shared_memory_size.
Expected<void> fits_in(const Builder& builder, const Place& place, std::uint64_t bytes, std::string_view what,
                       SourceLocation where);

/// The place `offset` bytes into a region, for an instruction: `[symbol+offset]` of a static one; of a dynamic one a fresh .u32
/// register, `mov.b32 r, dyn_smem; add.s32 r, r, offset;` (no add for 0).
Expected<Place> shared_place(Builder& builder, const SharedRegion& region, std::int64_t offset, SourceLocation where);

/// A place's address as a .u32 register: the base itself when it is one without an offset, else `mov.u32 r, symbol` and
/// `add.u32 r, base, offset` into fresh registers.
Expected<Reg> address_register(Builder& builder, const Place& place, SourceLocation where);

}  // namespace ptx::write
