// Typed ids: an index that cannot be mixed up with another kind of index.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>  // std::hash

namespace ptx {

/// An index into a store, tagged so that a RegId is never taken for a LabelId. `none` is the absent id.
template <class Tag>
struct Id {
  static constexpr std::uint32_t absent = 0xFFFFFFFFu;
  std::uint32_t index = absent;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(static_cast<std::uint32_t>(i)) {}
  [[nodiscard]] constexpr bool valid() const { return index != absent; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace ptx

template <class Tag>
struct std::hash<ptx::Id<Tag>> {
  std::size_t operator()(ptx::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.index); }
};
