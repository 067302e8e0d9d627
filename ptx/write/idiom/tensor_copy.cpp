#include "ptx/write/idiom/tensor_copy.hpp"

#include <algorithm>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/words.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {
namespace {

constexpr std::string_view tx_bytes = ".mbarrier::complete_tx::bytes";
constexpr int slab_shift = 6;  // 64 columns a slab
constexpr std::int64_t slab_columns = 1 << slab_shift;

constexpr std::string_view mode_words(TensorMode mode) {
  constexpr std::array words = {"", ".tile", ".im2col", ".tile::gather4", ".tile::scatter4"};
  return words[static_cast<std::size_t>(mode)];
}

// The instruction's operands and modifiers as they come together. What the values view lives here or with the caller.
class TensorInst {
 public:
  TensorInst(std::string_view name, const TensorBox& box, TensorMode mode, SourceLocation where)
      : instruction_(cat(name, '.', box.rank, 'd')), dots_(instruction_), box_(box), mode_(mode), where_(where) {}
  TensorInst(const TensorInst&) = delete;
  TensorInst& operator=(const TensorInst&) = delete;

  /// The rank and the number of coordinates.
  [[nodiscard]] Expected<void> check() const {
    const bool im2col = mode_ == TensorMode::im2col, rows = mode_ == TensorMode::gather4 || mode_ == TensorMode::scatter4;
    const int least = im2col ? 3 : rows ? 2 : 1, most = rows ? 2 : 5;
    if (box_.rank < least || box_.rank > most)
      return refuse(Kind::operand_mismatch,
                    cat("a tensor of ", box_.rank, " dimensions for `", instruction_, mode_words(mode_), "`; what fits is ",
                        least, least == most ? std::string() : cat(" to ", most)),
                    where_);
    const std::size_t wanted = rows ? 5 : static_cast<std::size_t>(box_.rank);
    if (box_.coords.size() != wanted)
      return refuse(Kind::operand_mismatch,
                    cat("`", instruction_, mode_words(mode_), "` is given ", box_.coords.size(), " coordinates; what fits is ",
                        wanted, rows ? ": the column, then four rows" : ": one a dimension, the fastest first"),
                    where_);
    return {};
  }
  TensorInst& words(std::string_view dotted) {
    dots_ += dotted;
    return *this;
  }
  TensorInst& mode() { return words(mode_words(mode_)); }
  TensorInst& operand(const Value& value) {
    operands_.push_back(value);
    return *this;
  }
  TensorInst& tensor() {
    parts_ = {box_.map, Value::vector_of(box_.coords)};
    return operand(Value::tensor_of(parts_));
  }
  /// The offsets of im2col: as given, or zeros.
  TensorInst& offsets(std::span<const Value> given) {
    if (mode_ != TensorMode::im2col) return *this;
    zeros_.assign(static_cast<std::size_t>(box_.rank - 2), Value::of_integer(0));
    return operand(Value::vector_of(given.empty() ? std::span<const Value>(zeros_) : given));
  }
  TensorInst& optional(std::string_view word, const std::optional<Value>& value) {
    if (value) words(word).operand(*value);
    return *this;
  }
  TensorInst& hint(const CopyOptions& options) { return optional(".L2::cache_hint", options.cache_hint); }
  /// What a box takes of the shared memory it goes to, or comes from; four rows of a map for gather4 and scatter4.
  [[nodiscard]] Expected<void> fits(const Builder& builder, const Place& shared, std::string_view way) const {
    const std::optional<std::uint64_t> box = builder.box_bytes(box_.map);
    if (!box) return {};
    const bool rows = mode_ == TensorMode::gather4 || mode_ == TensorMode::scatter4;
    const std::uint64_t bytes = *box * (rows ? 4 : 1);
    return fits_in(builder, shared, bytes, cat('`', instruction_, "` copies a box of ", bytes, " bytes ", way), where_);
  }
  [[nodiscard]] Expected<void> emit(Builder& builder, const Guard& guard) const {
    return builder.emit(dots_, operands_, guard, where_);
  }
  [[nodiscard]] const std::string& instruction() const { return instruction_; }

 private:
  std::string instruction_, dots_;
  const TensorBox& box_;
  TensorMode mode_;
  SourceLocation where_;
  std::array<Value, 2> parts_;
  std::vector<Value> zeros_, operands_;
};

// {0, row, col / 64} or the coordinates given, and the shift of a column in a register.
Expected<std::array<Value, 3>> slab_coords(Builder& builder, std::string_view helper, const SlabPosition& position,
                                           SourceLocation where) {
  std::array<Value, 3> coords;
  if (!position.coords.empty()) {
    if (position.coords.size() != coords.size())
      return refuse(Kind::operand_mismatch,
                    cat("`", helper, "` is given ", position.coords.size(), " coordinates; what fits is 3"), where);
    std::copy(position.coords.begin(), position.coords.end(), coords.begin());
    return coords;
  }
  if (!position.row || !position.col)
    return refuse(Kind::argument_count,
                  cat("`", helper, "` is given ",
                      position.row   ? "no column"
                      : position.col ? "no row"
                                     : "no place in the matrix"),
                  where, "pass `row` and `col`, or the three `coords`");
  Value slab = *position.col;
  if (slab.kind == Value::Kind::integer) {
    slab.integer = slab.integer >> slab_shift;  // rounds down, negative columns too
  } else {
    const Expected<Reg> shifted = emit_fresh(builder, Type::u32, "shr.u32", {}, where, slab, Value::of_integer(slab_shift));
    if (!shifted) return Unexpected{shifted.error()};
    slab = Value::of(*shifted);
  }
  coords = {Value::of_integer(0), *position.row, slab};
  return coords;
}

Expected<void> slab_load(Builder& builder, std::string_view helper, const Place& dst, const Value& map,
                         const SlabPosition& position, const std::optional<Place>& mbar, const std::optional<Value>& mask,
                         const Guard& guard, SourceLocation where) {
  if (!mbar) return refuse_without_mbarrier(helper, where);
  const Expected<std::array<Value, 3>> coords = slab_coords(builder, helper, position, where);
  if (!coords) return Unexpected{coords.error()};
  return tensor_load(builder, {.mode = TensorMode::tile}, dst, {3, map, *coords}, mbar, {.multicast_mask = mask}, guard, where);
}

}  // namespace

Expected<void> tensor_load(Builder& builder, const TensorLoad& load, const Place& dst, const TensorBox& src,
                           const std::optional<Place>& mbar, const CopyOptions& options, const Guard& guard,
                           SourceLocation where) {
  TensorInst inst("cp.async.bulk.tensor", src, load.mode, where);
  if (auto e = inst.check(); !e) return e;
  if (load.cta_group != 1 && load.cta_group != 2)
    return refuse(Kind::immediate_range,
                  cat("the `cta_group` of `", inst.instruction(), "` is ", load.cta_group, "; what fits is 1 or 2"), where);
  if (!mbar) return refuse_without_mbarrier(inst.instruction(), where);
  if (auto e = inst.fits(builder, dst, "to"); !e) return e;
  inst.words(load.shared_cta ? ".shared::cta.global" : ".shared::cluster.global").mode().words(tx_bytes);
  inst.operand(dst.address()).tensor().operand(mbar->address()).offsets(load.im2col_offsets);
  inst.optional(".multicast::cluster", options.multicast_mask);
  if (load.cta_group == 2) inst.words(".cta_group::2");
  return inst.hint(options).emit(builder, guard);
}

Expected<void> tensor_store(Builder& builder, TensorMode mode, const TensorBox& dst, const Place& src, const CopyOptions& options,
                            const Guard& guard, SourceLocation where) {
  TensorInst inst("cp.async.bulk.tensor", dst, mode, where);
  if (auto e = inst.check(); !e) return e;
  if (auto e = inst.fits(builder, src, "from"); !e) return e;
  inst.words(".global.shared::cta").mode().words(".bulk_group").tensor().operand(src.address());
  return inst.hint(options).emit(builder, guard);
}

Expected<void> tensor_reduce(Builder& builder, std::string_view op, const TensorBox& dst, const Place& src,
                             const CopyOptions& options, const Guard& guard, SourceLocation where) {
  TensorInst inst("cp.reduce.async.bulk.tensor", dst, TensorMode::implicit_tile, where);
  if (auto e = inst.check(); !e) return e;
  if (auto e = inst.fits(builder, src, "from"); !e) return e;
  Words words(cat(inst.instruction(), ".global.shared::cta"), inst.instruction(), where);
  if (auto e = words.follow(op, "the operation"); !e) return e;
  inst.words(".global.shared::cta.").words(op).words(".bulk_group").tensor().operand(src.address());
  return inst.hint(options).emit(builder, guard);
}

Expected<void> tensor_prefetch(Builder& builder, TensorMode mode, const TensorBox& src, std::span<const Value> im2col_offsets,
                               const CopyOptions& options, const Guard& guard, SourceLocation where) {
  TensorInst inst("cp.async.bulk.prefetch.tensor", src, mode, where);
  if (auto e = inst.check(); !e) return e;
  inst.words(".L2.global").mode().tensor().offsets(im2col_offsets);
  return inst.hint(options).emit(builder, guard);
}

Expected<void> slab_load(Builder& builder, const Place& dst, const Value& map, const SlabPosition& position,
                         const std::optional<Place>& mbar, const Guard& guard, SourceLocation where) {
  return slab_load(builder, "ptx.tma.load_3d", dst, map, position, mbar, std::nullopt, guard, where);
}

Expected<void> slab_load_multicast(Builder& builder, const Place& dst, const Value& map, const SlabPosition& position,
                                   const std::optional<Place>& mbar, const Value& mask, const Issuer& issuer,
                                   SourceLocation where) {
  Guard guard = issuer.guard;
  if (issuer.rank) {
    // reads the special register by a `mov` of its own
    const Expected<Reg> is_issuer =
        compare(builder, Comparison::eq, Value::of_special(*isa::special_from_name("%cluster_ctarank")),
                Value::of_integer(*issuer.rank), where);
    if (!is_issuer) return Unexpected{is_issuer.error()};
    guard = {*is_issuer, false};
  }
  return slab_load(builder, "ptx.tma.load_3d_multicast", dst, map, position, mbar, mask, guard, where);
}

Expected<void> slab_store(Builder& builder, const Value& map, const Place& src, const SlabPosition& position, const Guard& guard,
                          SourceLocation where) {
  const Expected<std::array<Value, 3>> coords = slab_coords(builder, "ptx.tma.store_3d", position, where);
  if (!coords) return Unexpected{coords.error()};
  return tensor_store(builder, TensorMode::tile, {3, map, *coords}, src, {}, guard, where);
}

}  // namespace ptx::write::idiom
