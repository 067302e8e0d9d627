// What the groups of helpers on a C++ kernel share: `k.smem`, `k.mbarrier`, `k.wgmma` … are the twins of Python's `smem`,
// `ptx.mbarrier`, `ptx.wgmma`: same names, same text. Each call goes straight to the untyped idiom of write/idiom; an error is
// kept in the kernel, with the author's line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/layout/layout.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/place.hpp"
#include "ptx/write/registers.hpp"

namespace ptx::write {

/// The `pred` of a helper: nothing, `p` or `!p`.
struct Pred {
  Guard guard;
  Pred() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  Pred(const ptx::Reg<Type::pred>& p) : guard{p.untyped(), false} {}
  Pred(const NegatedPred& p) : guard{p.reg.untyped(), true} {}
  // NOLINTEND(google-explicit-constructor)
};

/// Registers that a helper takes as one operand: an array, a vector, or a list of registers of any types.
struct Registers {
  std::vector<Reg> regs;
  Registers() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Type T>
  Registers(const ptx::RegArray<T>& array) {
    for (const ptx::Reg<T>& reg : array) regs.push_back(reg.untyped());
  }
  template <Type T, std::size_t N>
  Registers(const RegVec<T, N>& vec) : regs(vec.untyped().begin(), vec.untyped().end()) {}
  template <Type T>
  Registers(const std::vector<ptx::Reg<T>>& list) {
    for (const ptx::Reg<T>& reg : list) regs.push_back(reg.untyped());
  }
  // NOLINTEND(google-explicit-constructor)
};

/// Shared memory that an author holds: an allocation, a stage of one, a barrier (door/smem.hpp, door/sync.hpp make them).
class SharedHandle {
 public:
  SharedHandle(Builder& builder, const SharedRegion& region, std::int64_t offset = 0)
      : builder_(&builder),
        place_(Value::of_symbol(region.symbol), region.byte_offset + offset, room_of(region, offset)),
        dynamic_(region.dynamic) {}
  SharedHandle(Builder& builder, const Place& place) : builder_(&builder), place_(place) {}

  [[nodiscard]] Builder& builder() const { return *builder_; }
  /// The symbol: its own, or `dyn_smem`. Empty for a barrier at an address in a register.
  [[nodiscard]] std::string_view name() const { return place_.base().text; }
  /// Bytes from the symbol, or from the register.
  [[nodiscard]] std::int64_t byte_offset() const { return place_.offset(); }
  /// How wgmma reads it: of tiles that were made for that, and of their stages.
  [[nodiscard]] const std::optional<layout::GmmaLayout>& gmma_layout() const { return gmma_layout_; }
  [[nodiscard]] layout::Major gmma_major() const { return gmma_major_.value_or(layout::Major::k); }
  [[nodiscard]] const std::optional<layout::Major>& given_major() const { return gmma_major_; }

  /// What lies `bytes` further on.
  [[nodiscard]] SharedHandle moved(std::int64_t bytes) const {
    SharedHandle further = *this;
    further.place_ = place_.at(bytes);
    return further;
  }
  /// Its place `offset` bytes further on, for an instruction. Of dynamic shared memory a fresh register: see shared_place().
  [[nodiscard]] Expected<Place> place(std::int64_t offset, SourceLocation at) const;

  void set_layout(const std::optional<layout::GmmaLayout>& layout, std::optional<layout::Major> major) {
    gmma_layout_ = layout;
    gmma_major_ = major;
  }

 private:
  Builder* builder_;
  Place place_;
  bool dynamic_ = false;
  std::optional<layout::GmmaLayout> gmma_layout_;
  std::optional<layout::Major> gmma_major_;
};

/// A place in memory as a helper takes it: a register, `addr(…)`, or a handle of shared memory; with the author's line.
class PlaceArg {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  template <Type T>
    requires(is_word(T))
  PlaceArg(const ptx::Reg<T>& reg, SourceLocation where = SourceLocation::current())
      : at(where), builder_(&reg.builder()), place_(Value::of(reg.untyped())) {}
  template <Type Base>
  PlaceArg(const Addr<Base>& address, SourceLocation where = SourceLocation::current())
      : at(where), builder_(address.builder), place_(address.base, address.offset) {}
  PlaceArg(const SharedHandle& handle, SourceLocation where = SourceLocation::current()) : at(where), handle_(handle) {}
  // NOLINTEND(google-explicit-constructor)
  /// A place of that builder's, or of any (nullptr).
  PlaceArg(const Builder* builder, const Place& place, SourceLocation where) : at(where), builder_(builder), place_(place) {}

  /// The place, for an instruction of that kernel; writes what SharedHandle::place() writes. Kind undefined_symbol: it belongs to
  /// another kernel.
  [[nodiscard]] Expected<Place> in(Builder& builder) const;
  /// Its address as a .u32 register: address_register() of the place.
  [[nodiscard]] Expected<Reg> address_in(Builder& builder) const;
  /// The handle that was given, for its layout; nullptr for any other place.
  [[nodiscard]] const SharedHandle* handle() const { return handle_ ? &*handle_ : nullptr; }

  SourceLocation at;  ///< the author's line

 private:
  const Builder* builder_ = nullptr;
  Place place_;
  std::optional<SharedHandle> handle_;
};

/// A place in tensor memory: a 32-bit register, or `addr(register, columns)`.
class TmemArg : public PlaceArg {
 public:
  using PlaceArg::PlaceArg;
  explicit TmemArg(const PlaceArg& place) : PlaceArg(place) {}
  /// PlaceArg::in, of `helper`. Kind operand_mismatch: it is no 32-bit register.
  [[nodiscard]] Expected<Place> in(Builder& builder, std::string_view helper) const;
};

/// A register of so many bits.
template <int bits_>
struct RegOf {
  Reg reg;
  RegOf() = default;
  explicit RegOf(Reg given) : reg(given) {}
  template <Type T>
    requires(isa::bits(T) == bits_)
  RegOf(const ptx::Reg<T>& given) : reg(given.untyped()) {}  // NOLINT(google-explicit-constructor)
};
using TmemColumns = RegOf<32>;       ///< where an allocation of tensor memory begins
using MatrixDescriptor = RegOf<64>;  ///< of a matrix in shared memory

/// A group of helpers of one kernel.
class Door {
 public:
  explicit Door(Builder& builder) : builder_(&builder) {}

 protected:
  [[nodiscard]] Builder& builder() const { return *builder_; }
  void keep(Expected<void> done) const {
    if (!done) builder_->fail(std::move(done).error());
  }
  /// The register, or after an error (which the kernel keeps) another one to go on with.
  template <Type T>
  [[nodiscard]] ptx::Reg<T> typed(Expected<Reg> reg) const {
    return {*builder_, keep_error(*builder_, std::move(reg), T)};
  }

 private:
  Builder* builder_;
};

}  // namespace ptx::write

namespace ptx {

/// The address of shared memory, `offset` bytes on, for `k << inst…`. Of dynamic shared memory it writes the instructions of
/// write::shared_place.
Addr<Type::none> addr(const write::SharedHandle& shared, std::int64_t offset = 0, SourceLocation at = SourceLocation::current());

}  // namespace ptx
