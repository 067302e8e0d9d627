#include "ptx/write/idiom/async_copy.hpp"

#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/words.hpp"

namespace ptx::write::idiom {
namespace {

constexpr std::string_view hint_word(const CopyOptions& options) { return options.cache_hint ? ".L2::cache_hint" : ""; }

void append(std::vector<Value>& operands, const std::optional<Value>& operand) {
  if (operand) operands.push_back(*operand);
}

bool to_global(BulkRoute route) { return route == BulkRoute::cta_to_global; }

// ".shared::cluster.global.mbarrier::complete_tx::bytes"
std::string route_words(BulkRoute route) {
  constexpr std::array words = {".shared::cluster.global", ".shared::cta.global", ".shared::cluster.shared::cta",
                                ".global.shared::cta"};
  return cat(words[static_cast<std::size_t>(route)], to_global(route) ? ".bulk_group" : ".mbarrier::complete_tx::bytes");
}

// [dst], [src], size and the mbarrier, if there is one.
Expected<std::vector<Value>> bulk_operands(const Builder& builder, std::string_view instruction, const BulkCopy& copy,
                                           SourceLocation where) {
  if (!to_global(copy.route) && !copy.mbar) return refuse_without_mbarrier(instruction, where);
  if (to_global(copy.route) && copy.mbar)
    return refuse(Kind::operand_count, cat("`", instruction, "` to global memory takes no mbarrier, but is given one"), where,
                  "it is part of a bulk group: `commit_group`, then `wait_group`");
  if (copy.size.kind == Value::Kind::integer && copy.size.integer > 0) {
    const auto bytes = static_cast<std::uint64_t>(copy.size.integer);
    const bool from_global = copy.route == BulkRoute::global_to_cluster || copy.route == BulkRoute::global_to_cta;
    const std::string copies = cat('`', instruction, "` copies ", bytes, " bytes ");
    if (!to_global(copy.route))
      if (auto fits = fits_in(builder, copy.dst, bytes, copies + "to", where); !fits) return Unexpected{std::move(fits).error()};
    if (!from_global)
      if (auto fits = fits_in(builder, copy.src, bytes, copies + "from", where); !fits)
        return Unexpected{std::move(fits).error()};
  }
  std::vector<Value> operands = {copy.dst.address(), copy.src.address(), copy.size};
  if (copy.mbar) operands.push_back(copy.mbar->address());
  return operands;
}

}  // namespace

Unexpected refuse_without_mbarrier(std::string_view instruction, SourceLocation where) {
  return refuse(Kind::operand_count, cat("`", instruction, "` into shared memory is given no mbarrier"), where,
                "`mbar=` is the mbarrier that counts the bytes as they arrive");
}

Expected<void> cp_async(Builder& builder, CopyCaches caches, const Place& dst, const Place& src, const Value& bytes,
                        const CopyOptions& options, const Guard& guard, SourceLocation where) {
  if (bytes.kind == Value::Kind::integer && bytes.integer > 0)
    if (auto fits = fits_in(builder, dst, static_cast<std::uint64_t>(bytes.integer),
                            cat("`cp.async` copies ", bytes.integer, " bytes to"), where);
        !fits)
      return fits;
  std::vector<Value> operands = {dst.address(), src.address(), bytes};
  append(operands, options.src_size);
  append(operands, options.cache_hint);
  const std::string_view cop = caches == CopyCaches::ca ? "ca" : "cg";
  return builder.emit(cat("cp.async.", cop, ".shared.global", hint_word(options)), operands, guard, where);
}

Expected<void> commit_group(Builder& builder, bool bulk, const Guard& guard, SourceLocation where) {
  return emit(builder, bulk ? "cp.async.bulk.commit_group" : "cp.async.commit_group", guard, where);
}

Expected<void> wait_group(Builder& builder, bool bulk, bool read, const Value& pending, const Guard& guard,
                          SourceLocation where) {
  return emit(builder,
              !bulk  ? "cp.async.wait_group"
              : read ? "cp.async.bulk.wait_group.read"
                     : "cp.async.bulk.wait_group",
              guard, where, pending);
}

Expected<void> wait_all(Builder& builder, const Guard& guard, SourceLocation where) {
  return emit(builder, "cp.async.wait_all", guard, where);
}

Expected<void> bulk_copy(Builder& builder, const BulkCopy& copy, const CopyOptions& options, const Guard& guard,
                         SourceLocation where) {
  Expected<std::vector<Value>> operands = bulk_operands(builder, "cp.async.bulk", copy, where);
  if (!operands) return Unexpected{std::move(operands).error()};
  append(*operands, options.multicast_mask);
  append(*operands, options.cache_hint);
  append(*operands, options.byte_mask);
  return builder.emit(cat("cp.async.bulk", route_words(copy.route), options.multicast_mask ? ".multicast::cluster" : "",
                          hint_word(options), options.byte_mask ? ".cp_mask" : ""),
                      *operands, guard, where);
}

Expected<void> bulk_reduce(Builder& builder, std::string_view op, Type type, const BulkCopy& copy, const CopyOptions& options,
                           const Guard& guard, SourceLocation where) {
  constexpr std::string_view instruction = "cp.reduce.async.bulk";
  Expected<std::vector<Value>> operands = bulk_operands(builder, instruction, copy, where);
  if (!operands) return Unexpected{std::move(operands).error()};
  append(*operands, options.cache_hint);
  Words words(cat(instruction, route_words(copy.route), hint_word(options)), instruction, where);
  if (auto e = words.follow(op, "the operation"); !e) return e;
  // adding 16-bit floats never flushes subnormal numbers, and says so
  if ((type == Type::f16 || type == Type::bf16) && words.can_follow("noftz"))
    if (auto e = words.follow("noftz", "the operation"); !e) return e;
  if (auto e = words.follow(isa::name(type), "the type"); !e) return e;
  return builder.emit(words.dots(), *operands, guard, where);
}

Expected<void> bulk_prefetch(Builder& builder, const Place& src, const Value& size, const CopyOptions& options,
                             const Guard& guard, SourceLocation where) {
  std::vector<Value> operands = {src.address(), size};
  append(operands, options.cache_hint);
  return builder.emit(cat("cp.async.bulk.prefetch.L2.global", hint_word(options)), operands, guard, where);
}

}  // namespace ptx::write::idiom
