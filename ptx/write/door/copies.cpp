#include "ptx/write/door/copies.hpp"

#include "ptx/base/base.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/async_copy.hpp"

namespace ptx::write {
namespace {

using namespace idiom;

std::optional<Value> value_of(const std::optional<Source>& source) {
  return source ? std::optional(source->value) : std::nullopt;
}

std::vector<Value> values_of(const Coords& coords) {
  std::vector<Value> values;
  for (const Source& coord : coords) values.push_back(coord.value);
  return values;
}

// The places of a call: the first error of making them is the call's.
class Places {
 public:
  explicit Places(Builder& builder) : builder_(builder) {}
  Place operator()(const PlaceArg& arg) {
    if (!error_) {
      Expected<Place> place = arg.in(builder_);
      if (place) return *place;
      error_ = std::move(place).error();
    }
    return Place{};
  }
  std::optional<Place> operator()(const std::optional<PlaceArg>& arg) {
    return arg ? std::optional((*this)(*arg)) : std::nullopt;
  }
  /// The call, unless a place could not be made.
  template <class Written>
  Expected<void> then(Written write) {
    if (error_) return Unexpected{*std::move(error_)};
    return write();
  }

 private:
  Builder& builder_;
  std::optional<Diagnostic> error_;
};

Expected<void> async_copy(Builder& builder, CopyCaches caches, const PlaceArg& dst, const PlaceArg& src, const Source& bytes,
                          const AsyncCopyOptions& options, SourceLocation at) {
  Places places(builder);
  const Place to = places(dst), from = places(src);
  return places.then([&] {
    return cp_async(builder, caches, to, from, bytes.value,
                    {.src_size = value_of(options.src_size), .cache_hint = value_of(options.cache_hint)}, options.pred.guard, at);
  });
}

template <class Operands>
Expected<BulkCopy> bulk_of(Builder& builder, BulkRoute route, const Operands& given) {
  Places places(builder);
  BulkCopy copy{.route = route, .dst = places(given.dst), .src = places(given.src), .size = given.size.value};
  if constexpr (requires { given.mbar; }) copy.mbar = places(given.mbar);
  if (Expected<void> made = places.then([] { return Expected<void>{}; }); !made) return Unexpected{std::move(made).error()};
  return copy;
}

Expected<void> bulk_load(Builder& builder, BulkRoute route, const BulkLoadOperands& given, SourceLocation at) {
  const Expected<BulkCopy> copy = bulk_of(builder, route, given);
  if (!copy) return Unexpected{copy.error()};
  return bulk_copy(builder, *copy, {.multicast_mask = value_of(given.multicast_mask), .cache_hint = value_of(given.cache_hint)},
                   given.pred.guard, at);
}

Expected<void> load(Builder& builder, int rank, const TensorLoad& how, const PlaceArg& dst, const MapArg& src,
                    const Coords& coord, const TensorLoadOptions& options, SourceLocation at) {
  Places places(builder);
  const Place to = places(dst);
  const std::optional<Place> mbar = places(options.mbar);
  const std::vector<Value> coords = values_of(coord), offsets = values_of(options.offsets);
  TensorLoad load = how;
  load.cta_group = options.cta_group;
  load.im2col_offsets = offsets;
  return places.then([&] {
    return tensor_load(builder, load, to, {rank, src.value, coords}, mbar,
                       {.multicast_mask = value_of(options.multicast_mask), .cache_hint = value_of(options.cache_hint)},
                       options.pred.guard, at);
  });
}

Expected<void> load(Builder& builder, int rank, const TensorLoad& how, const TensorLoadOperands& given, SourceLocation at) {
  return load(builder, rank, how, given.dst, given.src, given.coord,
              {.mbar = given.mbar,
               .cache_hint = given.cache_hint,
               .multicast_mask = given.multicast_mask,
               .cta_group = given.cta_group,
               .pred = given.pred},
              at);
}

Expected<void> store(Builder& builder, int rank, TensorMode mode, const MapArg& dst, const PlaceArg& src, const Coords& coord,
                     const std::optional<Source>& cache_hint, const Pred& pred, SourceLocation at) {
  const Expected<Place> from = src.in(builder);
  if (!from) return Unexpected{from.error()};
  const std::vector<Value> coords = values_of(coord);
  return tensor_store(builder, mode, {rank, dst.value, coords}, *from, {.cache_hint = value_of(cache_hint)}, pred.guard, at);
}

Expected<void> prefetch(Builder& builder, int rank, TensorMode mode, const MapArg& src, const Coords& coord, const Coords& offset,
                        const std::optional<Source>& cache_hint, const Pred& pred, SourceLocation at) {
  const std::vector<Value> coords = values_of(coord), offsets = values_of(offset);
  return tensor_prefetch(builder, mode, {rank, src.value, coords}, offsets, {.cache_hint = value_of(cache_hint)}, pred.guard, at);
}

// A slab's position; `coords` holds what it views.
template <class Given>
SlabPosition position_of(const Given& given, std::vector<Value>& coords) {
  coords = values_of(given.coords);
  return {value_of(given.row), value_of(given.col), coords};
}

}  // namespace

void CpAsync::cg(const PlaceArg& dst, const PlaceArg& src, const Source& bytes, const AsyncCopyOptions& options,
                 SourceLocation at) const {
  keep(async_copy(builder(), CopyCaches::cg, dst, src, bytes, options, at));
}
void CpAsync::ca(const PlaceArg& dst, const PlaceArg& src, const Source& bytes, const AsyncCopyOptions& options,
                 SourceLocation at) const {
  keep(async_copy(builder(), CopyCaches::ca, dst, src, bytes, options, at));
}
void CpAsync::commit_group(const Pred& pred, SourceLocation at) const {
  keep(idiom::commit_group(builder(), false, pred.guard, at));
}
void CpAsync::wait_group(const Source& n, const Pred& pred, SourceLocation at) const {
  keep(idiom::wait_group(builder(), false, false, n.value, pred.guard, at));
}
void CpAsync::wait_all(const Pred& pred, SourceLocation at) const { keep(idiom::wait_all(builder(), pred.guard, at)); }

void BulkCopies::operator()(const BulkLoadOperands& operands, SourceLocation at) const {
  keep(bulk_load(builder(), BulkRoute::global_to_cluster, operands, at));
}
void BulkCopies::shared_cta_global(const BulkLoadOperands& operands, SourceLocation at) const {
  keep(bulk_load(builder(), BulkRoute::global_to_cta, operands, at));
}
void BulkCopies::shared_cluster_shared_cta(const BulkLoadOperands& operands, SourceLocation at) const {
  keep(bulk_load(builder(), BulkRoute::cta_to_cluster, operands, at));
}
void BulkCopies::store(const BulkStoreOperands& operands, SourceLocation at) const {
  const Expected<BulkCopy> copy = bulk_of(builder(), BulkRoute::cta_to_global, operands);
  if (!copy) return keep(Unexpected{copy.error()});
  keep(bulk_copy(builder(), *copy, {.cache_hint = value_of(operands.cache_hint), .byte_mask = value_of(operands.byte_mask)},
                 operands.pred.guard, at));
}
void BulkCopies::prefetch(const BulkPrefetchOperands& operands, SourceLocation at) const {
  const Expected<Place> src = operands.src.in(builder());
  if (!src) return keep(Unexpected{src.error()});
  keep(bulk_prefetch(builder(), *src, operands.size.value, {.cache_hint = value_of(operands.cache_hint)}, operands.pred.guard,
                     at));
}
void BulkCopies::commit_group(const Pred& pred, SourceLocation at) const {
  keep(idiom::commit_group(builder(), true, pred.guard, at));
}
void BulkCopies::wait_group(const Source& n, const BulkWaitOptions& options, SourceLocation at) const {
  keep(idiom::wait_group(builder(), true, options.read, n.value, options.pred.guard, at));
}

void BulkReductions::operator()(std::string_view op, Type dtype, const BulkReduceOperands& operands, SourceLocation at) const {
  const Expected<BulkCopy> copy =
      bulk_of(builder(), operands.mbar ? BulkRoute::cta_to_cluster : BulkRoute::cta_to_global, operands);
  if (!copy) return keep(Unexpected{copy.error()});
  keep(bulk_reduce(builder(), op, dtype, *copy, {.cache_hint = value_of(operands.cache_hint)}, operands.pred.guard, at));
}

void TensorCopies::operator()(const TensorLoadOperands& operands, SourceLocation at) const {
  keep(load(builder(), rank_, {}, operands, at));
}
void TensorCopies::shared_cta_global_tile(const TensorLoadOperands& operands, SourceLocation at) const {
  keep(load(builder(), rank_, {.mode = TensorMode::tile, .shared_cta = true}, operands, at));
}
void TensorCopies::store(const TensorStoreOperands& operands, SourceLocation at) const {
  keep(write::store(builder(), rank_, TensorMode::implicit_tile, operands.dst, operands.src, operands.coord, operands.cache_hint,
                    operands.pred, at));
}
void TensorCopies::prefetch(const TensorPrefetchOperands& operands, SourceLocation at) const {
  keep(write::prefetch(builder(), rank_, TensorMode::implicit_tile, operands.src, operands.coord, {}, operands.cache_hint,
                       operands.pred, at));
}

void TensorReductions::operator()(std::string_view op, const TensorStoreOperands& operands, SourceLocation at) const {
  const Expected<Place> src = operands.src.in(builder());
  if (!src) return keep(Unexpected{src.error()});
  const std::vector<Value> coords = values_of(operands.coord);
  keep(tensor_reduce(builder(), op, {rank_, operands.dst.value, coords}, *src, {.cache_hint = value_of(operands.cache_hint)},
                     operands.pred.guard, at));
}

void TensorLoadForm::operator()(const PlaceArg& dst, const MapArg& src, const Coords& coord, const TensorLoadOptions& options,
                                SourceLocation at) const {
  keep(load(builder(), rank_, {.mode = mode_}, dst, src, coord, options, at));
}
void TensorStoreForm::operator()(const MapArg& dst, const PlaceArg& src, const Coords& coord, const TensorOptions& options,
                                 SourceLocation at) const {
  if (options.mbar) {
    const std::string_view name = mode_ == TensorMode::scatter4 ? "scatter4" : "store";
    return keep(refuse(Kind::operand_mismatch,
                       cat("`ptx.cp.async_.bulk.tensor.", name, '_', rank_, "d` takes no mbarrier, but is given one"), at,
                       "a copy to global memory is part of a bulk group: `commit_group`, then `wait_group`"));
  }
  keep(store(builder(), rank_, mode_, dst, src, coord, options.cache_hint, options.pred, at));
}
void TensorPrefetchForm::operator()(const MapArg& src, const Coords& coord, const TensorOptions& options,
                                    SourceLocation at) const {
  keep(prefetch(builder(), rank_, mode_, src, coord, options.offsets, options.cache_hint, options.pred, at));
}

void Tma::load_3d(const Load& load, SourceLocation at) const {
  Places places(builder());
  const Place dst = places(load.dst);
  const std::optional<Place> mbar = places(load.mbar);
  std::vector<Value> coords;
  const SlabPosition position = position_of(load, coords);
  keep(places.then([&] { return slab_load(builder(), dst, load.src.value, position, mbar, load.pred.guard, at); }));
}

void Tma::load_3d_multicast(const Multicast& load, SourceLocation at) const {
  constexpr std::string_view helper = "ptx.tma.load_3d_multicast";
  if (load.pred.guard.predicate && (load.issuer.rank || load.issuer.pred.guard.predicate))
    return keep(refuse(Kind::operand_mismatch, cat('`', helper, "` is given `issuer` and `pred`; what fits is one of them"), at));
  if (!load.mask)
    return keep(refuse(
        Kind::operand_mismatch,
        cat('`', helper, "` has no mask; what fits is a register or a number with a bit for each CTA of the cluster"), at));
  const Guard& guard = load.pred.guard.predicate ? load.pred.guard : load.issuer.pred.guard;
  Places places(builder());
  const Place dst = places(load.dst);
  const std::optional<Place> mbar = places(load.mbar);
  std::vector<Value> coords;
  const SlabPosition position = position_of(load, coords);
  keep(places.then([&] {
    return slab_load_multicast(builder(), dst, load.src.value, position, mbar, load.mask->value, {load.issuer.rank, guard}, at);
  }));
}

void Tma::store_3d(const Store& store, SourceLocation at) const {
  const Expected<Place> src = store.src.in(builder());
  if (!src) return keep(Unexpected{src.error()});
  std::vector<Value> coords;
  const SlabPosition position = position_of(store, coords);
  keep(slab_store(builder(), store.dst.value, *src, position, store.pred.guard, at));
}

}  // namespace ptx::write
