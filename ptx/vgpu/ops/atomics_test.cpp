// Atomics: every operation on edge and random values against a reference of its own, in each space; many threads at one place;
// several workers; and what is a fault.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

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
  std::vector<std::uint32_t> edges;
  for (const std::uint32_t h :
       brain ? std::initializer_list<std::uint32_t>{0, 1, 2, 0x40, 0x7F, 0x80, 0x81, 0x3F7F, 0x3F80, 0x3F81, 0x3F00, 0x3B80,
                                                    0x3C00, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF}
             : std::initializer_list<std::uint32_t>{0, 1, 2, 0x200, 0x3FF, 0x400, 0x401, 0x3BFF, 0x3C00, 0x3C01, 0x1000, 0x1001,
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

// ---- many threads

std::shared_ptr<const Program> text(std::string_view parameters, std::string_view body) {
  return testing::text_program(parameters, cat(".reg .b64 %x<8>; .reg .b32 %r<10>; .reg .pred %p<4>; .reg .f64 %d<4>;\n", body));
}

TEST(Atomics, AllLanesAtOnePlace) {
  const auto program = text(".param .u64 out",
                            ".shared .u32 count;\nld.param.u64 %x0, [out];\nmov.u32 %r0, %tid.x;\nst.shared.u32 [count], 7;\n"
                            "bar.sync 0;\nand.b32 %r1, %r0, 3;\nsetp.ne.u32 %p0, %r1, 0;\nmov.u32 %r2, -1;\n"
                            "@%p0 atom.shared.add.u32 %r2, [count], 2;\nmul.wide.u32 %x1, %r0, 4;\nadd.u64 %x1, %x1, %x0;\n"
                            "st.global.u32 [%x1], %r2;\nret;");
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(256)};
  testing::run(program, block(256), params({out.address()}), {out.region()});
  std::set<std::uint32_t> tickets;
  for (std::size_t i = 0; i < 256; ++i) {
    if (i % 4 == 0) {
      EXPECT_EQ(out.data[i], 0xFFFFFFFFu);
    } else {
      tickets.insert(out.data[i]);
    }
  }
  EXPECT_EQ(tickets.size(), 192u) << "each thread sees another count";
  EXPECT_EQ(*tickets.begin(), 7u);
  EXPECT_EQ(*tickets.rbegin(), 7u + 2 * 191);
}

TEST(Atomics, SeveralWorkersCountRight) {
  const auto program =
      text(".param .u64 bins, .param .u64 sums, .param .u64 tickets",
           "ld.param.u64 %x0, [bins];\nld.param.u64 %x1, [sums];\nld.param.u64 %x2, [tickets];\nmov.u32 %r0, %ctaid.x;\n"
           "mov.u32 %r1, %tid.x;\nmad.lo.u32 %r2, %r0, 128, %r1;\nmul.lo.u32 %r3, %r2, 2654435761;\nshr.u32 %r3, %r3, 28;\n"
           "mul.wide.u32 %x3, %r3, 4;\nadd.u64 %x3, %x3, %x0;\nred.global.add.u32 [%x3], 1;\ncvt.rn.f64.u32 %d0, %r2;\n"
           "red.global.add.f64 [%x1], %d0;\natom.global.max.u32 %r4, [%x1+8], %r2;\natom.global.add.u32 %r4, [%x1+12], 1;\n"
           "mul.wide.u32 %x4, %r4, 4;\nadd.u64 %x4, %x4, %x2;\nst.global.u32 [%x4], %r2;\nret;");
  constexpr std::uint32_t ctas = 40, threads = ctas * 128;
  for (const unsigned workers : {1u, 4u}) {
    struct Sums {
      double sum = 0;
      std::uint32_t most = 0, count = 0;
    };
    Buffer<std::uint32_t> bins{"bins", std::vector<std::uint32_t>(16)}, tickets{"tickets", std::vector<std::uint32_t>(threads)};
    Buffer<Sums> sums{"sums", {Sums{}}};
    LaunchConfig config = block(128);
    config.grid[0] = ctas;
    testing::run(program, config, params({bins.address(), sums.address(), tickets.address()}),
                 {bins.region(), sums.region(), tickets.region()}, {.workers = workers});
    std::vector<std::uint32_t> expected(16);
    for (std::uint32_t i = 0; i < threads; ++i) ++expected[i * 2654435761u >> 28];
    EXPECT_EQ(bins.data, expected);
    EXPECT_EQ(sums.data[0].sum, threads * (threads - 1.0) / 2);
    EXPECT_EQ(sums.data[0].most, threads - 1);
    std::sort(tickets.data.begin(), tickets.data.end());
    std::vector<std::uint32_t> all(threads);
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(tickets.data, all) << "each thread has a ticket of its own";
  }
}

TEST(Atomics, ALockKeepsOthersOut) {
  // every thread of every block adds to a plain word while it holds the lock
  const auto program = text(".param .u64 lock",
                            "ld.param.u64 %x0, [lock];\nTRY:\natom.acquire.gpu.global.cas.b32 %r0, [%x0], 0, 1;\n"
                            "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra TRY;\nld.global.u32 %r1, [%x0+4];\nadd.u32 %r1, %r1, 3;\n"
                            "st.global.u32 [%x0+4], %r1;\natom.release.gpu.global.exch.b32 %r2, [%x0], 0;\nret;");
  for (const unsigned workers : {1u, 4u}) {
    Buffer<std::uint32_t> lock{"lock", {0, 0}};
    LaunchConfig config = block(40);
    config.grid[0] = 6;
    testing::run(program, config, params({lock.address()}), {lock.region()}, {.workers = workers});
    EXPECT_EQ(lock.data[0], 0u);
    EXPECT_EQ(lock.data[1], 3u * 40 * 6);
  }
}

TEST(Atomics, SixteenBytesAreNeverTorn) {
  // each thread puts in (n, ~n), and must get such a pair out; others read it strongly meanwhile
  const auto program = testing::make_from_text(cat(
      head,
      ".visible .entry k(.param .u64 place, .param .u64 bad)\n{\n.reg .b128 %q<2>; .reg .b64 %x<8>; .reg .b32 %r<4>; .reg .pred "
      "%p<2>;\nld.param.u64 %x0, [place];\nld.param.u64 %x1, [bad];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\n"
      "mad.lo.u32 %r0, %r0, 64, %r1;\ncvt.u64.u32 %x2, %r0;\nnot.b64 %x3, %x2;\nmov.b128 %q0, {%x2, %x3};\n"
      "atom.relaxed.gpu.global.exch.b128 %q1, [%x0], %q0;\nmov.b128 {%x4, %x5}, %q1;\nxor.b64 %x4, %x4, %x5;\n"
      "setp.ne.s64 %p0, %x4, -1;\n@%p0 red.global.add.u32 [%x1], 1;\nld.relaxed.gpu.global.b128 %q1, [%x0];\n"
      "mov.b128 {%x4, %x5}, %q1;\nxor.b64 %x4, %x4, %x5;\nsetp.ne.s64 %p0, %x4, -1;\n@%p0 red.global.add.u32 [%x1], "
      "1;\nret;\n}\n"));
  ASSERT_TRUE(program) << render(program.error());
  for (const unsigned workers : {1u, 4u}) {
    struct alignas(16) Pair {
      std::uint64_t low = 5, high = ~std::uint64_t{5};
    };
    Buffer<Pair> place{"place", {Pair{}}};
    Buffer<std::uint32_t> bad{"bad", {0}};
    LaunchConfig config = block(64);
    config.grid[0] = 50;
    testing::run(*program, config, params({place.address(), bad.address()}), {place.region(), bad.region()},
                 {.workers = workers});
    EXPECT_EQ(bad.data[0], 0u);
    EXPECT_EQ(place.data[0].low, ~place.data[0].high);
  }
}

// ---- faults

Diagnostic faulty(std::string_view body, std::vector<Region> more = {}) {
  const auto program = text(".param .u64 y", cat(".shared .align 16 .b8 tile[64];\n.local .align 8 .b8 mine[16];\n.reg .b32 %u;\n"
                                                 "ld.param.u64 %x0, [y];\n",
                                                 body, "\nret;"));
  alignas(16) static std::array<std::uint32_t, 8> memory;
  memory.fill(0);
  more.push_back({reinterpret_cast<std::byte*>(memory.data()), 32, true, true, "Y"});
  return testing::fault(program, block(1), params({reinterpret_cast<std::uintptr_t>(memory.data())}), more);
}

TEST(Atomics, WhereThereIsNothing) {
  EXPECT_EQ(faulty("red.global.add.u32 [%x0+2], 1;").kind, Kind::misaligned);
  EXPECT_EQ(faulty("atom.global.cas.b64 %x1, [%x0+4], 1, 2;").kind, Kind::misaligned);
  const Diagnostic outside = faulty("atom.global.add.u32 %r0, [%x0+32], 1;");
  EXPECT_EQ(outside.kind, Kind::out_of_bounds);
  EXPECT_NE(outside.message.find("just past the end of `Y`"), std::string::npos) << outside.message;
  const Diagnostic local = faulty("mov.u64 %x1, mine;\ncvta.local.u64 %x1, %x1;\natom.add.u32 %r0, [%x1], 1;");
  EXPECT_EQ(local.kind, Kind::out_of_bounds);
  EXPECT_NE(local.message.find("in local memory, where there are no atomics"), std::string::npos) << local.message;
  const Diagnostic vector = faulty(
      "mov.u64 %x1, tile;\ncvta.shared.u64 %x1, %x1;\n.reg .f32 %f<2>;\nmov.f32 %f0, 0f00000000;\n"
      "mov.f32 %f1, %f0;\nred.add.v2.f32 [%x1], {%f0, %f1};");
  EXPECT_NE(vector.message.find("in shared memory, where there are no atomics of vectors"), std::string::npos) << vector.message;
  EXPECT_EQ(faulty("mov.u64 %x1, y;\ncvta.param.u64 %x1, %x1;\nred.add.u32 [%x1], 1;").kind, Kind::out_of_bounds);
  static std::uint32_t word = 1;
  const auto address = reinterpret_cast<std::uintptr_t>(&word);
  EXPECT_EQ(faulty(cat("mov.u64 %x1, ", address, ";\nred.global.add.u32 [%x1], 1;"),
                   {{reinterpret_cast<std::byte*>(&word), 4, false, true, "X"}})
                .kind,
            Kind::read_only);
}

TEST(Atomics, UnwrittenMemory) {
  const Diagnostic add = faulty("red.shared.add.u32 [tile+4], 1;");
  EXPECT_EQ(add.kind, Kind::uninitialised);
  EXPECT_NE(add.message.find("nothing has written byte 4 of shared memory"), std::string::npos) << add.message;
  EXPECT_EQ(faulty("atom.shared.cas.b32 %r0, [tile], 0, 1;").kind, Kind::uninitialised);
  EXPECT_EQ(faulty("red.shared.add.u32 [tile], %u;").kind, Kind::uninitialised) << "the operand";
  // an exchange hands on what it finds: nobody has to look at it
  EXPECT_EQ(faulty("atom.shared.exch.b32 %r0, [tile], 4;\nst.global.u32 [%x0], %r0;").kind, Kind::uninitialised);
  const auto program = text(".param .u64 y",
                            ".shared .align 16 .b8 tile[64];\nld.param.u64 %x0, [y];\natom.shared.exch.b32 %r0, [tile], 4;\n"
                            "atom.shared.add.u32 %r1, [tile], 1;\nst.global.u32 [%x0], %r1;\nret;");
  Buffer<std::uint32_t> y{"Y", {0}};
  testing::run(program, block(1), params({y.address()}), {y.region()});
  EXPECT_EQ(y.data[0], 4u);
  Options unchecked;
  unchecked.check_initialised = false;
  const auto plain = text(".param .u64 y", ".shared .u32 s;\nred.shared.add.u32 [s], 1;\nret;");
  testing::run(plain, block(1), params({y.address()}), {y.region()}, unchecked);
}

TEST(Atomics, ALockThatNobodyOpens) {
  const auto program = text(".param .u64 lock",
                            "ld.param.u64 %x0, [lock];\nTRY:\natom.global.cas.b32 %r0, [%x0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n"
                            "@%p0 bra TRY;\nret;");
  Buffer<std::uint32_t> lock{"lock", {1}};
  LaunchConfig config = block(32);
  config.grid[0] = 3;
  for (const unsigned workers : {1u, 2u}) {
    const Diagnostic d = testing::fault(program, config, params({lock.address()}), {lock.region()}, {.workers = workers});
    EXPECT_EQ(d.kind, Kind::deadlock) << render(d);
    EXPECT_NE(d.message.find("polls memory that nobody can change any more"), std::string::npos) << d.message;
  }
}

}  // namespace
}  // namespace ptx::vgpu
