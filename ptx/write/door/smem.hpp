// C++ helpers for shared memory: `auto tile = k.smem.alloc<f32>({4, 32});`, the twins of Python's `smem`.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "ptx/write/door/door.hpp"
#include "ptx/write/idiom/smem.hpp"

namespace ptx {

/// A stage of an allocation: `tile[2]`.
class SharedSlice : public write::SharedHandle {
 public:
  explicit SharedSlice(const SharedHandle& piece) : SharedHandle(piece) {}
};

/// An allocation in shared memory, of any element type: see SharedAlloc.
class SharedAllocation : public write::SharedHandle {
 public:
  SharedAllocation(write::Builder& builder, const write::SharedRegion& region, Type type, std::vector<std::int64_t> shape,
                   std::string_view swizzle)
      : SharedHandle(builder, region), region_(region), type_(type), shape_(std::move(shape)), swizzle_(swizzle) {}

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] const write::SharedRegion& region() const { return region_; }
  /// "32B", "64B", "128B", or nothing.
  [[nodiscard]] std::string_view swizzle() const { return swizzle_; }
  /// The piece that is element `stage` of the first dimension.
  SharedSlice operator[](write::Index stage) const;

 protected:
  [[nodiscard]] Expected<write::Reg> load_element(std::initializer_list<write::Source> indices) const;
  void store_element(std::initializer_list<write::Source> indices, write::Reg value) const;

 private:
  write::SharedRegion region_;
  Type type_;
  std::vector<std::int64_t> shape_;
  std::string_view swizzle_;
};

/// An allocation of elements of type T; Python's `a[row, column]` is `a.load(row, column)` and `a.store(row, column, value)`, or
/// of any number of dimensions `a.load({i, j, k})` and `a.store({i, j, k}, value)` (idiom/smem.hpp says which instructions).
template <Type T>
class SharedAlloc : public SharedAllocation {
 public:
  explicit SharedAlloc(SharedAllocation made) : SharedAllocation(std::move(made)) {}
  [[nodiscard]] Reg<T> load(const write::Source& row, const write::Source& column) const {
    return write::fresh_value<T>(builder(), {row.value, column.value}, [&] { return load_element({row, column}); });
  }
  [[nodiscard]] Reg<T> load(std::initializer_list<write::Source> indices) const {
    return {builder(), write::keep_error(builder(), load_element(indices), T)};
  }
  void store(const write::Source& row, const write::Source& column, const Reg<T>& value) const {
    store_element({row, column}, value.untyped());
  }
  void store(std::initializer_list<write::Source> indices, const Reg<T>& value) const { store_element(indices, value.untyped()); }
};

/// One barrier: `barriers[i]`.
class MbarrierRef : public write::SharedHandle {
 public:
  explicit MbarrierRef(const SharedHandle& piece) : SharedHandle(piece) {}
};

/// Barriers in shared memory, 8 bytes each.
class MbarrierArray : public write::SharedHandle {
 public:
  MbarrierArray(write::Builder& builder, const write::SharedRegion& region, std::int64_t count)
      : SharedHandle(builder, region), region_(region), count_(count) {}
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const write::SharedRegion& region() const { return region_; }
  MbarrierRef operator[](write::Index index) const;

 private:
  write::SharedRegion region_;
  std::int64_t count_;
};

namespace write {

/// A shape: `256` or `{4, 32}`.
struct SharedShape {
  std::vector<std::int64_t> sizes;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Number I>
  SharedShape(I size) : sizes{static_cast<std::int64_t>(size)} {}
  SharedShape(std::initializer_list<std::int64_t> shape) : sizes(shape) {}
  // NOLINTEND(google-explicit-constructor)
  explicit SharedShape(std::vector<std::int64_t> shape) : sizes(std::move(shape)) {}
};

struct SharedOptions {
  std::string_view swizzle = {};            ///< "32B", "64B", "128B"; the text must live as long as the allocation
  std::optional<std::uint32_t> align = {};  ///< bytes: 128
  std::string_view name = {};               ///< empty: smem_0, smem_1 …
  std::optional<layout::GmmaLayout> gmma_layout = {};
  std::optional<layout::Major> gmma_major = {};
};
struct TileOptions {
  std::optional<std::uint32_t> align = {};
  std::string_view name = {};
};

/// `ld.shared.<type> r, [address];` into a fresh register, and `st.shared.<type> [address], value;`
Expected<Reg> shared_load(Builder& builder, Type type, const PlaceArg& address);
Expected<void> shared_store(Builder& builder, Type type, const PlaceArg& address, const Reg& value);

class Smem : public Door {
 public:
  using Door::Door;

  /// Shared memory for elements of that shape. A kernel with `.smem` above 48 KiB has all of it in `dyn_smem`.
  template <Type T>
  ptx::SharedAlloc<T> alloc(const SharedShape& shape, const SharedOptions& options = {},
                            SourceLocation at = SourceLocation::current()) {
    return ptx::SharedAlloc<T>(allocate(T, shape, options, at));
  }
  template <Type T>
  ptx::SharedAlloc<T> alloc_with_layout(const SharedShape& shape, const SharedOptions& options,
                                        SourceLocation at = SourceLocation::current()) {
    return alloc<T>(shape, options, at);
  }
  /// A tile that wgmma reads: {M or N, K}, or {K, N} when `major` is mn; laid out as layout::pick_gmma_layout says.
  template <Type T>
  ptx::SharedAlloc<T> wgmma_tile(const SharedShape& shape, layout::Major major = layout::Major::k,
                                 const TileOptions& options = {}, SourceLocation at = SourceLocation::current()) {
    return ptx::SharedAlloc<T>(allocate_tile(T, shape, major, options, at));
  }
  // The same of a type that is a value.
  SharedAllocation allocate(Type type, const SharedShape& shape, const SharedOptions& options, SourceLocation at);
  SharedAllocation allocate_tile(Type type, const SharedShape& shape, layout::Major major, const TileOptions& options,
                                 SourceLocation at);
  MbarrierArray mbarrier(std::int64_t count, std::string_view name = {}, SourceLocation at = SourceLocation::current());

  /// `mov.u32 r, symbol`; without a name of the kernel's `extern_smem`, or of `smem`.
  ptx::Reg<Type::u32> base(std::string_view name = {}, SourceLocation at = SourceLocation::current());
  /// The address of shared memory in a register: write::address_register.
  ptx::Reg<Type::u32> base(const PlaceArg& place) { return typed<Type::u32>(place.address_in(builder())); }
  template <Type T>
  ptx::Reg<T> load(const PlaceArg& address) {
    return typed<T>(shared_load(builder(), T, address));
  }
  template <Type T>
  void store(const PlaceArg& address, const ptx::Reg<T>& value) {
    keep(shared_store(builder(), T, address, value.untyped()));
  }
  /// idiom::apply_swizzle: `swizzle` is "NONE", "32B", "64B" or "128B".
  ptx::Reg<Type::u32> apply_swizzle(const ptx::Reg<Type::u32>& offset, std::string_view swizzle,
                                    SourceLocation at = SourceLocation::current());

 private:
  SharedAllocation lying_in(Expected<SharedRegion> region, Type type, const SharedShape& shape, const SharedOptions& options);
};

}  // namespace write
}  // namespace ptx
