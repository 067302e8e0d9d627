// Matrices between shared memory and the registers of a warp (rows: ptx/isa/table/matrix.hpp).
#include <cstring>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/tensor/warp.hpp"

namespace ptx::vgpu {
namespace {

using Addresses = std::array<std::uint64_t, lane_count>;
using Places = std::array<Place, lane_count>;

// How the bytes of a register come from rows. Lane 8 q + r has the address of row r of matrix q.
enum class Pattern : std::uint8_t {
  halves,             // 8 x 8 of 16 bits: 4 bytes of row lane / 4
  halves_transposed,  // two rows of the same column
  nibbles,            // 8 x 16 of 4 bits, each into the low bits of a byte
  sextets,            // 8 x 16 of 6 bits
  bytes_transposed,   // 16 x 8 of 8 bits, stored by columns of 16 bytes: elements of c, two by two
  // 16 x 16, transposed, two registers a matrix: four rows of the same column. Lane 16 q + r has the address of row r of matrix
  // q.
  square_bytes,
  square_nibbles,
  square_sextets,
};

// Byte j of register q: its row's lane, and its first bit there.
struct Source {
  int row, bit;
};
constexpr Source source_of(Pattern pattern, int q, int lane, int j) {
  const int g = lane >> 2, t = lane & 3;
  const int square_row = 16 * (q / 2) + 4 * t + j, square_column = g + 8 * (q % 2);
  switch (pattern) {
    case Pattern::square_bytes:
      return {square_row, 8 * square_column};
    case Pattern::square_nibbles:
      return {square_row, 4 * square_column};
    case Pattern::square_sextets:
      return {square_row, 6 * square_column};
    case Pattern::halves:
      return {8 * q + g, 8 * (4 * t + j)};
    case Pattern::halves_transposed:
      return {8 * q + 2 * t + (j >> 1), 8 * (2 * g + (j & 1))};
    case Pattern::nibbles:
      return {8 * q + g, 4 * (4 * t + j)};
    case Pattern::sextets:
      return {8 * q + g, 6 * (4 * t + j)};
    case Pattern::bytes_transposed:
      return {8 * q + 2 * t + (j & 1), 8 * (g + 8 * (j >> 1))};
  }
  return {0, 0};
}
constexpr int bits_of_pattern(Pattern pattern) {
  if (pattern == Pattern::nibbles || pattern == Pattern::square_nibbles) return 4;
  return pattern == Pattern::sextets || pattern == Pattern::square_sextets ? 6 : 8;
}

std::uint32_t load_register(Pattern pattern, int q, int lane, const Places& places) {
  const auto row = [&](int r) { return places[static_cast<std::size_t>(r)].data; };
  const int g = lane >> 2, t = lane & 3;
  if (pattern == Pattern::halves) return load_as<std::uint32_t>(row(8 * q + g) + 4 * t);
  if (pattern == Pattern::halves_transposed)
    return load_as<std::uint16_t>(row(8 * q + 2 * t) + 2 * g) |
           static_cast<std::uint32_t>(load_as<std::uint16_t>(row(8 * q + 2 * t + 1) + 2 * g)) << 16;
  std::uint32_t value = 0;
  const int bits = bits_of_pattern(pattern);
  for (int j = 0; j < 4; ++j) {
    const Source from = source_of(pattern, q, lane, j);
    const std::byte* at = row(from.row) + from.bit / 8;
    const auto two = static_cast<std::uint32_t>(at[0]) | (bits < 8 ? static_cast<std::uint32_t>(at[1]) << 8 : 0);
    value |= (two >> from.bit % 8 & ((1u << bits) - 1)) << (8 * j);
  }
  return value;
}

// Whether all that a register is loaded from has been written.
bool is_written(Pattern pattern, int q, int lane, const Places& places) {
  const int bits = bits_of_pattern(pattern);
  for (int j = 0; j < 4; ++j) {
    const Source from = source_of(pattern, q, lane, j);
    const std::uint8_t* marks = places[static_cast<std::size_t>(from.row)].written;
    if (marks == nullptr) continue;
    if (marks[from.bit / 8] != written_mark || marks[(from.bit + bits - 1) / 8] != written_mark) return false;
  }
  return true;
}

// Eight rows for each register.
Mask rows_of(std::uint32_t registers) { return registers == 4 ? all_lanes : (Mask{1} << (8 * registers)) - 1; }

// x[0] = pattern, x[8] = address; operands = the registers, one for eight rows.
Outcome ldmatrix(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const auto pattern = static_cast<Pattern>(step.x[0]);
  const auto slots = operands_of(warp.cta->launch->code, step);
  const Mask rows = rows_of(step.operand_count);
  if (warp.traced && fail_undefined_address(warp, step, rows)) return Outcome::fault;
  Addresses address;
  Places places;
  if (!find_rows(warp, step, rows, false, address, places)) return Outcome::fault;
  const bool was_traced = warp.traced;
  for (std::size_t q = 0; q < slots.size(); ++q) {
    auto* d = warp.slot<std::uint32_t>(slots[q]);
    for (int l = 0; l < lane_count; ++l) d[l] = load_register(pattern, static_cast<int>(q), l, places);
  }
  Mask unwritten = 0;
  for (Mask left = rows; left != 0; left &= left - 1) {
    const std::uint8_t* marks = places[static_cast<std::size_t>(lowest_lane(left))].written;
    if (marks != nullptr && !all_written<row_bytes>(marks)) unwritten |= left & (0 - left);
  }
  if (unwritten == 0 && !warp.traced) return Outcome::next;
  for (std::size_t q = 0; q < slots.size(); ++q) {
    const Mask lanes = lanes_where([&](int l) { return !is_written(pattern, static_cast<int>(q), l, places); });
    if (lanes != 0 && !warp.undefined_sources.contains(step.item)) {
      const auto row = static_cast<std::size_t>(lowest_lane(unwritten));
      note_found(warp, step, say_unwritten(warp, step.space, address[row], {places[row].written, row_bytes}));
    }
    if (warp.traced) set_result(warp, step, q, all_lanes, lanes);
  }
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}

Outcome stmatrix(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const auto pattern = static_cast<Pattern>(step.x[0]);
  const auto slots = operands_of(warp.cta->launch->code, step);
  const Mask rows = rows_of(step.operand_count);
  if (warp.traced && fail_undefined_address(warp, step, rows)) return Outcome::fault;
  Addresses address;
  Places places;
  if (!find_rows(warp, step, rows, true, address, places)) return Outcome::fault;
  ++warp.cta->changes;
  for (std::size_t q = 0; q < slots.size(); ++q) {
    const auto* from = warp.slot<std::uint32_t>(slots[q]);
    const Mask undefined = warp.traced ? undefined_value(warp, step, q) : 0;
    if (undefined != 0) ++marks_taken_back;
    for (int l = 0; l < lane_count; ++l)
      for (int j = 0; j < 4; ++j) {
        const Source to = source_of(pattern, static_cast<int>(q), l, j);
        const Place& place = places[static_cast<std::size_t>(to.row)];
        place.data[to.bit / 8] = static_cast<std::byte>(from[l] >> (8 * j));
        if (place.written != nullptr) place.written[to.bit / 8] = has_lane(undefined, l) ? undefined_mark : written_mark;
      }
  }
  return Outcome::next;
}

// operands = d, a.
Outcome movmatrix(Warp& warp, const Step& step, Mask mask) {
  if (auto outcome = whole_warp(warp, step, mask)) return *outcome;
  const auto* a = warp.slot<std::uint32_t>(step.x[1]);
  auto* d = warp.slot<std::uint32_t>(step.x[0]);
  std::array<std::uint32_t, lane_count> result;
  Mask undefined = 0;
  const Mask from = warp.traced ? undefined_value(warp, step, 0) : 0;
  for (int l = 0; l < lane_count; ++l) {
    // elements (row l / 4, columns 2 t and 2 t + 1) of the result: rows 2 t and 2 t + 1, column l / 4 of the source
    const int row = l >> 2, column = 2 * (l & 3);
    const int first = 4 * column + row / 2, second = 4 * (column + 1) + row / 2;
    const int shift = row % 2 * 16;
    result[static_cast<std::size_t>(l)] = (a[first] >> shift & 0xFFFF) | (a[second] >> shift & 0xFFFF) << 16;
    undefined |= static_cast<Mask>(has_lane(from, first) || has_lane(from, second)) << l;
  }
  std::copy(result.begin(), result.end(), d);
  if (warp.traced) set_result(warp, step, 0, all_lanes, undefined, 0);
  return Outcome::next;
}

void read_rows(Decoding& in, Pattern pattern) {
  in.tracks_undefined = true;
  in.step.x[0] = static_cast<std::uint32_t>(pattern);
  const auto address = in.read_address("p");
  in.step.x[8] = address.base;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
  in.step.space = in.space("p");
  in.step.site = in.new_site();
}

}  // namespace

namespace op {

Handler ldmatrix(Decoding& in) {
  const Pattern pattern = in.wrote("b4x16_p64")   ? Pattern::nibbles
                          : in.wrote("b6x16_p32") ? Pattern::sextets
                          : in.wrote("trans")     ? Pattern::halves_transposed
                                                  : Pattern::halves;
  in.add_operands(in.write_all("r", Type::b32));
  read_rows(in, pattern);
  return &vgpu::ldmatrix;
}

Handler ldmatrix_square(Decoding& in) {
  in.add_operands(in.write_all("r", Type::b32));
  read_rows(in, in.wrote("b4x16_p64")   ? Pattern::square_nibbles
                : in.wrote("b6x16_p32") ? Pattern::square_sextets
                                        : Pattern::square_bytes);
  return &vgpu::ldmatrix;
}

Handler stmatrix(Decoding& in) {
  in.add_operands(in.read_all("r", Type::b32));
  read_rows(in, in.wrote("b8") ? Pattern::bytes_transposed : in.wrote("trans") ? Pattern::halves_transposed : Pattern::halves);
  return &vgpu::stmatrix;
}

Handler movmatrix(Decoding& in) {
  in.tracks_undefined = true;
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.read("a", Type::b32);
  return &vgpu::movmatrix;
}

}  // namespace op
}  // namespace ptx::vgpu
