// wgmma (rows: ptx/isa/table/wgmma.hpp). An operation is done when it is issued, as an asynchronous one may be, and each warp of
// a warpgroup computes its own 16 rows.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/product_words.hpp"
#include "ptx/vgpu/tensor/fragment.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/shared_operand.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

constexpr int slab = 16, max_columns = 256;

// Step::imm
constexpr std::int64_t a_in_memory = 1, a_negated = 2, b_negated = 4, a_transposed = 8, b_transposed = 16, is_sparse = 32,
                       in_tiles = 64;

// x = Product of one warp's rows; operands = d, a's registers or descriptor, b's descriptor, scale_d and what it is flipped by,
// and e.
struct WgmmaSlots {
  std::span<const std::uint32_t> d, a;
  std::uint32_t b, scale, flip, e;
  WgmmaSlots(const Product& p, std::span<const std::uint32_t> all)
      : d(all.first(p.d_registers)), a(all.subspan(p.d_registers, p.a_registers)) {
    const auto rest = all.subspan(d.size() + a.size());
    b = rest[0], scale = rest[1], flip = rest[2], e = rest[3];
  }
};

// A matrix b, and its numbers: the four warps of a group, and often several groups, multiply by the same one.
struct KnownMatrix {
  Panel panel;
  std::uint64_t descriptor = 0;
  std::int64_t flags = 0;  // Step::imm
  num::DotFormat format{};
  Numerics numerics{};
  Factors factors;
  std::vector<std::int16_t> exponents;  // of tiles
};

// Room for one product, by thread.
struct Room {
  std::vector<std::uint32_t> a, b, d;
  Panel panel;
  std::array<KnownMatrix, 16> known;
  std::size_t oldest = 0;
  Factors a_factors;
  std::vector<std::int16_t> a_exponents;
  std::array<std::uint32_t*, max_columns / num::tile_columns * 2> tiles;
};

// An accumulator's registers have the even columns of eight, then the odd ones (place_of_c): so b's columns come in that order.
void order_by_registers(std::span<std::uint32_t> b) {
  using Eight = std::uint32_t __attribute__((vector_size(32)));
  for (std::size_t i = 0; i < b.size(); i += 8) {
    Eight eight;
    std::memcpy(&eight, &b[i], sizeof eight);
    eight = __builtin_shufflevector(eight, eight, 0, 2, 4, 6, 1, 3, 5, 7);
    std::memcpy(&b[i], &eight, sizeof eight);
  }
}

void negate(std::span<std::uint32_t> all, int bits) {
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  for (std::uint32_t& raw : all) raw ^= sign;
}

// Which results are undefined: rows and columns of the slab that have an undefined factor, and an undefined accumulator.
struct UndefinedParts {
  std::uint32_t rows = 0;
  std::array<bool, max_columns> columns{};
  bool all = false;
  [[nodiscard]] bool any() const {
    return all || rows != 0 || std::any_of(columns.begin(), columns.end(), [](bool column) { return column; });
  }
};

// b of a product: into room.b, or, of floats, as numbers that are known from before or made now; nullptr with `failed` when a
// fault was recorded.
struct MatrixB {
  Warp& warp;
  const Step& step;
  const Product& p;
  Room& room;
  Numerics numerics;
  int depth;
  UndefinedParts& undefined;

  const KnownMatrix* read(SharedOperand& gather, std::uint64_t descriptor, bool& failed) {
    constexpr std::int64_t matters = b_negated | b_transposed | in_tiles;
    const bool transposed = (step.imm & b_transposed) != 0;
    const layout::SharedMatrix from = layout::read_wgmma_descriptor(descriptor);
    const std::int64_t flags = step.imm & matters;
    const auto same_place = [&](const KnownMatrix& known) { return known.descriptor == descriptor; };
    auto* known = std::find_if(room.known.begin(), room.known.end(), same_place);
    if (known == room.known.end()) known = &room.known[room.oldest++ % room.known.size()];
    const bool same = p.floating() && known->descriptor == descriptor && known->flags == flags && known->format == p.b_format &&
                      known->numerics == numerics;
    const auto outer = index_of(transposed ? depth : p.n), inner = index_of(transposed ? p.n : depth);
    const PiecePlaces& places = piece_places(from, transposed, p.n, depth, p.bits);
    if (const std::byte* bytes = gather.at_once(from, places)) {
      if (same && known->panel.holds(bytes, places, p.bits, outer, inner)) return known;
      room.panel.begin(p.bits, outer, inner);
      room.panel.read(bytes, places);
    } else {
      const auto unwritten = [&](int column) { undefined.columns[static_cast<std::size_t>(column)] = true; };
      failed = !gather.read(room.panel, from, transposed, 0, p.n, depth, p.bits, unwritten);
      if (failed) return nullptr;
      if (same && known->panel == room.panel) return known;
    }
    room.b.resize(index_of(depth * p.n));
    room.panel.expand(!transposed, room.b);
    if ((flags & b_negated) != 0) negate(room.b, p.bits);
    if (!p.floating()) return nullptr;
    if ((flags & in_tiles) != 0) order_by_registers(room.b);
    known->factors.decode(p.b_format, room.b, numerics);
    if ((flags & in_tiles) != 0 && numerics == Numerics::exact)
      num::narrow_exponents(known->factors.exponents, room.b.size(), known->exponents);
    std::swap(known->panel, room.panel);
    known->descriptor = descriptor, known->flags = flags, known->format = p.b_format, known->numerics = numerics;
    return known;
  }
};

// The product of a warp's rows where the accumulators lie; room.a has the factors of a by depth.
void multiply_in_tiles(Warp& warp, const Product& p, const WgmmaSlots& slots, Room& room, const KnownMatrix& b, bool adds,
                       Numerics numerics) {
  const bool exact = numerics == Numerics::exact;
  room.a_factors.decode(p.a_format, room.a, numerics);
  if (exact) num::narrow_exponents(room.a_factors.exponents, room.a.size(), room.a_exponents);
  for (std::size_t r = 0; r < slots.d.size(); ++r) {
    const std::size_t columns = r / 4 * 2 + r % 2, rows = r / 2 % 2;  // place_of_c
    room.tiles[2 * columns + rows] = warp.slot<std::uint32_t>(slots.d[r]);
  }
  const num::TiledProduct product{.depth = p.k,
                                  .n = p.n,
                                  .a = room.a_factors.values.data(),
                                  .b = b.factors.values.data(),
                                  .a_exponents = room.a_exponents.data(),
                                  .b_exponents = b.exponents.data(),
                                  .finite = room.a_factors.finite && b.factors.finite,
                                  .adds = adds,
                                  .d = room.tiles.data()};
  exact ? num::add_products(p.unit, product) : num::add_chains(product);
}

void pass_undefined_parts(Warp& warp, const Step& step, const Product& p, const WgmmaSlots& slots, bool adds,
                          UndefinedParts parts) {
  std::size_t source = no_value;
  const auto undefined = [&](std::size_t v) {
    const Mask lanes = undefined_value(warp, step, v);
    if (lanes != 0) source = v;
    return lanes;
  };
  for (std::size_t r = 0; r < slots.a.size(); ++r)
    for (Mask left = undefined(slots.d.size() + r); left != 0; left &= left - 1) {
      if ((step.imm & a_in_memory) != 0) parts.all = true;
      parts.rows |= 1u << place_of_a(slab, static_cast<int>(r), lowest_lane(left), p.per()).row;
    }
  if (undefined(slots.d.size() + slots.a.size()) != 0) parts.all = true;
  if ((step.imm & is_sparse) != 0 && undefined(slots.d.size() + slots.a.size() + 1) != 0) parts.all = true;
  const int together = p.d_half ? 2 : 1;
  const bool none = !parts.any();
  for (std::size_t r = 0; r < slots.d.size(); ++r) {
    const Mask before = adds ? undefined_value(warp, step, r) : 0;
    const Mask lanes = none ? 0 : lanes_where([&](int l) {
      for (int j = 0; j < together; ++j) {
        const MatrixPlace at = place_of_c(static_cast<int>(r) * together + j, l);
        if (parts.all || (parts.rows >> at.row & 1) != 0 || parts.columns[static_cast<std::size_t>(at.column)]) return true;
      }
      return false;
    });
    set_result(warp, step, r, all_lanes, lanes | before, (lanes & ~before) != 0 ? source : before != 0 ? r : source);
  }
}

// The accumulators of a warp, 16 rows of n, as they lie in its registers (place_of_c): four lanes have eight columns of a row, in
// two registers, or in one of f16.
using Four = std::uint32_t __attribute__((vector_size(16)));
// use(first, second, d) for each: where the four lanes of its registers are (one of f16 twice), and its eight columns.
template <class Use>
void each_quarter_row(Warp& warp, std::span<const std::uint32_t> registers, bool half, std::span<std::uint32_t> d, Use use) {
  const std::size_t together = half ? 1 : 2, n = registers.size() / together * 4;
  for (std::size_t r = 0; r < registers.size(); r += together) {
    auto* const first = warp.slot<std::uint32_t>(registers[r]);
    auto* const second = warp.slot<std::uint32_t>(registers[r + together - 1]);
    const std::size_t block = r / (2 * together), upper = r / together % 2;
    std::uint32_t* const row = &d[8 * upper * n + 8 * block];
    for (std::size_t g = 0; g < 8; ++g) use(first + 4 * g, second + 4 * g, row + g * n);
  }
}
void read_accumulators(Warp& warp, std::span<const std::uint32_t> registers, bool half, std::span<std::uint32_t> d) {
  const auto in_halves = [](const std::uint32_t* lanes, const std::uint32_t*, std::uint32_t* to) {
    for (std::size_t t = 0; t < 4; ++t) to[2 * t] = lanes[t] & 0xFFFF, to[2 * t + 1] = lanes[t] >> 16;
  };
  const auto whole = [](const std::uint32_t* lanes, const std::uint32_t* more, std::uint32_t* to) {
    Four a, b;
    std::memcpy(&a, lanes, sizeof a), std::memcpy(&b, more, sizeof b);
    const Four low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    std::memcpy(to, &low, sizeof low), std::memcpy(to + 4, &high, sizeof high);
  };
  half ? each_quarter_row(warp, registers, half, d, in_halves) : each_quarter_row(warp, registers, half, d, whole);
}
void write_accumulators(Warp& warp, std::span<const std::uint32_t> registers, bool half, std::span<std::uint32_t> d) {
  const auto in_halves = [](std::uint32_t* lanes, std::uint32_t*, const std::uint32_t* from) {
    for (std::size_t t = 0; t < 4; ++t) lanes[t] = from[2 * t] | from[2 * t + 1] << 16;
  };
  const auto whole = [](std::uint32_t* lanes, std::uint32_t* more, const std::uint32_t* from) {
    Four low, high;
    std::memcpy(&low, from, sizeof low), std::memcpy(&high, from + 4, sizeof high);
    const Four a = __builtin_shufflevector(low, high, 0, 2, 4, 6), b = __builtin_shufflevector(low, high, 1, 3, 5, 7);
    std::memcpy(lanes, &a, sizeof a), std::memcpy(more, &b, sizeof b);
  };
  half ? each_quarter_row(warp, registers, half, d, in_halves) : each_quarter_row(warp, registers, half, d, whole);
}

Outcome wgmma(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const Product p = product_of(step.x);
  const WgmmaSlots slots(p, operands_of(warp.cta->launch->code, step));
  const int w = static_cast<int>(warp.index % warps_of_group);
  if (warp.index - static_cast<std::uint32_t>(w) + warps_of_group > warp.cta->warps.size())
    return warp.fail(step, 0, Rule::V_05, "needs a warpgroup: four warps, of which the first has a multiple of 4 as its number");
  const bool from_memory = (step.imm & a_in_memory) != 0;
  const auto in_all_lanes = [&](std::uint32_t slot) {
    const auto* values = warp.slot<std::uint64_t>(slot);
    return std::all_of(values, values + lane_count, [&](std::uint64_t value) { return value == values[0]; });
  };
  for (const std::uint32_t slot : {from_memory ? slots.a[0] : slots.b, slots.b})
    if (!in_all_lanes(slot))
      return warp.fail(step, 0, Rule::V_04, "is given a matrix descriptor that differs between the lanes of its warp");
  const bool was_traced = warp.traced;
  static thread_local Room room;
  const bool bits_alone = p.arithmetic == Arithmetic::bits_and, tiled = (step.imm & in_tiles) != 0;
  const int n = p.n, depth = bits_alone ? p.k / 32 : p.k, stored = bits_alone ? depth : p.stored(), bits = p.bits;
  room.a.resize(index_of(slab * stored));

  const Numerics numerics = warp.cta->launch->options.numerics;
  races::Performing performing(warp, [&] { return warp.races->begin_product(warp, step, all_lanes); });
  SharedOperand gather{warp, step, "a", 0, *warp.cta};
  UndefinedParts undefined;
  if (from_memory) {
    const bool transposed = (step.imm & a_transposed) != 0;
    if (!gather.read(room.panel, layout::read_wgmma_descriptor(*warp.slot<std::uint64_t>(slots.a[0])), transposed, slab * w, slab,
                     stored, bits, [&](int row) { undefined.rows |= 1u << row; }))
      return Outcome::fault;
    room.panel.expand(transposed != tiled, room.a);
  } else {
    const int row_step = tiled ? 1 : stored, column_step = tiled ? slab : 1;
    for (std::size_t r = 0; r < slots.a.size(); ++r)
      for (int l = 0; l < lane_count; ++l) {
        const MatrixPlace place = place_of_a(slab, static_cast<int>(r), l, p.per());
        each_element(warp.slot<std::uint32_t>(slots.a[r])[l], p.per(), bits, [&](int j, std::uint32_t raw) {
          room.a[index_of(place.row * row_step + (place.column + j) * column_step)] = raw;
        });
      }
  }
  if ((step.imm & a_negated) != 0) negate(room.a, bits);
  gather.name = "b";
  bool failed = false;
  const KnownMatrix* const b =
      MatrixB{warp, step, p, room, numerics, depth, undefined}.read(gather, *warp.slot<std::uint64_t>(slots.b), failed);
  if (failed) return Outcome::fault;

  const bool adds = has_lane(warp.pred(slots.scale) ^ slots.flip, 0);
  if (tiled) {
    multiply_in_tiles(warp, p, slots, room, *b, adds, numerics);
  } else {
    room.d.resize(index_of(slab * n));
    RawMatrices matrices{room.a, room.b, (step.imm & is_sparse) != 0 ? warp.slot<std::uint32_t>(slots.e) : nullptr, room.d};
    if (b != nullptr) matrices.b_factors = &b->factors;
    if (adds)
      read_accumulators(warp, slots.d, p.d_half, room.d);
    else
      std::fill(room.d.begin(), room.d.end(), 0);
    multiply(p, matrices, numerics);
    write_accumulators(warp, slots.d, p.d_half, room.d);
  }
  if (warp.traced && (warp.traced != was_traced || undefined.any() || has_undefined(warp, step)))
    pass_undefined_parts(warp, step, p, slots, adds, undefined);
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

// What wgmma adds at once where it differs from mma (docs/facts.md).
num::DotUnit unit_of_wgmma(const Product& p) {
  if (p.bits == 8) return {32, 13, p.d_half ? num::DotResult::f16 : num::DotResult::f32_short};
  return p.unit;
}

}  // namespace

namespace op {

Handler wgmma(Decoding& in) {
  Product p;
  if (auto why = read_product(in, p)) return in.refuse(std::move(*why));
  p.m = slab;
  if (p.arithmetic == Arithmetic::two_steps) p.arithmetic = Arithmetic::blocks;
  if (p.floating()) p.unit = unit_of_wgmma(p);
  in.tracks_undefined = true;
  const auto d = in.write_all("d", Type::b32);
  const bool registers = in.is_vector("a");
  const auto a = registers ? in.read_all("a", Type::b32) : std::vector<std::uint32_t>{in.read("a", Type::b64)};
  p.d_registers = static_cast<std::uint8_t>(d.size()), p.a_registers = static_cast<std::uint8_t>(a.size());
  const Decoding::Pred scale = in.read_pred("scale_d");
  const bool sparse = in.given("e");
  if (sparse) {
    p.sparsity = p.bits == 32 ? Sparsity::singles : p.bits == 16 ? Sparsity::pairs : Sparsity::byte_pairs;
    p.selector = static_cast<std::uint8_t>(in.immediate("f").value_or(0));
  }
  const auto flag = [&](std::string_view operand, std::int64_t value, std::int64_t bit) {
    return in.given(operand) && in.immediate(operand) == value ? bit : 0;
  };
  in.add_operands(d);
  in.add_operands(a);
  const std::uint32_t rest[] = {in.read("b", Type::b64), scale.offset, scale.flip,
                                sparse ? in.read("e", Type::b32) : zero_offset};
  in.add_operands(rest);
  in.step.x = words_of(p);
  in.step.imm = (registers ? 0 : a_in_memory) | (sparse ? is_sparse : 0) | flag("scale_a", -1, a_negated) |
                flag("scale_b", -1, b_negated) | flag("trans_a", 1, a_transposed) | flag("trans_b", 1, b_transposed);
  const bool fits = p.arithmetic == Arithmetic::blocks && !sparse && !p.d_half && num::fits_tiles(p.unit, p.k);
  if (fits && host_has_avx2() && num::host_has_tiles()) in.step.imm |= in_tiles;
  return &vgpu::wgmma;
}

Handler wgmma_sync(Decoding& in) {
  const isa::Effects& effects = in.form().row->effects;
  in.step.x[0] = effects.commits != isa::Event::none ? 1 : 0;
  in.step.x[1] = effects.waits != isa::Event::none ? 1 : 0;
  in.step.x[2] = in.given("n") ? static_cast<std::uint32_t>(in.immediate("n").value_or(0)) : 0;
  return [](Warp& warp, const Step& step, Mask mask) {
    if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
    // A group is complete when all warps of the warpgroup have begun it; and a product takes its time, in which others go on.
    const std::uint32_t complete = warp.wgmma_groups - std::min(warp.wgmma_groups, step.x[2]);
    if (step.x[1] != 0 && complete > warp.wgmma_awaited) {
      warp.wgmma_awaited = complete;
      return ask_again(warp, step);
    }
    const std::size_t first = warp.index - warp.index % warps_of_group;
    for (std::size_t i = first; step.x[1] != 0 && i < std::min<std::size_t>(first + warps_of_group, warp.cta->warps.size()); ++i)
      if (const Warp& other = warp.cta->warps[i]; other.live != 0 && other.wgmma_groups < complete) return ask_again(warp, step);
    if (step.x[0] != 0) ++warp.wgmma_groups, ++warp.cta->changes;
    if (warp.races != nullptr) warp.races->meet(warp, warp.live);  // what the lanes of a converged warp have loaded, it has
    if (warp.races != nullptr && step.x[0] != 0) warp.races->close_wgmma_group(warp);
    if (warp.races != nullptr && step.x[1] != 0) warp.races->wait_for_wgmma_groups(warp, step.x[2]);
    return Outcome::next;
  };
}

}  // namespace op
}  // namespace ptx::vgpu
