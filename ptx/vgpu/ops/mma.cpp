// mma.sync and mma.sp (rows: ptx/isa/table/matrix.hpp).
#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/product_words.hpp"
#include "ptx/vgpu/tensor/fragment.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/scaled_product.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

// x = Product; operands = d, a, b, c, e of a sparse a, and what says which scales there are: sa, two numbers, sb, two numbers.
struct MmaSlots {
  std::span<const std::uint32_t> d, a, b, c, e, scales;
  MmaSlots(const Product& p, std::span<const std::uint32_t> all) {
    const auto take = [&](std::size_t count) {
      const auto part = all.first(count);
      all = all.subspan(count);
      return part;
    };
    d = take(p.d_registers), a = take(p.a_registers), b = take(p.b_registers), c = take(p.c_registers);
    e = take(p.sparsity == Sparsity::dense ? 0 : 1);
    scales = all;
  }
};

// Which results hold an undefined value: those of a row of a, or a column of b, that has one, and of an undefined c.
void pass_undefined(Warp& warp, const Step& step, const Product& p, const MmaSlots& slots) {
  std::uint32_t rows = 0, columns = 0;
  std::size_t value = 0, source = no_value;
  const auto each = [&](std::span<const std::uint32_t> registers, auto mark) {
    for (std::size_t r = 0; r < registers.size(); ++r, ++value)
      for (Mask left = undefined_value(warp, step, value); left != 0; left &= left - 1) {
        mark(static_cast<int>(r), lowest_lane(left));
        source = value;
      }
  };
  const int per = p.per();
  each(slots.a, [&](int r, int lane) { rows |= 1u << place_of_a(p.m, r, lane, per).row; });
  each(slots.b, [&](int r, int lane) { columns |= 1u << place_of_b(r, lane, per).column; });
  const std::size_t first_c = value;
  value += slots.c.size();
  each(slots.e, [&](int, int) { rows = ~0u; });
  if (!slots.e.empty()) ++value;  // the selector, a number
  each(slots.scales, [&](int, int) { rows = ~0u; });
  const int together = p.d_half ? 2 : 1, c_together = p.c_half ? 2 : 1;
  for (std::size_t r = 0; r < slots.d.size(); ++r) {
    const std::size_t of_c = first_c + r * static_cast<std::size_t>(together) / static_cast<std::size_t>(c_together);
    const Mask c = undefined_value(warp, step, of_c);
    const Mask lanes = lanes_where([&](int l) {
      bool is = false;
      for (int i = 0; i < together; ++i) {
        const MatrixPlace at = place_of_c(static_cast<int>(r) * together + i, l);
        is = is || (rows >> at.row & 1) != 0 || (columns >> at.column & 1) != 0;
      }
      return is;
    });
    set_result(warp, step, r, all_lanes, lanes | c, (lanes & ~c) != 0 ? source : of_c);
  }
}

Outcome mma_doubles(Warp& warp, const Step& step, const Product& p, const MmaSlots& slots) {
  std::array<double, 16 * 16> a, b;
  std::array<double, 16 * 8> d;
  const auto each = [&](std::span<const std::uint32_t> registers, auto use) {
    for (std::size_t r = 0; r < registers.size(); ++r) {
      auto* reg = warp.slot<std::uint64_t>(registers[r]);
      for (int l = 0; l < lane_count; ++l) use(static_cast<int>(r), l, reg[l]);
    }
  };
  const auto at = [](MatrixPlace place, int columns) { return index_of(place.row * columns + place.column); };
  each(slots.a, [&](int r, int l, std::uint64_t bits) { a[at(place_of_a(p.m, r, l, 1), p.k)] = std::bit_cast<double>(bits); });
  each(slots.b, [&](int r, int l, std::uint64_t bits) { b[at(place_of_b(r, l, 1), p.n)] = std::bit_cast<double>(bits); });
  each(slots.c, [&](int r, int l, std::uint64_t bits) { d[at(place_of_c(r, l), p.n)] = std::bit_cast<double>(bits); });
  multiply_doubles(p, a.data(), b.data(), d.data());
  each(slots.d, [&](int r, int l, std::uint64_t& bits) { bits = num::bits_of(d[at(place_of_c(r, l), p.n)]); });
  if (warp.traced) pass_undefined(warp, step, p, slots);
  return Outcome::next;
}

// The scales that the lanes have: of rows of a, and of columns of b. Nothing: a fault was recorded.
struct Scales {
  std::array<std::uint8_t, 16 * 4> a{};
  std::array<std::uint8_t, 8 * 4> b{};
};
std::optional<Scales> read_scales(Warp& warp, const Step& step, const Product& p, std::span<const std::uint32_t> slots) {
  const auto number = [&](std::size_t slot) { return static_cast<int>(warp.slot<std::uint32_t>(slots[slot])[0] & 0xFFFF); };
  const int a_byte = number(1), a_threads = number(2), b_byte = number(4), b_thread = number(5), scales = p.scales;
  for (const int byte : {a_byte, b_byte})
    if (byte % scales != 0 || byte + scales > 4) {
      warp.fail(step, 0, Kind::bad_descriptor,
                cat("is given byte ", byte, " for ", scales, " scales of four bytes; what fits is ",
                    scales == 1   ? "0 to 3"
                    : scales == 2 ? "0 or 2"
                                  : "0"));
      return std::nullopt;
    }
  if (a_threads > 1 || b_thread > 3) {
    warp.fail(step, 0, Kind::bad_descriptor,
              cat("is given thread ", a_threads > 1 ? a_threads : b_thread, " for the scales of ",
                  a_threads > 1 ? "a; what fits is 0 or 1" : "b; what fits is 0 to 3"));
    return std::nullopt;
  }
  Scales all;
  const auto* a = warp.slot<std::uint32_t>(slots[0]);
  const auto* b = warp.slot<std::uint32_t>(slots[3]);
  for (int row = 0; row < 16; ++row)
    for (int s = 0; s < scales; ++s)
      all.a[index_of(row * scales + s)] =
          static_cast<std::uint8_t>(a[4 * (row % 8) + 2 * a_threads + row / 8] >> (8 * (a_byte + s)));
  for (int column = 0; column < 8; ++column)
    for (int s = 0; s < scales; ++s)
      all.b[index_of(column * scales + s)] = static_cast<std::uint8_t>(b[4 * column + b_thread] >> (8 * (b_byte + s)));
  return all;
}

// What the metadata of a sparse product must not be, where it is so (manual: "Sparse matrix storage"): of single elements (.tf32)
// two values alone mean something, and indices of .sp::ordered_metadata (imm) ascend.
std::optional<std::string> wrong_metadata(const Product& p, const std::uint32_t* metadata, bool is_ordered) {
  const bool singles = p.sparsity == Sparsity::singles;
  if (!singles && !is_ordered) return std::nullopt;
  const int group = p.sparsity == Sparsity::nibble_pairs ? 4 : 2;
  for (int row = 0; row < p.m; ++row)
    for (int i = 0; i < p.stored(); ++i) {
      if (singles) {
        const std::uint32_t indices = indices_of(p, metadata, row, i);
        if (indices != 0b0100 && indices != 0b1110)
          return cat("is given 0x", hex(indices), " as metadata of row ", row, "; what fits for its types is 0x4 or 0xe");
      } else if (i % group != 0 && column_of(p, metadata, row, i) <= column_of(p, metadata, row, i - 1)) {
        return cat("is given indices of row ", row, " that do not ascend: column ", column_of(p, metadata, row, i),
                   " behind column ", column_of(p, metadata, row, i - 1), ", where .sp::ordered_metadata needs them in order");
      }
    }
  return std::nullopt;
}

Outcome mma(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const Product p = product_of(step.x);
  const MmaSlots slots(p, operands_of(warp.cta->launch->code, step));
  if (p.arithmetic == Arithmetic::doubles) return mma_doubles(warp, step, p, slots);
  std::array<std::uint32_t, 16 * 64> a;
  std::array<std::uint32_t, 128 * 8> b;
  std::array<std::uint32_t, 16 * 8> d;
  const int per = p.per(), stored = p.bits == 32 && !p.floating() ? p.k / 32 : p.stored(), n = p.n;
  const int depth = p.bits == 32 && !p.floating() ? p.k / 32 : p.k;
  for (std::size_t r = 0; r < slots.a.size(); ++r) {
    const auto* reg = warp.slot<std::uint32_t>(slots.a[r]);
    for (int l = 0; l < lane_count; ++l) {
      const MatrixPlace place = place_of_a(p.m, static_cast<int>(r), l, per);
      std::uint32_t* to = &a[index_of(place.row * stored + place.column)];
      each_element(reg[l], per, p.bits, [&](int j, std::uint32_t raw) { to[j] = raw >> p.a_shift; });
    }
  }
  for (std::size_t r = 0; r < slots.b.size(); ++r) {
    const auto* reg = warp.slot<std::uint32_t>(slots.b[r]);
    for (int l = 0; l < lane_count; ++l) {
      const MatrixPlace place = place_of_b(static_cast<int>(r), l, per);
      std::uint32_t* to = &b[index_of(place.row * n + place.column)];
      each_element(reg[l], per, p.bits, [&](int j, std::uint32_t raw) { to[j * n] = raw >> p.b_shift; });
    }
  }
  const auto element = [&](std::size_t r, int j, int together, int l) -> std::uint32_t& {
    const MatrixPlace place = place_of_c(static_cast<int>(r) * together + j, l);
    return d[index_of(place.row * n + place.column)];
  };
  for (std::size_t r = 0; r < slots.c.size(); ++r) {
    const auto* reg = warp.slot<std::uint32_t>(slots.c[r]);
    const int together = p.c_half ? 2 : 1;
    for (int l = 0; l < lane_count; ++l)
      each_element(reg[l], together, 32 / together, [&](int j, std::uint32_t raw) { element(r, j, together, l) = raw; });
  }
  const auto rows = static_cast<std::size_t>(p.m);
  RawMatrices matrices{std::span(a).first(rows * static_cast<std::size_t>(stored)), std::span(b).first(index_of(depth * n)),
                       slots.e.empty() ? nullptr : warp.slot<std::uint32_t>(slots.e[0]), std::span(d).first(rows * p.n)};
  if (matrices.metadata != nullptr)
    if (auto wrong = wrong_metadata(p, matrices.metadata, step.imm != 0))
      return warp.fail(step, 0, Kind::bad_descriptor, std::move(*wrong));
  if (p.scales == 0) {
    multiply(p, matrices, warp.cta->launch->options.numerics);
  } else {
    const auto scales = read_scales(warp, step, p, slots.scales);
    if (!scales) return Outcome::fault;
    std::vector<std::uint8_t> columns;
    for (int row = 0; matrices.metadata != nullptr && row < p.m; ++row)
      for (int i = 0; i < stored; ++i) columns.push_back(static_cast<std::uint8_t>(column_of(p, matrices.metadata, row, i)));
    matrices.columns = columns;
    multiply_scaled(p, p.bits == 4, p.ue4m3, p.scales, matrices, scales->a, scales->b);
  }
  for (std::size_t r = 0; r < slots.d.size(); ++r) {
    auto* reg = warp.slot<std::uint32_t>(slots.d[r]);
    for (int l = 0; l < lane_count; ++l)
      reg[l] = p.d_half ? element(r, 0, 2, l) | element(r, 1, 2, l) << 16 : element(r, 0, 1, l);
  }
  if (warp.traced) pass_undefined(warp, step, p, slots);
  return Outcome::next;
}

// ---- m8n8k4 of f16: four products, each of the lanes 4 q to 4 q + 3 and 16 + 4 q to 16 + 4 q + 3.
// x = Product; x[9]'s bits: a by columns, b by rows.

struct QuadPlace {
  int row, column;
};
constexpr QuadPlace quad_c(bool half, int i, int lane) {
  const int low = lane & 3, high = lane < 16 ? 0 : 4;
  if (half) return {low + high, i};
  return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

Outcome mma_by_quads(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const Product p = product_of(step.x);
  const MmaSlots slots(p, operands_of(warp.cta->launch->code, step));
  const bool a_by_columns = (step.imm & 1) != 0, b_by_rows = (step.imm & 2) != 0;
  Mask undefined = 0;
  if (warp.traced)
    for (std::size_t v = 0; v < slots.a.size() + slots.b.size() + slots.c.size(); ++v)
      undefined |= undefined_value(warp, step, v);
  for (int quad = 0; quad < 4; ++quad) {
    std::array<std::uint32_t, 8 * 4> a;
    std::array<std::uint32_t, 4 * 8> b;
    std::array<std::uint32_t, 8 * 8> d;
    Mask lanes = 0;
    const auto each_lane = [&](auto use) {
      for (int l = 4 * quad; l < 4 * quad + 4; ++l)
        for (const int lane : {l, l + 16}) {
          lanes |= Mask{1} << lane;
          use(lane);
        }
    };
    each_lane([&](int lane) {
      const int low = lane & 3, high = lane < 16 ? 0 : 4;
      for (int i = 0; i < 4; ++i) {
        const auto r = static_cast<std::size_t>(i / 2);
        const std::uint32_t x = warp.slot<std::uint32_t>(slots.a[r])[lane] >> (i % 2 * 16) & 0xFFFF;
        const std::uint32_t y = warp.slot<std::uint32_t>(slots.b[r])[lane] >> (i % 2 * 16) & 0xFFFF;
        const int row = a_by_columns ? i + high : low + high, column = a_by_columns ? low : i;
        a[index_of(row * 4 + column)] = x;
        const int b_row = b_by_rows ? low : i, b_column = b_by_rows ? i + high : low + high;
        b[index_of(b_row * 8 + b_column)] = y;
      }
      for (int i = 0; i < 8; ++i) {
        const QuadPlace at = quad_c(p.c_half, i, lane);
        const auto* reg = warp.slot<std::uint32_t>(slots.c[static_cast<std::size_t>(p.c_half ? i / 2 : i)]);
        d[index_of(at.row * 8 + at.column)] = p.c_half ? reg[lane] >> (i % 2 * 16) & 0xFFFF : reg[lane];
      }
    });
    multiply(p, {a, b, nullptr, d}, warp.cta->launch->options.numerics);
    each_lane([&](int lane) {
      for (int i = 0; i < 8; ++i) {
        const QuadPlace at = quad_c(p.d_half, i, lane);
        const std::uint32_t value = d[index_of(at.row * 8 + at.column)];
        auto& to = warp.slot<std::uint32_t>(slots.d[static_cast<std::size_t>(p.d_half ? i / 2 : i)])[lane];
        to = !p.d_half ? value : i % 2 == 0 ? value : to | value << 16;
      }
    });
    for (std::size_t r = 0; warp.traced && r < slots.d.size(); ++r)
      set_result(warp, step, r, lanes, (undefined & lanes) != 0 ? lanes : 0);
  }
  return Outcome::next;
}

// ---- decoding

void take_operands(Decoding& in, Product& p, Type type) {
  const auto count = [](const std::vector<std::uint32_t>& slots) { return static_cast<std::uint8_t>(slots.size()); };
  in.tracks_undefined = true;
  const auto d = in.write_all("d", type), a = in.read_all("a", type), b = in.read_all("b", type), c = in.read_all("c", type);
  p.d_registers = count(d), p.a_registers = count(a), p.b_registers = count(b), p.c_registers = count(c);
  for (const auto* part : {&d, &a, &b, &c}) in.add_operands(*part);
}

}  // namespace

namespace op {

Handler mma(Decoding& in) {
  Product p;
  if (auto why = read_product(in, p)) return in.refuse(std::move(*why));
  take_operands(in, p, p.arithmetic == Arithmetic::doubles ? Type::b64 : Type::b32);
  in.step.x = words_of(p);
  return &vgpu::mma;
}

Handler mma_quads(Decoding& in) {
  Product p;
  if (auto why = read_product(in, p)) return in.refuse(std::move(*why));
  if (isa::info(in.target()).base >= 80)
    return in.refuse("from sm_80 on no tensor core has it, and ptxas 13.0 makes code of it that computes no matrix product");
  p.unit.block = 4;
  take_operands(in, p, Type::b32);
  in.step.x = words_of(p);
  in.step.imm = (in.chosen("alayout") == "col" ? 1 : 0) | (in.chosen("blayout") == "row" ? 2 : 0);
  return &vgpu::mma_by_quads;
}

Handler mma_sparse(Decoding& in) {
  Product p;
  if (auto why = read_product(in, p)) return in.refuse(std::move(*why));
  if (p.arithmetic == Arithmetic::two_steps)
    return in.refuse("this target makes it of other instructions, and nobody has seen in which order they add");
  p.sparsity = p.bits == 32   ? Sparsity::singles
               : p.bits == 16 ? Sparsity::pairs
               : p.bits == 8  ? Sparsity::byte_pairs
                              : Sparsity::nibble_pairs;
  p.selector = static_cast<std::uint8_t>(in.immediate("f").value_or(0));
  take_operands(in, p, Type::b32);
  const std::uint32_t e = in.read("e", Type::b32);
  in.add_operands(std::span(&e, 1));
  in.step.x = words_of(p);
  in.step.imm = in.wrote("sp::ordered_metadata") ? 1 : 0;
  return &vgpu::mma;
}

Handler mma_scaled(Decoding& in) {
  Product p;
  p.sparsity = !in.given("e") ? Sparsity::dense : in.has("atype") ? Sparsity::byte_pairs : Sparsity::nibble_pairs;
  if (in.has("atype")) {
    const auto a = factor_of(in.type("atype")), b = factor_of(in.type("btype"));
    if (!a || !b) return in.refuse("the executor does not know its types");
    p.a_format = a->format, p.b_format = b->format;
    p.a_shift = a->shift, p.b_shift = b->shift;
    p.bits = 8, p.k = 32, p.scales = 1;
  } else {
    p.a_format = p.b_format = num::DotFormat::e2m1;
    p.bits = 4, p.k = 64, p.scales = in.wrote("scale_vec::4X") ? 4 : 2;
  }
  if (p.sparsity != Sparsity::dense) p.k = static_cast<std::uint16_t>(2 * p.k);
  p.ue4m3 = in.has("stype") && in.chosen("stype") == "ue4m3";
  take_operands(in, p, Type::b32);
  const auto add = [&](std::string_view name, Type type) { in.add_operands(in.read_all(name, type)); };
  if (p.sparsity != Sparsity::dense) add("e", Type::b32);
  in.step.imm = in.wrote("sp::ordered_metadata") ? 1 : 0;
  add("sa", Type::b32), add("ida", Type::u16), add("sb", Type::b32), add("idb", Type::u16);
  in.step.x = words_of(p);
  return &vgpu::mma;
}

}  // namespace op
}  // namespace ptx::vgpu
