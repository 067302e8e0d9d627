// Tensor copies as an H200 performed them (tests/golden/tensor_copies/h200.txt says what a line is): interleaved channels, tiles
// and pixels, loads, stores and sums, the driver's bytes, and what the GPU takes for an illegal instruction.
#include <fstream>
#include <sstream>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/tensor_copies.hpp"

namespace ptx::vgpu::tensor_copies {
namespace {

using layout::TensorMap;
using layout::TensorMapType;

std::string fnv(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  std::string digits = hex(hash);
  return std::string(16 - digits.size(), '0') + digits;
}
template <class T>
std::string fnv_of(const T& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof values[0]);
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return fnv(bytes);
}

struct Recorded {
  std::string operation, words, answer;
  TensorMap map;
  std::array<std::int32_t, 5> at{};
  std::array<std::uint16_t, 3> offsets{};
};

layout::Swizzle swizzle_named(std::string_view name) {
  using enum layout::Swizzle;
  for (const layout::Swizzle swizzle : {none, b32, b64, b128})
    if (layout::tensor_map_swizzle_name(swizzle) == name) return swizzle;
  ADD_FAILURE() << "no swizzle " << name;
  return none;
}
TensorMapType type_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(TensorMapType::b6x16_p32); ++i)
    if (layout::name(static_cast<TensorMapType>(i)) == name) return static_cast<TensorMapType>(i);
  ADD_FAILURE() << "no type " << name;
  return {};
}

template <class Numbers>
void read_numbers(std::istream& in, Numbers& numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) in >> numbers[i];
}

Recorded read_line(const std::string& line) {
  std::istringstream in(line);
  Recorded r;
  std::string kind, type, swizzle;
  unsigned slice = 0, nan = 0, rank = 0;
  in >> kind >> r.operation >> type >> slice >> swizzle >> nan >> rank;
  TensorMap& map = r.map;
  map = {.type = type_named(type), .rank = static_cast<std::uint8_t>(rank), .swizzle = swizzle_named(swizzle)};
  map.l2_promotion = layout::L2Promotion::none;
  map.interleave = static_cast<layout::Interleave>(slice / 16);
  map.fill = nan != 0 ? layout::TensorMapFill::nan : layout::TensorMapFill::zero;
  read_numbers(in, map.sizes, rank);
  read_numbers(in, map.strides, rank - 1);
  read_numbers(in, map.element_strides, rank);
  read_numbers(in, r.at, rank);
  if (kind == "tile") {
    read_numbers(in, map.box, rank);
  } else {
    layout::Im2col columns;
    read_numbers(in, columns.lower_corner, rank - 2);
    read_numbers(in, columns.upper_corner, rank - 2);
    in >> columns.channels_per_pixel >> columns.pixels_per_column;
    read_numbers(in, r.offsets, rank - 2);
    map.im2col = columns;
  }
  in >> r.words >> r.answer;
  EXPECT_TRUE(in) << line;
  return r;
}

/// A tensor whose words count from 1, at a multiple of 32 bytes.
struct Counted {
  explicit Counted(const TensorMap& map) : data{"X", std::vector<std::uint32_t>(words_of(map) + 8), true} {
    for (std::size_t i = shift(); i < data.data.size(); ++i) data.data[i] = static_cast<std::uint32_t>(i - shift()) + 1;
  }
  static std::size_t words_of(const TensorMap& map) {
    const std::size_t last = map.rank - 1u;
    return static_cast<std::size_t>(map.strides[last - 1] * map.sizes[last]) / 4;
  }
  std::uint64_t address() { return (data.address() + 31) / 32 * 32; }
  std::size_t shift() { return static_cast<std::size_t>(address() - data.address()) / 4; }
  /// The numbers of the words that have changed, and their values.
  std::vector<std::uint32_t> changes() {
    std::vector<std::uint32_t> changed;
    for (std::size_t i = shift(); i < data.data.size(); ++i)
      if (const auto number = static_cast<std::uint32_t>(i - shift()); data.data[i] != number + 1) {
        changed.push_back(number);
        changed.push_back(data.data[i]);
      }
    return changed;
  }
  testing::Buffer<std::uint32_t> data;
};

std::string instruction_of(const Recorded& r) {
  const bool pixels = r.map.im2col.has_value();
  if (r.operation == "load") return load_of(r.map.rank, "shared::cluster", pixels ? ".im2col" : "");
  return store_of(r.map.rank, r.operation == "add" ? ".add" : "", pixels ? ".im2col_no_offs" : "");
}

void expect_as_recorded(const std::string& line) {
  const Recorded r = read_line(line);
  const auto ok = r.map.check();
  ASSERT_TRUE(ok) << line << '\n' << render(ok.error());
  Counted tensor(r.map);
  Call call{layout::encode(r.map, tensor.address())};
  if (r.words != "-") {
    layout::TensorMapWords words = call.map;
    words.word[0] = words.word[1] = 0;
    EXPECT_EQ(fnv_of(words.word), r.words) << line;
  }
  call.coordinates = r.at;
  call.offsets = r.offsets;
  const bool loads = r.operation == "load";
  if (loads) call.bytes = static_cast<std::uint32_t>(r.map.box_bytes());
  for (std::uint32_t i = 0; !loads && i < room / 4; ++i) {
    const std::uint32_t word = r.operation == "add" ? i << 16 : 0x10000000 + i;
    std::memcpy(&call.image[std::size_t{4} * i], &word, 4);
  }
  const auto got = run_call(program_of(instruction_of(r)), call, {tensor.data.region()});
  if (r.answer == "illegal") {
    EXPECT_FALSE(got) << line;
    return;
  }
  ASSERT_TRUE(got) << line << '\n' << render(got.error());
  EXPECT_EQ(loads ? fnv(*got) : fnv_of(tensor.changes()), r.answer) << line;
}

TEST(RecordedCopies, AreAsTheGpuPerformedThem) {
  std::ifstream file("tests/golden/tensor_copies/h200.txt");
  ASSERT_TRUE(file) << "tests run in the repository's root";
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    ++lines;
    expect_as_recorded(line);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(lines, 900);
}

}  // namespace
}  // namespace ptx::vgpu::tensor_copies
