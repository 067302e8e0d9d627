// Atomics: every operation on edge and random values against a reference of its own, in each space.
#include <algorithm>
#include <cmath>
#include <functional>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

__extension__ using Bits = unsigned __int128;
__extension__ using SignedBits = __int128;
Bits wide(std::uint64_t low, std::uint64_t high = 0) { return Bits{high} << 64 | low; }

// What one thread works on: d and memory before and after, the operands.
struct Row {
  std::array<std::uint64_t, 2> d{0xDDDDDDDDDDDDDDDD, 0xDDDDDDDDDDDDDDDD}, memory{}, b{}, c{};
};
Bits of(const std::array<std::uint64_t, 2>& words, int width) {
  const Bits all = wide(words[0], words[1]);
  return width == 128 ? all : all & ((Bits{1} << width) - 1);
}

constexpr std::string_view head = ".version 8.8\n.target sm_90a\n.address_size 64\n";

enum class Where { global, shared, generic_global, generic_shared };
constexpr Where everywhere[] = {Where::global, Where::shared, Where::generic_global, Where::generic_shared};
bool in_shared(Where where) { return where == Where::shared || where == Where::generic_shared; }

// `opcode` with $ where the space goes: "atom.relaxed.gpu$.add.u32". `operands`: of the instruction, behind d and the address.
std::shared_ptr<const Program> rows_program(std::string opcode, int width, Where where, std::string_view operands,
                                            std::uint32_t lanes) {
  const std::string_view space = where == Where::global ? ".global" : where == Where::shared ? ".shared" : "";
  opcode.replace(opcode.find('$'), 1, space);
  const bool is_red = opcode.starts_with("red");
  const std::string w = cat(".b", width);
  const std::string body =
      cat(".reg ", w,
          " %d, %b, %c; .reg .b64 %x<8>; .reg .b32 %r<8>; .reg .pred %p<2>;\n.shared .align 16 .b8 tile[2048];\n"
          "ld.param.u64 %x0, [rows];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r1, %r1, 128, %r0;\n"
          "mul.wide.u32 %x1, %r1, 64;\nadd.u64 %x0, %x0, %x1;\n",
          "ld.global", w, " %d, [%x0];\nld.global", w, " %b, [%x0+32];\nld.global", w, " %c, [%x0+48];\n",
          "mov.u64 %x2, tile;\nmul.wide.u32 %x3, %r0, 16;\nadd.u64 %x2, %x2, %x3;\nadd.u64 %x4, %x0, 16;\n"
          "ld.global.v2.b64 {%x5, %x6}, [%x4];\nst.shared.v2.b64 [%x2], {%x5, %x6};\n",
          where == Where::shared           ? "mov.u64 %x4, %x2;\n"
          : where == Where::generic_shared ? "cvta.shared.u64 %x4, %x2;\n"
                                           : "",
          "mov.u32 %r2, %laneid;\nshr.u32 %r3, ", lanes, ", %r2;\nand.b32 %r3, %r3, 1;\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 ", opcode,
          ' ', is_red ? "" : "%d, ", "[%x4], ", operands, ";\nst.global", w, " [%x0], %d;\n",
          in_shared(where) ? "ld.shared.v2.b64 {%x5, %x6}, [%x2];\nst.global.v2.b64 [%x0+16], {%x5, %x6};\n" : "", "ret;\n");
  auto made = testing::make_from_text(cat(head, ".visible .entry k(.param .u64 rows)\n{\n", body, "}\n"));
  if (!made) ADD_FAILURE() << opcode << '\n' << render(made.error());
  return made ? *made : nullptr;
}

using Reference = std::function<Bits(Bits memory, Bits b, Bits c)>;

// Runs it on the rows, in every space, with all lanes and with some.
void expect_like(const std::string& opcode, int width, std::string_view operands, const std::vector<Row>& rows,
                 const std::function<Bits(Where, Bits, Bits, Bits)>& reference) {
  for (const Where where : everywhere)
    for (const std::uint32_t lanes : {0xFFFFFFFFu, 0x80F00A51u}) {
      const auto program = rows_program(opcode, width, where, operands, lanes);
      if (program == nullptr) return;
      struct alignas(16) Aligned : Row {};
      Buffer<Aligned> table{"rows", {}};
      for (const Row& row : rows) table.data.push_back({row});
      table.data.resize((rows.size() + 127) / 128 * 128);
      const auto before = table.data;
      LaunchConfig config = block(128);
      config.grid[0] = static_cast<std::uint32_t>(table.data.size() / 128);
      testing::run(program, config, params({table.address()}), {table.region()});
      for (std::size_t i = 0; i < table.data.size(); ++i) {
        const bool runs = (lanes >> (i % 32) & 1) != 0;
        const Bits m = of(before[i].memory, width), b = of(before[i].b, width), c = of(before[i].c, width);
        const Bits after = runs ? reference(where, m, b, c) : m;
        const Bits d = runs && !opcode.starts_with("red") ? m : of(before[i].d, width);
        const Bits seen = of(table.data[i].memory, width), seen_d = of(table.data[i].d, width);
        ASSERT_TRUE(seen == after) << opcode << " where " << static_cast<int>(where) << " row " << i << ": memory "
                                   << hex(static_cast<std::uint64_t>(m)) << " b " << hex(static_cast<std::uint64_t>(b)) << ": "
                                   << hex(static_cast<std::uint64_t>(seen)) << ", not " << hex(static_cast<std::uint64_t>(after));
        ASSERT_TRUE(seen_d == d) << opcode << " where " << static_cast<int>(where) << " row " << i << ": d";
        for (int k = width / 8; k < 16; ++k)
          ASSERT_EQ(reinterpret_cast<const std::uint8_t*>(table.data[i].memory.data())[k],
                    reinterpret_cast<const std::uint8_t*>(before[i].memory.data())[k])
              << opcode << ": bytes beside";
      }
    }
}
void expect_like(const std::string& opcode, int width, const std::vector<Row>& rows, const Reference& reference) {
  expect_like(opcode, width, "%b", rows, [&](Where, Bits m, Bits b, Bits c) { return reference(m, b, c); });
}

std::vector<Row> integer_rows() {
  std::vector<Row> rows;
  const auto edges = testing::integer_edges();
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (std::size_t k = 0; k < edges.size(); k += 2 + i % 3) {
      Row row;
      row.memory = {edges[i], random()};
      row.b = {edges[k], random()};
      row.c = {random(), random()};
      rows.push_back(row);
    }
  return rows;
}
Bits cut(Bits value, int width) { return width == 128 ? value : value & ((Bits{1} << width) - 1); }
SignedBits with_sign(Bits value, int width) {
  return (value >> (width - 1) & 1) != 0 ? static_cast<SignedBits>(value) - (static_cast<SignedBits>(1) << width)
                                         : static_cast<SignedBits>(value);
}

TEST(Atomics, IntegersDoWhatTheySay) {
  const auto rows = integer_rows();
  for (const std::string how : {"atom", "red", "atom.acq_rel.gpu", "red.relaxed.cta", "atom.relaxed.sys"}) {
    const auto run = [&](std::string_view op, std::string_view type, int width, const Reference& reference) {
      expect_like(cat(how, "$.", op, '.', type), width, rows, reference);
    };
    for (const int width : {32, 64}) {
      if (how.size() > 4 && width == 64) continue;
      const std::string b = cat('b', width), u = cat('u', width), s = cat('s', width);
      run("and", b, width, [](Bits m, Bits x, Bits) { return m & x; });
      run("or", b, width, [](Bits m, Bits x, Bits) { return m | x; });
      run("xor", b, width, [](Bits m, Bits x, Bits) { return m ^ x; });
      run("add", u, width, [=](Bits m, Bits x, Bits) { return cut(m + x, width); });
      run("min", u, width, [](Bits m, Bits x, Bits) { return std::min(m, x); });
      run("max", u, width, [](Bits m, Bits x, Bits) { return std::max(m, x); });
      run("min", s, width, [=](Bits m, Bits x, Bits) {
        return cut(static_cast<Bits>(std::min(with_sign(m, width), with_sign(x, width))), width);
      });
      run("max", s, width, [=](Bits m, Bits x, Bits) {
        return cut(static_cast<Bits>(std::max(with_sign(m, width), with_sign(x, width))), width);
      });
    }
    run("add", "s32", 32, [](Bits m, Bits x, Bits) { return cut(m + x, 32); });
    run("inc", "u32", 32, [](Bits m, Bits x, Bits) { return m < x ? m + 1 : Bits{0}; });
    run("dec", "u32", 32, [](Bits m, Bits x, Bits) { return m >= 1 && m <= x ? m - 1 : x; });
  }
}

TEST(Atomics, ExchangeAndCompare) {
  auto rows = integer_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {  // half of them find what they look for, some but for one bit
    if (i % 2 == 0) rows[i].b = rows[i].memory;
    if (i % 8 == 0) rows[i].b[i / 8 % 2] ^= std::uint64_t{1} << (i / 16 % 64);
  }
  for (const int width : {16, 32, 64, 128}) {
    const std::string type = cat(".b", width);
    if (width != 16) expect_like(cat("atom$.exch", type), width, "%b", rows, [](Where, Bits, Bits b, Bits) { return b; });
    for (const std::string how : {"atom", "atom.acquire.cta"})
      expect_like(cat(how, "$.cas", type), width, "%b, %c", rows, [](Where, Bits m, Bits b, Bits c) { return m == b ? c : m; });
  }
}

// ---- floating point

TEST(Atomics, FloatsFlushInGlobalMemoryAlone) {
  std::vector<Row> rows;
  const auto edges = testing::f32_edges();
  for (const std::uint64_t m : edges)
    for (const std::uint64_t b : edges) rows.push_back({.memory = {m, 5}, .b = {b, 0}});
  for (const std::string opcode : {"atom$.add.f32", "red$.add.f32"})
    expect_like(opcode, 32, "%b", rows, [](Where where, Bits m, Bits b, Bits) -> Bits {
      float x = testing::f32(static_cast<std::uint64_t>(m)), y = testing::f32(static_cast<std::uint64_t>(b));
      if (!in_shared(where)) x = testing::flushed(x), y = testing::flushed(y);
      // f64 has more than twice the bits: rounding twice is rounding once
      auto sum = static_cast<float>(static_cast<double>(x) + static_cast<double>(y));
      if (!in_shared(where)) sum = testing::flushed(sum);
      return std::isnan(sum) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(sum);
    });
}

TEST(Atomics, DoublesHandNansOn) {
  std::vector<Row> rows;
  const auto edges = testing::f64_edges();
  for (const std::uint64_t m : edges)
    for (const std::uint64_t b : edges) rows.push_back({.memory = {m, 5}, .b = {b, 0}});
  for (const std::string opcode : {"atom$.add.f64", "red$.add.f64"})
    expect_like(opcode, 64, "%b", rows, [](Where where, Bits m, Bits b, Bits) -> Bits {
      const auto x = std::bit_cast<double>(static_cast<std::uint64_t>(m)),
                 y = std::bit_cast<double>(static_cast<std::uint64_t>(b));
      const Bits quiet = in_shared(where) ? Bits{1} << 51 : 0;
      if (std::isnan(x) && (in_shared(where) || !std::isnan(y))) return m | quiet;
      if (std::isnan(y)) return b | quiet;
      if (std::isinf(x) && std::isinf(y) && std::signbit(x) != std::signbit(y)) return 0xFFF8000000000000u;
      return std::bit_cast<std::uint64_t>(x + y);
    });
}

// A 16-bit format as all of its numbers in their order.
class Halves {
 public:
  explicit Halves(bool brain) : brain_(brain) {}
  [[nodiscard]] bool is_nan(std::uint32_t h) const { return (h & 0x7FFF) > infinity(); }
  [[nodiscard]] std::uint32_t infinity() const { return brain_ ? 0x7F80 : 0x7C00; }
  [[nodiscard]] long double value(std::uint32_t h) const {
    const int exponent_bits = brain_ ? 8 : 5, fraction_bits = 15 - exponent_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1, e = static_cast<int>(h >> fraction_bits & ((1u << exponent_bits) - 1));
    const auto fraction = static_cast<int>(h & ((1u << fraction_bits) - 1));
    const long double size =
        e == 0 ? std::ldexp(static_cast<long double>(fraction), 1 - bias - fraction_bits)
               : std::ldexp(static_cast<long double>(fraction + (1 << fraction_bits)), e - bias - fraction_bits);
    return (h & 0x8000) != 0 ? -size : size;
  }
  // The nearest number, of two the even one: found by halving among the positive ones.
  [[nodiscard]] std::uint32_t nearest(long double x) const {
    const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    const long double size = std::fabs(x);
    std::uint32_t below = 0, above = infinity();  // the infinity as the number that would follow
    while (above - below > 1) (value((below + above) / 2) <= size ? below : above) = (below + above) / 2;
    const long double to_below = size - value(below), to_above = value(above) - size;
    return sign | (to_below < to_above || (to_below == to_above && below % 2 == 0) ? below : above);
  }
  [[nodiscard]] std::uint32_t add(std::uint32_t m, std::uint32_t b) const {
    if (is_nan(m) || is_nan(b)) return 0x7FFF;
    const auto is_inf = [&](std::uint32_t h) { return (h & 0x7FFF) == infinity(); };
    if (is_inf(m) && is_inf(b)) return m == b ? m : 0x7FFF;
    if (is_inf(m) || is_inf(b)) return is_inf(m) ? m : b;
    return nearest(value(m) + value(b));
  }
  [[nodiscard]] std::uint32_t extreme(std::uint32_t m, std::uint32_t b, bool greatest) const {
    if (is_nan(m) || is_nan(b)) return is_nan(m) && is_nan(b) ? 0x7FFF : is_nan(m) ? b : m;
    const long double x = value(m), y = value(b);
    if (x == y) return greatest ? (std::signbit(x) ? b : m) : (std::signbit(x) ? m : b);
    return (x < y) == greatest ? b : m;
  }

 private:
  bool brain_;
};
std::vector<std::uint32_t> half_edges(bool brain) {
  using Patterns = std::vector<std::uint32_t>;
  Patterns edges;
  for (const std::uint32_t h : brain ? Patterns{0, 1, 2, 0x40, 0x7F, 0x80, 0x81, 0x3F7F, 0x3F80, 0x3F81, 0x3F00, 0x3B80, 0x3C00,
                                                0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF}
                                     : Patterns{0, 1, 2, 0x200, 0x3FF, 0x400, 0x401, 0x3BFF, 0x3C00, 0x3C01, 0x1000, 0x1001,
                                                0x0FFF, 0x4BFF, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF})
    for (const std::uint32_t sign : {0x0000u, 0x8000u}) edges.push_back(h | sign);
  std::mt19937 random(11);
  for (int i = 0; i < 30; ++i) edges.push_back(random() & 0xFFFF);
  return edges;
}

TEST(Atomics, HalvesAreRoundedOnce) {
  for (const bool brain : {false, true}) {
    const Halves format(brain);
    const auto edges = half_edges(brain);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < edges.size(); ++i)
      for (std::size_t k = 0; k < edges.size(); ++k)
        rows.push_back({.memory = {edges[i] | edges[(i + 3) % edges.size()] << 16, 5},
                        .b = {edges[k] | edges[(k * 5) % edges.size()] << 16, 0}});
    const auto both = [&](Bits m, Bits b) {
      return Bits{format.add(static_cast<std::uint32_t>(m) & 0xFFFF, static_cast<std::uint32_t>(b) & 0xFFFF) |
                  format.add(static_cast<std::uint32_t>(m) >> 16, static_cast<std::uint32_t>(b) >> 16) << 16};
    };
    const std::string type = brain ? "bf16" : "f16";
    for (const std::string how : {"atom", "red"}) {
      expect_like(cat(how, "$.add.noftz.", type), 16, rows, [&](Bits m, Bits b, Bits) {
        return Bits{format.add(static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(b))};
      });
      expect_like(cat(how, "$.add.noftz.", type, "x2"), 32, rows, [&](Bits m, Bits b, Bits) { return both(m, b); });
    }
  }
}

// ---- vectors, in global memory

struct alignas(16) Line {
  std::array<std::uint16_t, 8> halves{};
};

// One thread a line of 16 bytes: memory, operand and d are arrays of lines.
std::vector<Line> run_vector(const std::string& opcode, int elements, int width, const std::vector<Line>& memory,
                             const std::vector<Line>& b, std::vector<Line>& d) {
  std::string list_b = "{", list_d = "{", loads, stores;
  for (int i = 0; i < elements; ++i) {
    list_b += cat(i == 0 ? "" : ", ", "%b", i);
    list_d += cat(i == 0 ? "" : ", ", "%d", i);
    loads += cat("ld.global.b", width, " %b", i, ", [%x1+", i * width / 8, "];\n");
    if (!opcode.starts_with("red")) stores += cat("st.global.b", width, " [%x2+", i * width / 8, "], %d", i, ";\n");
  }
  const auto made = testing::make_from_text(cat(
      head, ".visible .entry k(.param .u64 m, .param .u64 b, .param .u64 d)\n{\n.reg .b64 %x<4>; .reg .b32 %r; .reg .b", width,
      " %b<8>, %d<8>;\nld.param.u64 %x0, [m];\nld.param.u64 %x1, [b];\nld.param.u64 %x2, [d];\nmov.u32 %r, %tid.x;\n"
      "mul.wide.u32 %x3, %r, 16;\nadd.u64 %x0, %x0, %x3;\nadd.u64 %x1, %x1, %x3;\nadd.u64 %x2, %x2, %x3;\n",
      loads, opcode, ' ', opcode.starts_with("red") ? "" : cat(list_d, "}, "), "[%x0], ", list_b, "};\n", stores, "ret;\n}\n"));
  if (!made) {
    ADD_FAILURE() << opcode << '\n' << render(made.error());
    return memory;
  }
  Buffer<Line> in_memory{"memory", memory}, in_b{"b", b}, in_d{"d", std::vector<Line>(memory.size())};
  testing::run(*made, block(static_cast<std::uint32_t>(memory.size())),
               params({in_memory.address(), in_b.address(), in_d.address()}), {in_memory.region(), in_b.region(), in_d.region()});
  d = in_d.data;
  return in_memory.data;
}

TEST(Atomics, VectorsElementByElement) {
  for (const bool brain : {false, true}) {
    const Halves format(brain);
    const auto edges = half_edges(brain);
    std::vector<Line> memory(512), b(512);
    for (std::size_t i = 0; i < memory.size(); ++i)
      for (std::size_t k = 0; k < 8; ++k) {
        memory[i].halves[k] = static_cast<std::uint16_t>(edges[(i * 8 + k) % edges.size()]);
        b[i].halves[k] = static_cast<std::uint16_t>(edges[(i * 8 + k) / edges.size() % edges.size()]);
      }
    for (const std::string how : {"atom.global", "atom", "red.global", "red.release.gpu.global"})
      for (const std::string op : {"add", "min", "max"})
        for (const bool pairs : {false, true})
          for (const int elements : {2, 4, 8}) {
            if (pairs && elements == 8) continue;
            std::vector<Line> d;
            const auto after = run_vector(cat(how, '.', op, ".noftz.v", elements, brain ? ".bf16" : ".f16", pairs ? "x2" : ""),
                                          elements, pairs ? 32 : 16, memory, b, d);
            const auto halves = static_cast<std::size_t>(pairs ? 2 * elements : elements);
            for (std::size_t i = 0; i < memory.size(); ++i)
              for (std::size_t k = 0; k < 8; ++k) {
                const std::uint32_t m = memory[i].halves[k], x = b[i].halves[k];
                const std::uint32_t expected = k >= halves   ? m
                                               : op == "add" ? format.add(m, x)
                                                             : format.extreme(m, x, op == "max");
                ASSERT_EQ(after[i].halves[k], expected) << how << op << elements << ' ' << hex(m) << ' ' << hex(x);
                if (k < halves && how[0] == 'a') {
                  ASSERT_EQ(d[i].halves[k], m);
                }
              }
          }
  }
  const auto edges = testing::f32_edges();
  std::vector<Line> memory(512), b(512);
  std::mt19937 random(3);
  const auto put = [](Line& line, std::size_t k, std::uint64_t bits) { std::memcpy(&line.halves[2 * k], &bits, 4); };
  const auto get = [](const Line& line, std::size_t k) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &line.halves[2 * k], 4);
    return bits;
  };
  for (std::size_t i = 0; i < memory.size(); ++i)
    for (std::size_t k = 0; k < 4; ++k)
      put(memory[i], k, edges[random() % edges.size()]), put(b[i], k, edges[random() % edges.size()]);
  for (const std::string how : {"atom.global", "red.global"})
    for (const int elements : {2, 4}) {
      std::vector<Line> d;
      const auto after = run_vector(cat(how, ".add.v", elements, ".f32"), elements, 32, memory, b, d);
      for (std::size_t i = 0; i < memory.size(); ++i)
        for (std::size_t k = 0; k < static_cast<std::size_t>(elements); ++k) {
          const double sum = static_cast<double>(testing::flushed(testing::f32(get(memory[i], k)))) +
                             static_cast<double>(testing::flushed(testing::f32(get(b[i], k))));
          const float expected = testing::flushed(static_cast<float>(sum));
          ASSERT_EQ(get(after[i], k), std::isnan(expected) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(expected));
        }
    }
}

}  // namespace
}  // namespace ptx::vgpu
