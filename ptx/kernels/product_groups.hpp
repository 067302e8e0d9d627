// Which tile is whose, where rows of A come in groups whose ends only the device knows.
#pragma once

#include <optional>
#include <string>

#include "ptx/kernels/product_layout.hpp"

namespace ptx::kernels::product {

/// A warp's view of the groups: lane i looks at group 32 c + i, and goes on to the next 32 when the tile lies behind them. Tiles
/// are asked for in ascending order.
///
///     ends of groups   5 | 5 | 300 | …      rows 5, 0, 295, …     tiles 1, 0, 3, … times those across     sums 1, 1, 4, …
class Groups {
 public:
  struct Of {
    Reg<Type::u32> lane, m, n;
  };
  Groups(Kernel& kernel, const Recipe& recipe, const Of& of);

  /// Whether there is such a tile; where there is, the registers below are of its group. For all lanes of a warp. Labels begin
  /// with `label`.
  Reg<Type::pred> find(const std::string& label, const Reg<Type::u32>& tile);

  Reg<Type::u32> group, begin, end;  ///< its number, its rows
  Reg<Type::u32> inside;             ///< tiles of the group before this one

 private:
  Kernel& k;
  Of of_;
  int rows_;  ///< of a group in one tile of the cluster
  /// Reads the ends of the lanes' groups, and puts tiles together, behind those `before`. They stay in registers until the tiles
  /// that are asked for lie behind them.
  void read_chunk(const Reg<Type::u32>& before);
  Reg<Type::u32> tiles(const Reg<Type::u32>& from, const Reg<Type::u32>& to);  ///< of a group with these rows
  template <class Lane>
  void shared(const Reg<Type::u32>& destination, const Reg<Type::u32>& value, const Lane& lane);

  Reg<Type::u32> groups_, tiles_across_, chunk_;
  Reg<Type::u32> to_, upto_;  ///< of this lane's group: where its rows end, and tiles up to its end
  Reg<Type::b64> ends_;
  Reg<Type::pred> found_;
};

}  // namespace ptx::kernels::product
