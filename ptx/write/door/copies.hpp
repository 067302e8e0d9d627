// C++ helpers for asynchronous copies, the twins of Python's `ptx.cp` and `ptx.tma`: `k.cp.async_.cg(dst, src, 16)`,
// `k.cp.async_.bulk.tensor_2d({.dst = tile[0], .src = map, .coord = {x, y}, .mbar = full[0]})`. What each writes is said at the
// idioms: idiom/async_copy.hpp and idiom/tensor_copy.hpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ptx/write/door/door.hpp"
#include "ptx/write/idiom/tensor_copy.hpp"

namespace ptx::write {

/// A tensor map: a register that holds its address, or a name.
struct MapArg {
  Value value;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Type T>
    requires(is_word(T))
  MapArg(const ptx::Reg<T>& reg) : value(Value::of(reg.untyped())) {}
  MapArg(const char* name) : value(Value::of_symbol(name)) {}
  MapArg(std::string_view name) : value(Value::of_symbol(name)) {}
  // NOLINTEND(google-explicit-constructor)
};
/// Who issues a multicast: the CTA of a rank in its cluster, or whoever has a predicate; nothing: everybody.
struct IssuerArg {
  std::optional<std::int64_t> rank;
  Pred pred;
  IssuerArg() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Number I>
  IssuerArg(I number) : rank(static_cast<std::int64_t>(number)) {}
  IssuerArg(const ptx::Reg<Type::pred>& p) : pred(p) {}
  IssuerArg(const NegatedPred& p) : pred(p) {}
  // NOLINTEND(google-explicit-constructor)
};
/// Coordinates, the fastest dimension first.
using Coords = std::vector<Source>;

struct AsyncCopyOptions {
  std::optional<Source> src_size = {}, cache_hint = {};
  Pred pred = {};
};

struct BulkLoadOperands {
  PlaceArg dst, src;
  Source size;
  std::optional<PlaceArg> mbar = {};
  std::optional<Source> multicast_mask = {}, cache_hint = {};
  Pred pred = {};
};
struct BulkStoreOperands {
  PlaceArg dst, src;
  Source size;
  std::optional<Source> cache_hint = {}, byte_mask = {};
  Pred pred = {};
};
struct BulkPrefetchOperands {
  PlaceArg src;
  Source size;
  std::optional<Source> cache_hint = {};
  Pred pred = {};
};
/// With an mbarrier it is another CTA's shared memory that is reduced, else global memory.
struct BulkReduceOperands {
  PlaceArg dst, src;
  Source size;
  std::optional<PlaceArg> mbar = {};
  std::optional<Source> cache_hint = {};
  Pred pred = {};
};
struct BulkWaitOptions {
  bool read = false;  ///< until the sources have been read, not until all is written
  Pred pred = {};
};
struct TensorLoadOperands {
  PlaceArg dst;
  MapArg src;
  Coords coord;
  std::optional<PlaceArg> mbar = {};
  int cta_group = 1;
  std::optional<Source> multicast_mask = {}, cache_hint = {};
  Pred pred = {};
};
struct TensorStoreOperands {
  MapArg dst;
  PlaceArg src;
  Coords coord;
  std::optional<Source> cache_hint = {};
  Pred pred = {};
};
struct TensorPrefetchOperands {
  MapArg src;
  Coords coord;
  std::optional<Source> cache_hint = {};
  Pred pred = {};
};
/// What the positional tensor copies take besides.
struct TensorLoadOptions {
  std::optional<PlaceArg> mbar = {};
  std::optional<Source> cache_hint = {}, multicast_mask = {};
  int cta_group = 1;
  Coords offsets = {};  ///< im2col: one a spatial dimension; none: zeros
  Pred pred = {};
};
struct TensorOptions {
  std::optional<PlaceArg> mbar = {};  ///< refused: a copy to global memory is part of a bulk group
  std::optional<Source> cache_hint = {};
  Coords offsets = {};  ///< prefetch_im2col
  Pred pred = {};
};

/// `k.cp.async_.bulk.tensor_Nd`
class TensorCopies : public Door {
 public:
  TensorCopies(Builder& builder, int rank) : Door(builder), rank_(rank) {}
  void operator()(const TensorLoadOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void shared_cta_global_tile(const TensorLoadOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void store(const TensorStoreOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void prefetch(const TensorPrefetchOperands& operands, SourceLocation at = SourceLocation::current()) const;

 private:
  int rank_;
};

/// `k.cp.reduce.async_.bulk.tensor_Nd`; `op` is "add", "min", "max", "inc", "dec", "and", "or" or "xor".
class TensorReductions : public Door {
 public:
  TensorReductions(Builder& builder, int rank) : Door(builder), rank_(rank) {}
  void operator()(std::string_view op, const TensorStoreOperands& operands, SourceLocation at = SourceLocation::current()) const;

 private:
  int rank_;
};

/// A group with a member for each rank.
template <class Copies>
class ByRank : public Door {
 public:
  explicit ByRank(Builder& builder) : Door(builder) {}
  Copies tensor_1d{builder(), 1}, tensor_2d{builder(), 2}, tensor_3d{builder(), 3}, tensor_4d{builder(), 4},
      tensor_5d{builder(), 5};
};

/// `k.cp.async_.bulk.tensor.tile_2d(dst, src, {x, y}, {.mbar = full[0]})` and the like: a tensor copy with its operands in order.
class TensorLoadForm : public Door {
 public:
  TensorLoadForm(Builder& builder, idiom::TensorMode mode, int rank) : Door(builder), mode_(mode), rank_(rank) {}
  void operator()(const PlaceArg& dst, const MapArg& src, const Coords& coord, const TensorLoadOptions& options = {},
                  SourceLocation at = SourceLocation::current()) const;

 private:
  idiom::TensorMode mode_;
  int rank_;
};
class TensorStoreForm : public Door {
 public:
  TensorStoreForm(Builder& builder, idiom::TensorMode mode, int rank) : Door(builder), mode_(mode), rank_(rank) {}
  void operator()(const MapArg& dst, const PlaceArg& src, const Coords& coord, const TensorOptions& options = {},
                  SourceLocation at = SourceLocation::current()) const;

 private:
  idiom::TensorMode mode_;
  int rank_;
};
class TensorPrefetchForm : public Door {
 public:
  TensorPrefetchForm(Builder& builder, idiom::TensorMode mode, int rank) : Door(builder), mode_(mode), rank_(rank) {}
  void operator()(const MapArg& src, const Coords& coord, const TensorOptions& options = {},
                  SourceLocation at = SourceLocation::current()) const;

 private:
  idiom::TensorMode mode_;
  int rank_;
};

/// `k.cp.async_.bulk.tensor`
class TensorForms : public ByRank<TensorCopies> {
  using Mode = idiom::TensorMode;

 public:
  using ByRank::ByRank;
  TensorLoadForm tile_1d{builder(), Mode::implicit_tile, 1}, tile_2d{builder(), Mode::implicit_tile, 2},
      tile_3d{builder(), Mode::implicit_tile, 3}, tile_4d{builder(), Mode::implicit_tile, 4},
      tile_5d{builder(), Mode::implicit_tile, 5};
  TensorLoadForm im2col_3d{builder(), Mode::im2col, 3}, im2col_4d{builder(), Mode::im2col, 4},
      im2col_5d{builder(), Mode::im2col, 5};
  TensorLoadForm gather4_2d{builder(), Mode::gather4, 2};
  TensorStoreForm store_1d{builder(), Mode::implicit_tile, 1}, store_2d{builder(), Mode::implicit_tile, 2},
      store_3d{builder(), Mode::implicit_tile, 3}, store_4d{builder(), Mode::implicit_tile, 4},
      store_5d{builder(), Mode::implicit_tile, 5};
  TensorStoreForm scatter4_2d{builder(), Mode::scatter4, 2};
  TensorPrefetchForm prefetch_1d{builder(), Mode::implicit_tile, 1}, prefetch_2d{builder(), Mode::implicit_tile, 2},
      prefetch_3d{builder(), Mode::implicit_tile, 3}, prefetch_4d{builder(), Mode::implicit_tile, 4},
      prefetch_5d{builder(), Mode::implicit_tile, 5};
  TensorPrefetchForm prefetch_im2col_3d{builder(), Mode::im2col, 3}, prefetch_im2col_4d{builder(), Mode::im2col, 4},
      prefetch_im2col_5d{builder(), Mode::im2col, 5}, prefetch_gather4_2d{builder(), Mode::gather4, 2};
};

/// `k.cp.async_.bulk`
class BulkCopies : public ByRank<TensorCopies> {
 public:
  explicit BulkCopies(Builder& builder) : ByRank(builder), tensor(builder) {}
  void operator()(const BulkLoadOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void shared_cta_global(const BulkLoadOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void shared_cluster_shared_cta(const BulkLoadOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void store(const BulkStoreOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void prefetch(const BulkPrefetchOperands& operands, SourceLocation at = SourceLocation::current()) const;
  void commit_group(const Pred& pred = {}, SourceLocation at = SourceLocation::current()) const;
  void wait_group(const Source& n, const BulkWaitOptions& options = {}, SourceLocation at = SourceLocation::current()) const;

  TensorForms tensor;
};

/// `k.cp.reduce.async_.bulk`
class BulkReductions : public ByRank<TensorReductions> {
 public:
  using ByRank::ByRank;
  void operator()(std::string_view op, Type dtype, const BulkReduceOperands& operands,
                  SourceLocation at = SourceLocation::current()) const;
};

/// `k.cp.async_`
class CpAsync : public Door {
 public:
  explicit CpAsync(Builder& builder) : Door(builder), bulk(builder) {}
  void cg(const PlaceArg& dst, const PlaceArg& src, const Source& bytes, const AsyncCopyOptions& options = {},
          SourceLocation at = SourceLocation::current()) const;
  void ca(const PlaceArg& dst, const PlaceArg& src, const Source& bytes, const AsyncCopyOptions& options = {},
          SourceLocation at = SourceLocation::current()) const;
  void commit_group(const Pred& pred = {}, SourceLocation at = SourceLocation::current()) const;
  void wait_group(const Source& n, const Pred& pred = {}, SourceLocation at = SourceLocation::current()) const;
  void wait_all(const Pred& pred = {}, SourceLocation at = SourceLocation::current()) const;

  BulkCopies bulk;
};

/// `k.cp`
class Cp : public Door {
 public:
  explicit Cp(Builder& builder) : Door(builder), async_(builder), async_bulk(builder), reduce{{BulkReductions(builder)}} {}

  CpAsync async_;
  BulkCopies async_bulk;
  struct {
    struct {
      BulkReductions bulk;
    } async_;
  } reduce;
};

/// `k.tma`
class Tma : public Door {
 public:
  using Door::Door;
  struct Load {
    PlaceArg dst;
    MapArg src;
    std::optional<Source> row = {}, col = {};
    std::optional<PlaceArg> mbar = {};
    Coords coords = {};
    Pred pred = {};
  };
  struct Multicast {
    PlaceArg dst;
    MapArg src;
    std::optional<Source> row = {}, col = {};
    std::optional<PlaceArg> mbar = {};
    std::optional<Source> mask = {};  ///< a bit for each CTA of the cluster; it has to be given
    Coords coords = {};
    IssuerArg issuer = {};  ///< not together with `pred`
    Pred pred = {};
  };
  struct Store {
    MapArg dst;
    PlaceArg src;
    std::optional<Source> row = {}, col = {};
    Coords coords = {};
    Pred pred = {};
  };
  void load_3d(const Load& load, SourceLocation at = SourceLocation::current()) const;
  void load_3d_multicast(const Multicast& load, SourceLocation at = SourceLocation::current()) const;
  void store_3d(const Store& store, SourceLocation at = SourceLocation::current()) const;
};

}  // namespace ptx::write
