// wmma (rows: ptx/isa/table/matrix.hpp). A program is not told where the elements of a fragment are. Here they are where ptxas
// has them, for the products that it makes of one or two mma: 16 x 16 is two products of 16 x 8 side by side, 32 x 8 two of 16 x
// 8 on top of each other, and 8 x 32 the transposed product of 32 x 8. The eight registers of f16 factors hold elements several
// times.
#include <algorithm>
#include <cstring>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/product_words.hpp"
#include "ptx/vgpu/tensor/fragment.hpp"
#include "ptx/vgpu/tensor/product.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

enum class Matrix : std::uint8_t { a, b, c };

// A product of m x n x k in tiles of 16 x 8 or 8 x 8.
struct Tiles {
  int m, n, k, per;
  [[nodiscard]] int tile_rows() const { return std::min(m, 16); }
  // registers of a tile of a or b, elements a lane of one of c
  [[nodiscard]] int of_a() const { return tile_rows() * k / (32 * per); }
  [[nodiscard]] int of_b() const { return k / (4 * per); }
  [[nodiscard]] int of_c() const { return tile_rows() / 4; }
  [[nodiscard]] int registers(Matrix matrix) const {
    return matrix == Matrix::a ? m / tile_rows() * of_a() : matrix == Matrix::b ? n / 8 * of_b() : m * n / 32;
  }
  // of a register's first element; of c: of an element. The others lie along k.
  [[nodiscard]] MatrixPlace place(Matrix matrix, int reg, int lane) const {
    if (matrix == Matrix::a) {
      MatrixPlace at = place_of_a(tile_rows(), reg % of_a(), lane, per);
      at.row += 16 * (reg / of_a());
      return at;
    }
    if (matrix == Matrix::b) {
      MatrixPlace at = place_of_b(reg % of_b(), lane, per);
      at.column += 8 * (reg / of_b());
      return at;
    }
    MatrixPlace at = place_of_c(reg % of_c(), lane);
    (m == 32 ? at.row : at.column) += (m == 32 ? 16 : 8) * (reg / of_c());
    return at;
  }
};

// The same, of the product that is computed: of 8 x 32 the transposed one, where a and b change places.
bool is_transposed(isa::MatrixShape shape) { return shape.m == 8 && shape.n == 32; }
Tiles tiles_of(isa::MatrixShape shape, int per) {
  return is_transposed(shape) ? Tiles{shape.n, shape.m, shape.k, per} : Tiles{shape.m, shape.n, shape.k, per};
}

// ---- wmma.load and wmma.store: x[0] to x[7] as in Fields, x[8] = address, x[9] = stride; operands = registers

struct Fields {
  std::uint16_t m, n, k;  // of the tiles
  Matrix matrix;          // likewise
  std::uint8_t bits;      // of an element
  bool by_rows;           // row by row, as the tiles have them
  bool wide;              // registers of 64 bits
  std::uint8_t per;       // elements in a register
  std::uint8_t fragment;  // bytes of a lane
  std::uint32_t alignment, constant_stride;
};
using FieldWords = std::array<std::uint32_t, 5>;
static_assert(sizeof(Fields) == sizeof(FieldWords));

// The places of the lanes' elements. False: a fault was recorded.
bool find_elements(Warp& warp, const Step& step, std::uint32_t bytes, bool write,
                   const std::array<std::uint64_t, lane_count>& address, std::array<Place, lane_count>& places) {
  const MemoryRegion& region = *likely_region(warp, step);
  bool inside = region.size >= bytes && (!write || region.writable) && region.lane_stride == 0;
  for (std::size_t l = 0; inside && l < lane_count; ++l) {
    const std::uint64_t offset = address[l] - region.begin;
    inside = offset <= region.size - bytes && address[l] % bytes == 0;
    if (inside) places[l] = {region.data + offset, region.written == nullptr ? nullptr : region.written + offset};
  }
  if (!inside && !find_places(warp, step, all_lanes, step.space, write, bytes, address.data(), places)) return false;
  if (warp.races != nullptr) warp.races->access(warp, step, all_lanes, write, bytes, places);
  return true;
}

// use(register, first bit of the element in it, its places, its addresses, bytes); false ends it.
template <class Use>
Outcome each_element_place(Warp& warp, const Step& step, bool write, Use use) {
  FieldWords words;
  std::copy_n(step.x.begin(), words.size(), words.begin());
  const auto f = std::bit_cast<Fields>(words);
  const Tiles tiles{f.m, f.n, f.k, f.per};
  const int registers = static_cast<int>(step.operand_count);
  // elements of less than a byte lie along k: a register is loaded at once. An accumulator's elements are single.
  const int together = f.bits < 8 ? f.per : 1, size = f.bits * together / 8;
  std::array<std::uint64_t, lane_count> base, address;
  read_addresses(warp, step, base);
  const auto* strides = warp.slot<std::uint32_t>(step.x[9]);
  for (std::size_t l = 0; l < lane_count; ++l) {
    const std::uint64_t row_bytes_between =
        static_cast<std::uint64_t>(f.constant_stride != 0 ? f.constant_stride : strides[l]) * f.bits / 8;
    if (base[l] != base[0] || (f.constant_stride == 0 && strides[l] != strides[0]))
      return warp.fail(
          step, static_cast<int>(l), Rule::V_04,
          base[l] != base[0]
              ? cat("is given a matrix at 0x", hex(base[l]), " here and at 0x", hex(base[0]), " in another lane of its warp")
              : cat("is given a stride of ", strides[l], " here and of ", strides[0], " in another lane of its warp"));
    if (base[l] % f.alignment != 0 || row_bytes_between % f.alignment != 0)
      return warp.fail(step, static_cast<int>(l), Kind::misaligned,
                       cat("needs rows at multiples of ", f.alignment, " bytes: the first is at 0x", hex(base[l]),
                           ", the others ", row_bytes_between, " bytes from each other"));
  }
  // The manual wants rows, too, at multiples of the fragment's size; CUDA C++, for whose functions these are, at multiples of 16.
  if (warp.races != nullptr && base[0] % f.fragment != 0)
    warp.races->suspect(warp, step, Rule::A_02, 0,
                        cat("has its matrix at 0x", hex(base[0]), ", which is not a multiple of ", int{f.fragment},
                            ": the size of what a lane has of it"));
  for (int reg = 0; reg < registers; ++reg)
    for (int j = 0; j < f.per; j += together) {
      for (int l = 0; l < lane_count; ++l) {
        const int number = f.matrix == Matrix::c ? reg * f.per + j : reg % tiles.registers(f.matrix);
        MatrixPlace at = tiles.place(f.matrix, number, l);
        if (f.matrix == Matrix::a) at.column += j;
        if (f.matrix == Matrix::b) at.row += j;
        const auto stride = static_cast<std::int64_t>(f.constant_stride != 0 ? f.constant_stride : strides[l]);
        const std::int64_t element = f.by_rows ? at.row * stride + at.column : at.column * stride + at.row;
        address[static_cast<std::size_t>(l)] =
            base[static_cast<std::size_t>(l)] + static_cast<std::uint64_t>(element * f.bits / 8);
      }
      std::array<Place, lane_count> places;
      if (!find_elements(warp, step, static_cast<std::uint32_t>(size), write, address, places)) return Outcome::fault;
      const Outcome outcome =
          use(static_cast<std::size_t>(reg), j * f.bits, places, address, static_cast<std::uint32_t>(size), f.wide);
      if (outcome != Outcome::next) return outcome;
    }
  return Outcome::next;
}

Outcome wmma_load(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  if (warp.traced && fail_undefined_address(warp, step, all_lanes)) return Outcome::fault;
  const auto slots = operands_of(warp.cta->launch->code, step);
  const bool was_traced = warp.traced;
  std::array<Mask, 16> unwritten{};
  const Outcome outcome = each_element_place(
      warp, step, false, [&](std::size_t reg, int bit, const auto& places, const auto& address, std::uint32_t bytes, bool wide) {
        for (std::size_t l = 0; l < lane_count; ++l) {
          std::uint64_t raw = 0;
          std::memcpy(&raw, places[l].data, bytes);
          if (wide) {
            warp.slot<std::uint64_t>(slots[reg])[l] = raw;
          } else {
            auto& to = warp.slot<std::uint32_t>(slots[reg])[l];
            to = (bit == 0 ? 0 : to) | static_cast<std::uint32_t>(raw) << bit;
          }
          const std::uint8_t* marks = places[l].written;
          if (marks == nullptr || std::all_of(marks, marks + bytes, [](std::uint8_t mark) { return mark == written_mark; }))
            continue;
          unwritten[reg] |= Mask{1} << l;
          note_found(warp, step, say_unwritten(warp, step.space, address[l], {marks, bytes}));
        }
        return Outcome::next;
      });
  if (outcome != Outcome::next || !warp.traced) return outcome;
  for (std::size_t reg = 0; reg < slots.size(); ++reg) set_result(warp, step, reg, all_lanes, unwritten[reg]);
  return was_traced ? Outcome::next : go_on_behind(warp, step);
}

Outcome wmma_store(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  if (warp.traced && fail_undefined_address(warp, step, all_lanes)) return Outcome::fault;
  const auto slots = operands_of(warp.cta->launch->code, step);
  ++warp.cta->changes;
  return each_element_place(
      warp, step, true, [&](std::size_t reg, int bit, const auto& places, const auto& address, std::uint32_t bytes, bool wide) {
        const Mask undefined = warp.traced ? undefined_value(warp, step, reg) : 0;
        if (undefined != 0) ++marks_taken_back;
        for (std::size_t l = 0; l < lane_count; ++l) {
          const bool is_undefined = has_lane(undefined, static_cast<int>(l));
          if (is_undefined && outlives_block(step.space, address[l])) return fail_undefined_store(warp, step, Mask{1} << l, reg);
          const std::uint64_t raw =
              wide ? warp.slot<std::uint64_t>(slots[reg])[l] : warp.slot<std::uint32_t>(slots[reg])[l] >> bit;
          std::memcpy(places[l].data, &raw, bytes);
          if (places[l].written != nullptr) std::memset(places[l].written, is_undefined ? undefined_mark : written_mark, bytes);
        }
        return Outcome::next;
      });
}

Handler access_matrix(Decoding& in, Matrix matrix, std::string_view registers, bool store) {
  const isa::MatrixShape shape = shape_of(in);
  Type type = Type::none;
  for (std::size_t i = 0; i < in.form().slots.size(); ++i)
    if (const auto word = isa::type_from_name(in.form().chosen(in.choices(), static_cast<int>(i)))) type = *word;
  const bool wide = type == Type::f64;
  const int bits = isa::bits(type), per = wide ? 1 : 32 / bits;
  const bool transposed = is_transposed(shape), by_rows = in.wrote("row");
  in.tracks_undefined = true;
  const Type register_type = wide ? Type::b64 : Type::b32;
  const auto slots = store ? in.read_all(registers, register_type) : in.write_all(registers, register_type);
  in.add_operands(slots);
  const auto address = in.read_address("p");
  const bool given = in.given("stride");
  const int rows = matrix == Matrix::b ? shape.k : shape.m, columns = matrix == Matrix::a ? shape.k : shape.n;
  const Tiles tiles = tiles_of(shape, per);
  const Matrix as_laid_out = !transposed || matrix == Matrix::c ? matrix : matrix == Matrix::a ? Matrix::b : Matrix::a;
  const std::size_t fragment = slots.size() * (wide ? 8 : 4);
  const Fields fields{static_cast<std::uint16_t>(tiles.m),
                      static_cast<std::uint16_t>(tiles.n),
                      static_cast<std::uint16_t>(tiles.k),
                      as_laid_out,
                      static_cast<std::uint8_t>(bits),
                      by_rows != transposed,
                      wide,
                      static_cast<std::uint8_t>(per),
                      static_cast<std::uint8_t>(fragment),
                      static_cast<std::uint32_t>(std::min<std::size_t>(16, fragment)),
                      given ? 0 : static_cast<std::uint32_t>(by_rows ? columns : rows)};
  const auto words = std::bit_cast<FieldWords>(fields);
  std::copy(words.begin(), words.end(), in.step.x.begin());
  in.step.x[8] = address.base;
  in.step.x[9] = given ? in.read("stride", Type::u32) : zero_offset;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
  in.step.space = in.space("p");
  in.step.site = in.new_site();
  return store ? &wmma_store : &wmma_load;
}

// ---- wmma.mma: x = Product of the tiles' product; operands = d, and its a, b and c

Outcome wmma(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const Product p = product_of(step.x);
  auto rest = operands_of(warp.cta->launch->code, step);
  const auto take = [&](std::size_t count) {
    const auto part = rest.first(count);
    rest = rest.subspan(count);
    return part;
  };
  const auto d = take(p.d_registers), a = take(p.a_registers), b = take(p.b_registers), c = take(p.c_registers);
  const bool bits_alone = p.arithmetic == Arithmetic::bits_and || p.arithmetic == Arithmetic::bits_xor;
  const Tiles tiles{p.m, p.n, p.k, bits_alone ? 32 : p.per()};
  const int per = p.per(), depth = bits_alone ? p.k / 32 : p.k, n = p.n;
  const auto at = [](MatrixPlace place, int columns) { return index_of(place.row * columns + place.column); };
  const auto in_words = [&](MatrixPlace place, bool along_columns) {  // b1: a register is an element
    if (bits_alone) (along_columns ? place.column : place.row) /= 32;
    return place;
  };
  if (p.arithmetic == Arithmetic::doubles) {
    std::array<double, 32> x, y;
    std::array<double, 64> sum;
    for (int l = 0; l < lane_count; ++l) {
      x[at(tiles.place(Matrix::a, 0, l), depth)] = std::bit_cast<double>(warp.slot<std::uint64_t>(a[0])[l]);
      y[at(tiles.place(Matrix::b, 0, l), n)] = std::bit_cast<double>(warp.slot<std::uint64_t>(b[0])[l]);
      for (int i = 0; i < 2; ++i)
        sum[at(tiles.place(Matrix::c, i, l), n)] =
            std::bit_cast<double>(warp.slot<std::uint64_t>(c[static_cast<std::size_t>(i)])[l]);
    }
    multiply_doubles(p, x.data(), y.data(), sum.data());
    for (int i = 0; i < 2; ++i)
      for (int l = 0; l < lane_count; ++l)
        warp.slot<std::uint64_t>(d[static_cast<std::size_t>(i)])[l] = num::bits_of(sum[at(tiles.place(Matrix::c, i, l), n)]);
  } else {
    std::array<std::uint32_t, 32 * 16> x;
    std::array<std::uint32_t, 32 * 16> y;
    std::array<std::uint32_t, 32 * 8> sum;
    for (int r = 0; r < tiles.registers(Matrix::a); ++r)
      for (int l = 0; l < lane_count; ++l)
        each_element(warp.slot<std::uint32_t>(a[static_cast<std::size_t>(r)])[l], per, p.bits, [&](int j, std::uint32_t raw) {
          x[at(in_words(tiles.place(Matrix::a, r, l), true), depth) + static_cast<std::size_t>(j)] = raw;
        });
    for (int r = 0; r < tiles.registers(Matrix::b); ++r)
      for (int l = 0; l < lane_count; ++l)
        each_element(warp.slot<std::uint32_t>(b[static_cast<std::size_t>(r)])[l], per, p.bits, [&](int j, std::uint32_t raw) {
          y[at(in_words(tiles.place(Matrix::b, r, l), false), n) + index_of(j * n)] = raw;
        });
    const auto each_sum = [&](std::span<const std::uint32_t> registers, bool half, auto use) {
      const int together = half ? 2 : 1;
      for (int i = 0; i < p.m * p.n / 32; ++i)
        for (int l = 0; l < lane_count; ++l)
          use(warp.slot<std::uint32_t>(registers[static_cast<std::size_t>(i / together)])[l], i % together * 16,
              sum[at(tiles.place(Matrix::c, i, l), n)]);
    };
    each_sum(c, p.c_half, [&](std::uint32_t reg, int bit, std::uint32_t& to) { to = p.c_half ? reg >> bit & 0xFFFF : reg; });
    multiply(p,
             {std::span(x).first(index_of(p.m * depth)), std::span(y).first(index_of(depth * n)), nullptr,
              std::span(sum).first(index_of(p.m * n))},
             warp.cta->launch->options.numerics);
    each_sum(d, p.d_half, [&](std::uint32_t& reg, int bit, std::uint32_t value) { reg = (bit == 0 ? 0 : reg) | value << bit; });
  }
  if (!warp.traced) return Outcome::next;
  // where the elements are is not the program's affair: one that is undefined makes all of the product so
  std::size_t source = no_value;
  for (std::size_t v = 0; v < a.size() + b.size() + c.size(); ++v)
    if (undefined_value(warp, step, v) != 0) source = v;
  for (std::size_t r = 0; r < d.size(); ++r) set_result(warp, step, r, all_lanes, source == no_value ? 0 : all_lanes, source);
  return Outcome::next;
}

}  // namespace

namespace op {

Handler wmma_load(Decoding& in) {
  return access_matrix(in, in.wrote("a") ? Matrix::a : in.wrote("b") ? Matrix::b : Matrix::c, "r", false);
}
Handler wmma_store(Decoding& in) { return access_matrix(in, Matrix::c, "d", true); }

Handler wmma(Decoding& in) {
  Product p;
  if (auto why = read_product(in, p)) return in.refuse(std::move(*why));
  if (p.a_format == num::DotFormat::tf32) p.unit.block = 4;  // ptxas makes HMMA.1684 of it on every target (facts.md: H200)
  const isa::MatrixShape shape = shape_of(in);
  const bool transposed = is_transposed(shape);
  if (transposed) std::swap(p.m, p.n), std::swap(p.a_signed, p.b_signed), std::swap(p.a_format, p.b_format);
  const Type type = p.arithmetic == Arithmetic::doubles ? Type::b64 : Type::b32;
  in.tracks_undefined = true;
  auto d = in.write_all("d", type), a = in.read_all("a", type), b = in.read_all("b", type), c = in.read_all("c", type);
  if (transposed) std::swap(a, b);
  p.d_registers = static_cast<std::uint8_t>(d.size()), p.a_registers = static_cast<std::uint8_t>(a.size());
  p.b_registers = static_cast<std::uint8_t>(b.size()), p.c_registers = static_cast<std::uint8_t>(c.size());
  for (const auto* part : {&d, &a, &b, &c}) in.add_operands(*part);
  in.step.x = words_of(p);
  return &vgpu::wmma;
}

}  // namespace op
}  // namespace ptx::vgpu
