// Video instructions, every choice of every row, over parts of registers that are drawn anew for each: against the manual's steps
// in exact integers, and what ptxas is known to do otherwise (docs/facts.md, "Video instructions").
#include <set>

#include "ptx/vgpu/testing/integers.hpp"

namespace ptx::vgpu {
namespace {

using testing::expect_pieces;
using testing::Inputs;
using testing::Piece;
using testing::Wide;

Wide power(int n) { return Wide{1} << n; }
// The remainder that is not negative.
Wide modulo(Wide v, Wide size) { return (v % size + size) % size; }
Wide as_number(Wide v, int width, bool is_signed) {
  v = modulo(v, power(width));
  return is_signed && v >= power(width - 1) ? v - power(width) : v;
}
struct Part {
  std::string spelled;  ///< ".b2", ".h1" or ""
  int at = 0, width = 32;
};
const std::vector<Part> parts = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                                 {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};
Wide picked(std::uint64_t word, const Part& part, bool is_signed) {
  return as_number(static_cast<Wide>(word & 0xFFFFFFFF) / power(part.at), part.width, is_signed);
}
Wide clamped(Wide v, int width, bool is_signed) {
  const Wide most = is_signed ? power(width - 1) - 1 : power(width) - 1, least = is_signed ? -power(width - 1) : Wide{0};
  return v > most ? most : v < least ? least : v;
}
Wide primary(const std::string& op, const std::string& mode, Wide a, Wide b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return std::max(a, b) - std::min(a, b);
  if (op == "vmin") return std::min(a, b);
  if (op == "vmax") return std::max(a, b);
  if (op == "vavrg") return a + b >= 0 ? (a + b + 1) / 2 : (a + b - modulo(a + b, 2)) / 2;
  if (op == "vset") {
    const std::string order = a < b ? "lt le ne" : a > b ? "gt ge ne" : "eq le ge";
    return order.find(mode) == std::string::npos ? 0 : 1;
  }
  const int by = static_cast<int>(mode == "wrap" ? b % 32 : std::min<Wide>(b, 32));
  return op == "vshl" ? a * power(by) : (a - modulo(a, power(by))) / power(by);
}
std::uint64_t word(Wide v) { return static_cast<std::uint64_t>(modulo(v, power(32))); }

struct Scalar {
  std::string op, mode;
  bool d_signed = false, a_signed = false, b_signed = false, sat = false;
  std::string second;
  Part d, a, b;

  [[nodiscard]] std::string text() const {
    const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
    return cat(op, op == "vset" ? "" : type(d_signed), type(a_signed), type(b_signed), sat ? ".sat" : "", mode.empty() ? "" : ".",
               mode, second.empty() ? "" : ".", second, " %d", d.spelled, ", %a", a.spelled, ", %b", b.spelled,
               second.empty() && d.spelled.empty() ? ";" : ", %c;");
  }
  [[nodiscard]] std::uint64_t value(const Inputs& in) const {
    Wide v = primary(op, mode, picked(in.a, a, a_signed), picked(in.b, b, b_signed));
    const bool shift = op == "vshl" || op == "vshr", c_signed = op == "vset" ? a_signed : d_signed;  // ptxas, of vset
    if (shift) v = as_number(v, sat ? 34 : 64, true);
    const Wide most = d_signed ? power(d.width - 1) - 1 : power(d.width) - 1;
    if (sat && shift)
      v = clamped(v, 32, d_signed);  // ptxas: to a word, whatever the part of d
    else if (sat && d.width < 32)
      v = v < 0 ? most : std::min(v, most);  // ptxas: a negative number is too large
    else if (sat)
      v = d_signed ? clamped(v, 32, true) : std::max<Wide>(v, 0);                    // ptxas: .u32 has no upper end
    if (op == "vadd" || op == "vsub" || (shift && sat)) v = as_number(v, 32, true);  // ptxas: a sum has 32 bits
    const Wide c = as_number(static_cast<Wide>(in.c), 32, c_signed);
    const Wide order = c_signed ? v : modulo(v, power(64));  // ptxas: beside an unsigned c, a number with bit 31 is the larger
    if (second == "add") v += c;
    if (second == "min") v = order < c ? v : c;
    if (second == "max") v = order < c ? c : v;
    if (d.width == 32) return word(v);
    if (d.spelled == ".h1") v = (v - modulo(v, power(16))) / power(16);  // ptxas: the upper half of it
    const Wide old = static_cast<Wide>(in.c & 0xFFFFFFFF), kept = old - picked(in.c, d, false) * power(d.at);
    return word(kept + modulo(v, power(d.width)) * power(d.at));
  }
};

// Numbers whose bytes and halves are special, and random ones.
std::vector<Inputs> video_inputs() {
  auto rows = testing::make_inputs(40);
  std::mt19937_64 random(11);
  constexpr std::uint64_t bytes[] = {0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x55};
  const auto mixed = [&] {
    std::uint64_t v = 0;
    for (int i = 0; i < 4; ++i) v = v << 8 | (random() % 4 == 0 ? random() % 256 : bytes[random() % 7]);
    return v;
  };
  for (int i = 0; i < 60; ++i) rows.push_back({mixed(), mixed(), mixed(), mixed()});
  for (int i = 0; i < 40; ++i) rows.push_back({mixed(), random() % 40, mixed(), mixed()});
  return rows;
}

TEST(VideoOps, Scalar) {
  std::mt19937_64 random(3);
  std::vector<Piece> pieces;
  std::set<std::string> seen;
  const auto any = [&] { return parts[random() % parts.size()]; };
  const std::vector<std::string> none = {""}, shifts = {"clamp", "wrap"}, orders = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (const std::string op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"}) {
    const bool is_set = op == "vset", shift = op == "vshl" || op == "vshr";
    for (const std::string& mode : is_set ? orders : shift ? shifts : none)
      for (unsigned types = 0; types < 16; ++types) {
        Scalar s{
            .op = op, .mode = mode, .d_signed = (types & 1) != 0, .a_signed = (types & 2) != 0, .b_signed = (types & 4) != 0};
        s.sat = (types & 8) != 0;
        if ((is_set && (s.d_signed || s.sat)) || (shift && s.b_signed)) continue;
        const auto add = [&] {
          s.a = any(), s.b = any();
          if (!seen.insert(s.text()).second) return;
          pieces.push_back({s.text(), [s](const Inputs& in) { return s.value(in); }});
        };
        for (const std::string second : {"", "add", "min", "max"}) {
          s.second = second;
          add();
          s.a = s.b = parts[0];
          if (seen.insert(s.text()).second) pieces.push_back({s.text(), [s](const Inputs& in) { return s.value(in); }});
        }
        s.second.clear();
        for (std::size_t d = 1; d < parts.size(); ++d) {
          s.d = parts[d];
          add();
        }
      }
  }
  expect_pieces(pieces, video_inputs(), 32);
}

TEST(VideoOps, MultiplyAndAdd) {
  std::mt19937_64 random(4);
  std::vector<Piece> pieces;
  struct Signs {
    std::string po, a, b, c;
  };
  const std::vector<Signs> signs = {{"", "", "", ""},  {".po", "", "", ""}, {"", "-", "", ""},
                                    {"", "", "-", ""}, {"", "-", "-", ""},  {"", "", "", "-"}};
  for (unsigned types = 0; types < 16; ++types)
    for (const int scale : {0, 7, 15})
      for (const Signs& s : signs)
        for (const bool whole : {false, true}) {
          const bool a_signed = (types & 2) != 0, b_signed = (types & 4) != 0, sat = (types & 8) != 0;
          const Part a = whole ? parts[0] : parts[random() % 7], b = whole ? parts[0] : parts[random() % 7];
          const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
          const std::string text = cat("vmad", type((types & 1) != 0), type(a_signed), type(b_signed), s.po, sat ? ".sat" : "",
                                       scale == 0 ? std::string() : cat(".shr", scale), " %d, ", s.a, "%a", a.spelled, ", ", s.b,
                                       "%b", b.spelled, ", ", s.c, "%c;");
          pieces.push_back({text, [=](const Inputs& in) {
                              const bool minus_product = s.a != s.b, minus_c = !s.c.empty();
                              const bool is_signed = a_signed || b_signed || minus_product || minus_c;
                              // ptxas: words with bit 31 are negative, of any type
                              const Wide x = as_number(picked(in.a, a, a_signed), 32, true),
                                         y = as_number(picked(in.b, b, b_signed), 32, true);
                              const Wide c = as_number(static_cast<Wide>(in.c), 32, true);
                              Wide sum = (minus_product ? -(x * y) : x * y) + (minus_c ? -c : c);
                              if (!s.po.empty()) sum += 1;
                              sum = modulo(sum, power(64));
                              if (is_signed) sum = as_number(sum, 64, true);
                              sum = (sum - modulo(sum, power(scale))) / power(scale);
                              if (!is_signed) sum = as_number(sum, 64, true);
                              return word(sat ? clamped(sum, 32, is_signed) : sum);
                            }});
        }
  expect_pieces(pieces, video_inputs(), 32);
}

TEST(VideoOps, HalvesAndBytes) {
  std::mt19937_64 random(5);
  std::vector<Piece> pieces;
  const std::vector<std::string> none = {""}, orders = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (const int count : {2, 4})
    for (const std::string op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"})
      for (const std::string& mode : op == "vset" ? orders : none)
        for (unsigned types = 0; types < 8; ++types)
          for (const std::string more : {"", ".sat", ".add"})
            for (int round = 0; round < 3; ++round) {
              const bool is_set = op == "vset", d_signed = (types & 1) != 0, a_signed = (types & 2) != 0,
                         b_signed = (types & 4) != 0;
              if (is_set && (d_signed || more == ".sat")) continue;
              const int width = 32 / count;
              const char letter = count == 2 ? 'h' : 'b';
              // round 0: what stands there when nothing is written; 1 and 2: drawn
              std::vector<std::size_t> from_a, from_b;
              std::vector<bool> mask;
              std::string sa = cat('.', letter), sb = sa, sd = sa;
              for (int i = 0; i < count; ++i) {
                from_a.push_back(round == 0 ? static_cast<std::size_t>(i) : random() % (2 * static_cast<std::size_t>(count)));
                from_b.push_back(round == 0 ? static_cast<std::size_t>(count + i)
                                            : random() % (2 * static_cast<std::size_t>(count)));
                mask.push_back(round == 0 || random() % 2 == 0);
              }
              if (std::find(mask.begin(), mask.end(), true) == mask.end()) mask[0] = true;
              for (int i = count - 1; i >= 0; --i) {
                const auto k = static_cast<std::size_t>(i);
                sa += static_cast<char>('0' + from_a[k]), sb += static_cast<char>('0' + from_b[k]);
                if (mask[k]) sd += static_cast<char>('0' + i);
              }
              if (round == 0) sa = sb = sd = "";
              const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
              const std::string text = cat(op, count, is_set ? "" : type(d_signed), type(a_signed), type(b_signed),
                                           is_set ? "." : "", mode, more, " %d", sd, ", %a", sa, ", %b", sb, ", %c;");
              pieces.push_back({text, [=](const Inputs& in) {
                                  std::vector<Wide> all;
                                  for (int i = 0; i < 2 * count; ++i)
                                    all.push_back(static_cast<Wide>((i < count ? in.a : in.b) >> (width * (i % count))));
                                  Wide sum = static_cast<Wide>(in.c), put = 0;
                                  for (int i = count - 1; i >= 0; --i) {
                                    const auto k = static_cast<std::size_t>(i);
                                    Wide v = primary(op, mode, as_number(all[from_a[k]], width, a_signed),
                                                     as_number(all[from_b[k]], width, b_signed));
                                    if (more == ".sat") v = clamped(v, width, d_signed);
                                    if (mask[k]) sum += v;
                                    put = put * power(width) +
                                          modulo(mask[k] ? v : static_cast<Wide>(in.c >> (width * i)), power(width));
                                  }
                                  return word(more == ".add" ? sum : put);
                                }});
            }
  expect_pieces(pieces, video_inputs(), 32);
}

TEST(VideoOps, GuardsAndNumbers) {
  expect_pieces({{"setp.lt.u32 %p, %a, %b; @%p vadd.u32.u32.u32 %d.b1, %a.b0, 5, %c;",
                  [](const Inputs& in) -> std::uint64_t {
                    const auto a = static_cast<std::uint32_t>(in.a), b = static_cast<std::uint32_t>(in.b),
                               c = static_cast<std::uint32_t>(in.c);
                    return a < b ? (c & 0xFFFF00FF) | ((a + 5) & 0xFF) << 8 : 0x5A5A5A5A;
                  }},
                 {"vmad.s32.s32.s32 %d, %a.h0, 3, 7;",
                  [](const Inputs& in) { return word(as_number(static_cast<Wide>(in.a), 16, true) * 3 + 7); }},
                 {"mov.b32 %d, %a; vadd4.u32.u32.u32 %d.b20, %d, %b.b0246, %d;",
                  [](const Inputs& in) {
                    // b:%d, with d = a: bytes 0 and 2 of a plus bytes 6 and 2 of b:a
                    const Wide b2 = static_cast<Wide>(in.b >> 16 & 0xFF), a2 = static_cast<Wide>(in.a >> 16 & 0xFF),
                               a0 = static_cast<Wide>(in.a & 0xFF);
                    return (in.a & 0xFF00FF00) | static_cast<std::uint64_t>(modulo(a0 + b2, 256)) |
                           static_cast<std::uint64_t>(modulo(a2 + a2, 256)) << 16;
                  }}},
                video_inputs(), 32);
}

// A part of a register stands for it when lanes are undefined, too.
TEST(VideoOps, UndefinedPartsAreUndefined) {
  testing::Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1)};
  const auto made = testing::text_program(".param .u64 out",
                                          ".reg .b32 %r<4>; .reg .b64 %rd0;\nld.param.u64 %rd0, [out];\n"
                                          "vadd.u32.u32.u32 %r0, %r1.b0, 1;\nst.global.u32 [%rd0], %r0;\nret;");
  const Diagnostic d = testing::fault(made, testing::block(1), testing::params({out.address()}), {out.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised);
  EXPECT_NE(render(d).find("`%r1`"), std::string::npos) << render(d);
  // and only video instructions take parts
  const auto moved = testing::make_from_text(testing::text_kernel(
      ".param .u64 out",
      ".reg .b32 %r<4>; .reg .b64 %rd0;\nld.param.u64 %rd0, [out];\nmov.b32 %r1, 1;\nst.global.u32 [%rd0], %r1.b0;\nret;"));
  EXPECT_FALSE(moved);
}

}  // namespace
}  // namespace ptx::vgpu
