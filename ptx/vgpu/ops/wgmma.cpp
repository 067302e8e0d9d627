// wgmma (rows: ptx/isa/table/wgmma.hpp). An operation is done when it is issued, as an asynchronous one may be, and each warp of
// a warpgroup computes its own 16 rows.
#include <algorithm>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/ops/product_words.hpp"
#include "ptx/vgpu/tensor/fragment.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/warp.hpp"
#include "ptx/vgpu/undefined.hpp"

namespace ptx::vgpu {
namespace {

constexpr int warps_of_group = 4, slab = 16, max_columns = 256;

// Step::imm
constexpr std::int64_t a_in_memory = 1, a_negated = 2, b_negated = 4, a_transposed = 8, b_transposed = 16, is_sparse = 32;

// x = Product of one warp's rows; operands = d, a's registers or descriptor, b's descriptor, scale_d and what it is flipped by,
// and e.
struct Slots {
  std::span<const std::uint32_t> d, a;
  std::uint32_t b, scale, flip, e;
  Slots(const Product& p, std::span<const std::uint32_t> all)
      : d(all.first(p.d_registers)), a(all.subspan(p.d_registers, p.a_registers)) {
    const auto rest = all.subspan(d.size() + a.size());
    b = rest[0], scale = rest[1], flip = rest[2], e = rest[3];
  }
};

// ---- matrices in shared memory (manual: "Matrix Descriptor Format", "Strides", "Canonical Layouts")

struct Descriptor {
  std::uint64_t start, leading, stride, base_offset;
  std::uint64_t width;  // of a row of the swizzle's pattern, in pieces of 16 bytes; 1 without a swizzle
  explicit Descriptor(std::uint64_t bits)
      : start((bits & 0x3FFF) << 4),
        leading((bits >> 16 & 0x3FFF) << 4),
        stride((bits >> 32 & 0x3FFF) << 4),
        base_offset(bits >> 49 & 7),
        width(std::array<std::uint64_t, 4>{1, 8, 4, 2}[bits >> 62]) {}
  // Of the 16 bytes that hold piece `piece` of row `mn`, k being contiguous; or of column k, m or n being contiguous.
  [[nodiscard]] std::uint64_t along_k(std::uint64_t mn, std::uint64_t piece) const {
    if (width == 1) return start + mn % 8 * 16 + mn / 8 * stride + piece * leading;
    return swizzled(start + mn % 8 * 16 * width + mn / 8 * stride + piece * 16);
  }
  [[nodiscard]] std::uint64_t along_mn(std::uint64_t k, std::uint64_t piece) const {
    if (width == 1) return start + piece * stride + k % 8 * 16 + k / 8 * leading;
    return swizzled(start + piece % width * 16 + piece / width * leading + k % 8 * 16 * width + k / 8 * stride);
  }
  // The pieces of a row change places by the row's number in the pattern, which begins base_offset rows behind its multiple.
  [[nodiscard]] std::uint64_t swizzled(std::uint64_t address) const {
    return address ^ (((address >> 7) - base_offset) & (width - 1)) << 4;
  }
};

// Elements of a matrix in shared memory: `count` rows from `first` on, of `depth` elements along k. element(row, k) is where one
// goes; unwritten(row) is told of a row that has bytes which nothing has written.
struct Gather {
  Warp& warp;
  const Step& step;
  std::string_view name;
  bool failed = false;

  const std::byte* piece(std::uint64_t address, bool& written) {
    const MemoryRegion& region = warp.cta->shared_region;
    if (!region.contains(address, row_bytes)) {
      if (!failed)
        warp.fail(step, 0, Kind::out_of_bounds,
                  cat("reads ", row_bytes, " bytes of matrix ", name, " at shared address 0x", hex(address), ", ",
                      describe_position(address, row_bytes, {&region, 1})));
      failed = true;
      return nullptr;
    }
    const std::uint64_t offset = address - region.begin;
    if (region.written != nullptr && !all_written<row_bytes>(region.written + offset)) {
      written = false;
      note_found(warp, step, say_unwritten(warp, Space::shared, address, {region.written + offset, row_bytes}));
    }
    return region.data + offset;
  }

  template <class Element, class Unwritten>
  bool operator()(const Descriptor& from, bool transposed, int first, int count, int depth, int bits, Element element,
                  Unwritten unwritten) {
    const int per_piece = 128 / bits;
    const int outer = transposed ? depth : count, inner = (transposed ? count : depth) / per_piece;
    for (int o = 0; o < outer; ++o)
      for (int i = 0; i < inner; ++i) {
        const auto address = transposed ? from.along_mn(static_cast<std::uint64_t>(o), index_of(first / per_piece + i))
                                        : from.along_k(index_of(first + o), index_of(i));
        bool written = true;
        const std::byte* bytes = piece(address, written);
        if (bytes == nullptr) return false;
        for (int w = 0; w < 4; ++w)
          each_element(load_as<std::uint32_t>(bytes + 4 * w), 32 / bits, bits, [&](int j, std::uint32_t raw) {
            const int along = i * per_piece + w * (32 / bits) + j;
            element(transposed ? along : o, transposed ? o : along) = raw;
          });
        if (!written) {
          if (!transposed)
            unwritten(o);
          else
            for (int j = 0; j < per_piece; ++j) unwritten(i * per_piece + j);
        }
      }
    return true;
  }
};

// Room for one product, by thread.
struct Room {
  std::vector<std::uint32_t> a, b, d;
};

// Which results are undefined: rows and columns of the slab that have an undefined factor, and an undefined accumulator.
struct UndefinedParts {
  std::uint32_t rows = 0;
  std::array<bool, max_columns> columns{};
  bool all = false;
};
void pass_undefined_parts(Warp& warp, const Step& step, const Product& p, const Slots& slots, bool adds, UndefinedParts parts) {
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
  for (std::size_t r = 0; r < slots.d.size(); ++r) {
    const Mask before = adds ? undefined_value(warp, step, r) : 0;
    const Mask lanes = lanes_where([&](int l) {
      for (int j = 0; j < together; ++j) {
        const MatrixPlace at = place_of_c(static_cast<int>(r) * together + j, l);
        if (parts.all || (parts.rows >> at.row & 1) != 0 || parts.columns[static_cast<std::size_t>(at.column)]) return true;
      }
      return false;
    });
    set_result(warp, step, r, all_lanes, lanes | before, (lanes & ~before) != 0 ? source : before != 0 ? r : source);
  }
}

Outcome wgmma(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const Product p = product_of(step.x);
  const Slots slots(p, operands_of(warp.cta->launch->code, step));
  const int w = static_cast<int>(warp.index % warps_of_group);
  if (warp.index - static_cast<std::uint32_t>(w) + warps_of_group > warp.cta->warps.size())
    return warp.fail(step, 0, Kind::divergent,
                     "needs a warpgroup: four warps, of which the first has a multiple of 4 as its number");
  const bool from_memory = (step.imm & a_in_memory) != 0;
  const auto in_all_lanes = [&](std::uint32_t slot) {
    const auto* values = warp.slot<std::uint64_t>(slot);
    return std::all_of(values, values + lane_count, [&](std::uint64_t value) { return value == values[0]; });
  };
  for (const std::uint32_t slot : {from_memory ? slots.a[0] : slots.b, slots.b})
    if (!in_all_lanes(slot))
      return warp.fail(step, 0, Kind::divergent, "is given a matrix descriptor that differs between the lanes of its warp");
  const bool was_traced = warp.traced;
  static thread_local Room room;
  const bool bits_alone = p.arithmetic == Arithmetic::bits_and;
  const int n = p.n, depth = bits_alone ? p.k / 32 : p.k, stored = bits_alone ? depth : p.stored(), bits = p.bits;
  room.a.resize(index_of(slab * stored)), room.b.resize(index_of(depth * n));
  room.d.resize(index_of(slab * n));

  Gather gather{warp, step, "a"};
  UndefinedParts undefined;
  const auto a_at = [&](int row, int k) -> std::uint32_t& { return room.a[index_of(row * stored + k)]; };
  if (from_memory) {
    if (!gather(Descriptor(*warp.slot<std::uint64_t>(slots.a[0])), (step.imm & a_transposed) != 0, slab * w, slab, stored, bits,
                a_at, [&](int row) { undefined.rows |= 1u << row; }))
      return Outcome::fault;
  } else {
    for (std::size_t r = 0; r < slots.a.size(); ++r)
      for (int l = 0; l < lane_count; ++l) {
        const MatrixPlace place = place_of_a(slab, static_cast<int>(r), l, p.per());
        each_element(warp.slot<std::uint32_t>(slots.a[r])[l], p.per(), bits,
                     [&](int j, std::uint32_t raw) { a_at(place.row, place.column + j) = raw; });
      }
  }
  gather.name = "b";
  if (!gather(
          Descriptor(*warp.slot<std::uint64_t>(slots.b)), (step.imm & b_transposed) != 0, 0, n, depth, bits,
          [&](int column, int k) -> std::uint32_t& { return room.b[index_of(k * n + column)]; },
          [&](int column) { undefined.columns[static_cast<std::size_t>(column)] = true; }))
    return Outcome::fault;
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  if ((step.imm & a_negated) != 0)
    for (std::uint32_t& raw : room.a) raw ^= sign;
  if ((step.imm & b_negated) != 0)
    for (std::uint32_t& raw : room.b) raw ^= sign;

  const bool adds = has_lane(warp.pred(slots.scale) ^ slots.flip, 0);
  const int together = p.d_half ? 2 : 1;
  const auto each_d = [&](auto use) {
    for (std::size_t r = 0; r < slots.d.size(); ++r) {
      auto* reg = warp.slot<std::uint32_t>(slots.d[r]);
      for (int l = 0; l < lane_count; ++l) {
        const MatrixPlace place = place_of_c(static_cast<int>(r) * together, l);
        use(reg[l], &room.d[index_of(place.row * n + place.column)]);  // the second of two of f16 lies behind it
      }
    }
  };
  each_d([&](std::uint32_t reg, std::uint32_t* d) {
    each_element(adds ? reg : 0, together, 32 / together, [&](int j, std::uint32_t raw) { d[j] = raw; });
  });
  multiply(p, {room.a, room.b, (step.imm & is_sparse) != 0 ? warp.slot<std::uint32_t>(slots.e) : nullptr, room.d});
  each_d([&](std::uint32_t& reg, const std::uint32_t* d) { reg = p.d_half ? d[0] | d[1] << 16 : d[0]; });
  if (warp.traced) pass_undefined_parts(warp, step, p, slots, adds, undefined);
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
  return &vgpu::wgmma;
}

Handler wgmma_sync(Decoding&) {
  return [](Warp& warp, const Step& step, Mask mask) {
    if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
    return Outcome::next;
  };
}

}  // namespace op
}  // namespace ptx::vgpu
