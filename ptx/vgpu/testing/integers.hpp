// For tests of integer instructions: what the bits of a type mean, and an instruction held to a reference in 128 bits.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu::testing {

__extension__ using Wide = __int128;

struct IntegerType {
  std::string name;
  int width;
  bool is_signed;
  [[nodiscard]] Wide value(std::uint64_t bits) const {
    const std::uint64_t low = width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
    if (is_signed && (low >> (width - 1) & 1) != 0) return static_cast<Wide>(low) - (static_cast<Wide>(1) << width);
    return static_cast<Wide>(low);
  }
  [[nodiscard]] std::uint64_t bits(Wide v) const {
    const auto low = static_cast<std::uint64_t>(v);
    return width == 64 ? low : low & ((std::uint64_t{1} << width) - 1);
  }
  [[nodiscard]] std::string reg() const { return cat('b', width); }
  [[nodiscard]] IntegerType wide() const { return {cat(name[0], 2 * width), 2 * width, is_signed}; }
};
inline const std::vector<IntegerType> types = {{"u16", 16, false}, {"u32", 32, false}, {"u64", 64, false},
                                               {"s16", 16, true},  {"s32", 32, true},  {"s64", 64, true}};
inline const std::vector<IntegerType> untyped = {{"b16", 16, false}, {"b32", 32, false}, {"b64", 64, false}};

using Reference = std::function<Wide(Wide, Wide, Wide)>;

// Every instruction runs with all lanes and with every other one, which must leave d as it was.
inline void expect_like(const std::string& instruction, const std::array<std::string, 4>& regs, const IntegerType& d,
                        const IntegerType& a, const IntegerType& b, const IntegerType& c, const Reference& reference,
                        const Header& header = {".target sm_90a"}) {
  const std::vector<Operands> rows = make_rows(integer_edges(), integer_edges(), 64, 3000, false);
  for (const std::uint32_t mask : {0xFFFFFFFFu, 0x55555555u}) {
    const auto results = run_rows(instruction, regs, rows, mask, header);
    ASSERT_EQ(results.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool active = (mask >> (i % 32) & 1) != 0;
      const std::uint64_t expected = active ? d.bits(reference(a.value(rows[i].a), b.value(rows[i].b), c.value(rows[i].c)))
                                            : (regs[0] == "pred" ? 1 : d.bits(static_cast<Wide>(rows[i].d)));
      ASSERT_EQ(results[i], expected) << instruction << " a=0x" << hex(rows[i].a) << " b=0x" << hex(rows[i].b) << " c=0x"
                                      << hex(rows[i].c) << (active ? "" : " in an inactive lane");
    }
  }
}
inline void expect_like(const std::string& opcode, const IntegerType& t, int sources, const Reference& reference) {
  const std::string operands = sources == 1 ? " %vd, %va" : sources == 2 ? " %vd, %va, %vb" : " %vd, %va, %vb, %vc";
  expect_like(cat(opcode, '.', t.name, operands), {t.reg(), t.reg(), sources > 1 ? t.reg() : "", sources > 2 ? t.reg() : ""}, t,
              t, t, t, reference);
}

/// A few statements that compute %d of %a, %b, %c and %e, of which each may use %t, %u and the predicates %p, %q and %z: all
/// pieces run over all rows, in one thread a row. `bits`: of the registers, 32 or 64. Returns %d by piece and row; the pieces
/// also run as compiled for hosts without AVX2, and must give the same.
struct Inputs {
  std::uint64_t a = 0, b = 0, c = 0, e = 0;
};
inline std::vector<std::vector<std::uint64_t>> run_pieces(const std::vector<std::string>& pieces, const std::vector<Inputs>& rows,
                                                          int bits, std::string_view header = ".version 8.7\n.target sm_90a") {
  const std::string type = cat("b", bits);
  std::string body = cat(header, "\n.address_size 64\n.visible .entry k(.param .u64 rows, .param .u64 out)\n{\n.reg .", type,
                         " %a, %b, %c, %d, %e, %t, %u; .reg .b32 %n<2>; .reg .b64 %rd<4>; .reg .pred %p, %q, %z;\n"
                         "ld.param.u64 %rd0, [rows]; ld.param.u64 %rd1, [out];\nmov.u32 %n0, %tid.x; mov.u32 %n1, %ctaid.x;\n"
                         "mad.lo.u32 %n0, %n1, 128, %n0;\nmul.wide.u32 %rd2, %n0, 32; add.u64 %rd0, %rd0, %rd2;\n"
                         "mul.wide.u32 %rd2, %n0, ",
                         8 * pieces.size(), "; add.u64 %rd1, %rd1, %rd2;\n");
  constexpr std::string_view names[] = {"%a", "%b", "%c", "%e"};
  for (std::size_t i = 0; i < 4; ++i) body += cat("ld.global.", type, ' ', names[i], ", [%rd0+", 8 * i, "];\n");
  for (std::size_t i = 0; i < pieces.size(); ++i)
    body += cat("mov.", type, " %d, 0x5A5A5A5A;\n", pieces[i], '\n', bits == 32 ? "cvt.u64.u32 %rd3, %d;" : "mov.b64 %rd3, %d;",
                "\nst.global.b64 [%rd1+", 8 * i, "], %rd3;\n");
  body += "ret;\n}\n";
  constexpr std::size_t block_size = 128;
  std::vector<Inputs> padded = rows;
  padded.resize((rows.size() + block_size - 1) / block_size * block_size);
  LaunchConfig config = block(block_size);
  config.grid = {static_cast<std::uint32_t>(padded.size() / block_size), 1, 1};
  Buffer<Inputs> in{"rows", padded};
  std::array<std::vector<std::uint64_t>, 2> results;
  for (const bool baseline : {false, true}) {
    Buffer<std::uint64_t> out{"out", std::vector<std::uint64_t>(padded.size() * pieces.size())};
    baseline_only = baseline;
    auto made = make_from_text(body);
    baseline_only = false;
    if (!made) {
      ADD_FAILURE() << render(made.error());
      return {};
    }
    run(*made, config, params({in.address(), out.address()}), {in.region(), out.region()});
    results[baseline ? 1 : 0] = std::move(out.data);
  }
  EXPECT_EQ(results[0], results[1]) << "AVX2 and the baseline differ, in pieces from `" << pieces.front() << "` on";
  std::vector<std::vector<std::uint64_t>> by_piece(pieces.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < pieces.size(); ++i) by_piece[i].push_back(results[0][row * pieces.size() + i]);
  return by_piece;
}

/// Special values against each other, then random ones, of any size.
inline std::vector<Inputs> make_inputs(std::size_t random_rows, std::vector<std::uint64_t> special = integer_edges()) {
  std::mt19937_64 random(20261123);
  std::vector<Inputs> rows;
  const auto any_special = [&] { return special[random() % special.size()]; };
  for (const std::uint64_t x : special) rows.push_back({x, any_special(), any_special(), any_special()});
  for (std::size_t i = 0; i < random_rows; ++i) {
    const auto draw = [&] { return random() % 4 == 0 ? any_special() : random() >> (random() % 64); };
    rows.push_back({draw(), draw(), draw(), draw()});
  }
  return rows;
}

/// One piece, what it is to compute of a row, and its name in messages.
struct Piece {
  std::string text;
  std::function<std::uint64_t(const Inputs&)> expected;
};
inline void expect_pieces(const std::vector<Piece>& pieces, const std::vector<Inputs>& rows, int bits,
                          std::string_view header = ".version 8.7\n.target sm_90a") {
  constexpr std::size_t at_a_time = 64;  // a kernel of many is slow to decode
  for (std::size_t from = 0; from < pieces.size(); from += at_a_time) {
    const std::size_t end = std::min(pieces.size(), from + at_a_time);
    std::vector<std::string> texts;
    for (std::size_t i = from; i < end; ++i) texts.push_back(pieces[i].text);
    const auto results = run_pieces(texts, rows, bits, header);
    ASSERT_EQ(results.size(), end - from);
    for (std::size_t i = from; i < end; ++i)
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const Inputs& in = rows[row];
        ASSERT_EQ(results[i - from][row], pieces[i].expected(in))
            << pieces[i].text << " a=0x" << hex(in.a) << " b=0x" << hex(in.b) << " c=0x" << hex(in.c) << " e=0x" << hex(in.e);
      }
  }
}

}  // namespace ptx::vgpu::testing
