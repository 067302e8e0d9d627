#include "tests/oracle/mutations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "ptx/base/base.hpp"
#include "tests/oracle/surroundings.hpp"

namespace ptx::oracle {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return random() % n; }
template <class List>
auto pick(Random& random, const List& list) {
  return list[below(random, std::size(list))];
}

constexpr std::string_view components[] = {".x",  ".y",  ".z",  ".w",   ".r",   ".g",   ".b",     ".a",   ".b0", ".b1", ".b2",
                                           ".b3", ".h0", ".h1", ".h10", ".h01", ".h32", ".b3210", ".b10", ".b7", ".q",  ".x.y"};
constexpr std::string_view integers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4",
                                         "5",
                                         "7",
                                         "8",
                                         "12",
                                         "15",
                                         "16",
                                         "17",
                                         "20",
                                         "24",
                                         "31",
                                         "32",
                                         "33",
                                         "63",
                                         "64",
                                         "65",
                                         "96",
                                         "127",
                                         "128",
                                         "129",
                                         "-127",
                                         "-128",
                                         "-129",
                                         "255",
                                         "256",
                                         "257",
                                         "512",
                                         "1023",
                                         "1024",
                                         "1025",
                                         "4095",
                                         "4096",
                                         "32767",
                                         "32768",
                                         "65535",
                                         "65536",
                                         "-32768",
                                         "-32769",
                                         "1048576",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483648",
                                         "-2147483649",
                                         "4294967295",
                                         "4294967296",
                                         "-4294967296",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "0x7FFFFFFF",
                                         "0x80000000",
                                         "0xFFFFFFFF",
                                         "0x100000000",
                                         "0xFFFFFFFFFFFFFFFF",
                                         "0b101",
                                         "017",
                                         "1U",
                                         "4294967295U",
                                         "0x1FU",
                                         "WARP_SZ"};
constexpr std::string_view floats[] = {"0.0",
                                       "1.0",
                                       "-1.5",
                                       "0f3F800000",
                                       "0fBF800000",
                                       "0f7F800000",
                                       "0f7FC00000",
                                       "1e10",
                                       "1.5e-3",
                                       "1e308",
                                       "1e40",
                                       "0d3FF0000000000000",
                                       "0dFFF8000000000000",
                                       "0f3F8",
                                       "0d3FF0",
                                       "1e-320",
                                       "3.402823e38",
                                       "0f00000001",
                                       "-0.0",
                                       "1.f",
                                       ".5"};
constexpr std::string_view specials[] = {"%tid.x",
                                         "%tid",
                                         "%ntid.y",
                                         "%ctaid.z",
                                         "%laneid",
                                         "%warpid",
                                         "%clock",
                                         "%clock64",
                                         "%gridid",
                                         "%smid",
                                         "%lanemask_eq",
                                         "%pm0",
                                         "%envreg3",
                                         "%globaltimer",
                                         "%clusterid.x",
                                         "%cluster_ctarank",
                                         "%is_explicit_cluster",
                                         "%dynamic_smem_size",
                                         "%total_smem_size",
                                         "%nwarpid",
                                         "%nsmid",
                                         "%globaltimer_hi",
                                         "%clock_hi",
                                         "%current_graph_exec",
                                         "%reserved_smem_offset_cap",
                                         "%aggr_smem_size",
                                         "%tid.w",
                                         "%tid.q",
                                         "%nothing"};
constexpr std::string_view spaces[] = {"global",      "shared",          "local",        "const",      "param",
                                       "shared::cta", "shared::cluster", "param::entry", "param::func"};
constexpr std::string_view types[] = {"pred",  "b8",    "b16",   "b32",    "b64",  "b128", "u8",    "u16",
                                      "u32",   "u64",   "s8",    "s16",    "s32",  "s64",  "f16",   "f16x2",
                                      "f32",   "f64",   "bf16",  "bf16x2", "tf32", "e4m3", "e5m2",  "e4m3x2",
                                      "u16x2", "s16x2", "f32x2", "b1",     "u4",   "s4",   "texref"};
constexpr std::string_view common_words[] = {"ftz",
                                             "sat",
                                             "rn",
                                             "rz",
                                             "rm",
                                             "rp",
                                             "rni",
                                             "approx",
                                             "full",
                                             "relu",
                                             "satfinite",
                                             "NaN",
                                             "xorsign",
                                             "abs",
                                             "lo",
                                             "hi",
                                             "wide",
                                             "cc",
                                             "sync",
                                             "aligned",
                                             "uni",
                                             "volatile",
                                             "relaxed",
                                             "acquire",
                                             "release",
                                             "acq_rel",
                                             "weak",
                                             "mmio",
                                             "cta",
                                             "cluster",
                                             "gpu",
                                             "sys",
                                             "v2",
                                             "v4",
                                             "v8",
                                             "nc",
                                             "ca",
                                             "cg",
                                             "cs",
                                             "wb",
                                             "L2::cache_hint",
                                             "L1::evict_last",
                                             "L2::128B",
                                             "L2::evict_first",
                                             "x2",
                                             "x4",
                                             "trans",
                                             "m8n8",
                                             "noftz",
                                             "add",
                                             "min",
                                             "max",
                                             "and",
                                             "or",
                                             "exch",
                                             "cas",
                                             "inc",
                                             "eq",
                                             "lt",
                                             "ltu",
                                             "nan",
                                             "1d",
                                             "2d",
                                             "3d",
                                             "a2d",
                                             "cube",
                                             "trap",
                                             "clamp",
                                             "zero",
                                             "b2",
                                             "acc::f16",
                                             "acc::f32",
                                             "pred",
                                             "multicast::cluster",
                                             "cta_group::1",
                                             "cta_group::2",
                                             "mbarrier::complete_tx::bytes",
                                             "bulk_group",
                                             "tile",
                                             "im2col",
                                             "row",
                                             "col",
                                             "to",
                                             "expect_tx",
                                             "noComplete"};

std::string reg(Random& random) {
  if (below(random, 14) == 0) return cat('%', pick(random, vector_types), "_0");
  return cat('%', pick(random, register_types), '_', below(random, 4));
}

std::string expression(Random& random, int depth) {
  constexpr std::string_view operators[] = {"+", "-",  "*",  "/",  "%",  "<<", ">>", "&", "|",
                                            "^", "&&", "||", "==", "!=", "<",  "<=", ">", ">="};
  constexpr std::string_view leaves[] = {
      "0",  "1",  "2",  "3",  "7",          "10",     "0xFF", "-1", "1U", "0x80000000", "0xFFFFFFFFFFFFFFFF",
      "63", "64", "31", "32", "4294967296", "WARP_SZ"};
  if (depth == 0 || below(random, 4) == 0) return std::string(pick(random, leaves));
  switch (below(random, 8)) {
    case 0:
      return cat("(", pick(random, std::array<std::string_view, 3>{"-", "~", "!"}), expression(random, depth - 1), ")");
    case 1:
      return cat("(", expression(random, depth - 1), " ? ", expression(random, depth - 1), " : ", expression(random, depth - 1),
                 ")");
    case 2:
      return cat("(", pick(random, std::array<std::string_view, 4>{".s64", ".u64", ".u32", ".f32"}), ")",
                 expression(random, depth - 1));
    case 3:
      return cat(expression(random, depth - 1), ' ', pick(random, operators), ' ', expression(random, depth - 1));
    default:
      return cat('(', expression(random, depth - 1), ' ', pick(random, operators), ' ', expression(random, depth - 1), ')');
  }
}

std::string name(Random& random) {
  const std::string_view base = pick(random, other_names);
  switch (below(random, 8)) {
    case 0:
      return cat(base, '[', below(random, 4), ']');
    case 1:
      return cat(base, '+', below(random, 3) * 4);
    case 2:
      return cat(base, '[', reg(random), ']');
    case 3:
      return cat(base, pick(random, components));
    default:
      return std::string(base);
  }
}

std::string address(Random& random) {
  const std::string base = below(random, 3) == 0   ? name(random)
                           : below(random, 6) == 0 ? std::string(pick(random, integers))
                                                   : reg(random);
  switch (below(random, 9)) {
    case 0:
      return cat('[', base, '+', pick(random, integers), ']');
    case 1:
      return cat('[', base, "-4]");
    case 2:
      return cat('[', base, "+-8]");
    case 3:
      return cat('[', base, '+', reg(random), ']');
    case 4:
      return cat('[', base, ", {", reg(random), ", ", reg(random), "}]");
    case 5:
      return cat("[4+", base, ']');
    default:
      return cat('[', base, ']');
  }
}

std::string scalar(Random& random) {
  switch (below(random, 12)) {
    case 0:
      return std::string(pick(random, floats));
    case 1:
    case 2:
      return std::string(pick(random, integers));
    case 3:
      return std::string(pick(random, specials));
    case 4:
      return name(random);
    case 5:
      return expression(random, 2);
    default:
      return reg(random);
  }
}

std::string vector(Random& random) {
  constexpr std::size_t sizes[] = {1, 2, 2, 2, 3, 4, 4, 4, 8};
  const std::size_t n = pick(random, sizes);
  std::string out = "{";
  const std::string one = reg(random);
  const bool mixed = below(random, 2) == 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string element = !mixed ? one : below(random, 6) == 0 ? "_" : scalar(random);
    out += cat(i == 0 ? "" : ", ", element);
  }
  return out + '}';
}

/// A statement in pieces.
struct Pieces {
  std::string guard;
  std::vector<std::string> words, operands;
  std::vector<char> before;  // by operand: ',' or '|'
};

Pieces split(std::string_view statement) {
  Pieces p;
  while (statement.ends_with(';') || statement.ends_with(' ')) statement.remove_suffix(1);
  if (statement.starts_with('@')) {
    const std::size_t space = statement.find(' ');
    p.guard = statement.substr(0, space);
    statement.remove_prefix(std::min(space + 1, statement.size()));
  }
  const std::size_t space = std::min(statement.find(' '), statement.size());
  for (std::string_view rest = statement.substr(0, space);;) {
    const std::size_t dot = rest.find('.');
    p.words.emplace_back(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  int depth = 0;
  std::string operand;
  char before = ',';
  const auto done = [&](char next) {
    const std::size_t begin = operand.find_first_not_of(' ');
    p.operands.push_back(begin == std::string::npos ? "" : operand.substr(begin, operand.find_last_not_of(' ') - begin + 1));
    p.before.push_back(before);
    before = next;
    operand.clear();
  };
  for (const char c : statement.substr(space)) {
    depth += c == '[' || c == '{' || c == '(';
    depth -= c == ']' || c == '}' || c == ')';
    if (depth == 0 && (c == ',' || c == '|'))
      done(c);
    else
      operand += c;
  }
  if (operand.find_first_not_of(' ') != std::string::npos || !p.operands.empty()) done(',');
  return p;
}

std::string join(const Pieces& p) {
  std::string out = p.guard.empty() ? "" : p.guard + ' ';
  for (std::size_t i = 0; i < p.words.size(); ++i) out += cat(i == 0 ? "" : ".", p.words[i]);
  for (std::size_t i = 0; i < p.operands.size(); ++i) out += cat(i == 0 ? " " : p.before[i] == '|' ? "|" : ", ", p.operands[i]);
  return out + ';';
}

// The places of register names in a text.
std::vector<std::pair<std::size_t, std::size_t>> registers_in(std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%') {
      std::size_t end = i + 1;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
      found.emplace_back(i, end - i);
      i = end;
    }
  return found;
}

}  // namespace

std::string Mutator::operand(Random& random) {
  switch (below(random, 10)) {
    case 0:
    case 1:
      return address(random);
    case 2:
      return vector(random);
    case 3:
      return "_";
    default:
      return scalar(random);
  }
}

Mutator::Mutator(std::span<const std::string> statements) {
  std::map<std::string, std::set<std::string>> words;
  for (const std::string& s : statements) {
    const Pieces p = split(s);
    for (std::size_t i = 1; i < p.words.size(); ++i) words[p.words[0]].insert(p.words[i]), words[""].insert(p.words[i]);
  }
  for (const std::string_view w : common_words) words[""].insert(std::string(w));
  for (const std::string_view w : types) words[""].insert(std::string(w));
  for (auto& [opcode, set] : words) words_[opcode].assign(set.begin(), set.end());
}

Mutant Mutator::mutate(std::string_view statement, int changes, Random& random) const {
  Pieces p = split(statement);
  std::set<std::string> how;
  const auto modifier = [&] {
    const auto own = words_.find(p.words[0]);
    const std::size_t kind = below(random, 10);
    if (kind < 3) return std::string(pick(random, types));
    if (kind < 5 || own == words_.end()) return pick(random, words_.find("")->second);
    if (kind == 5) return std::string(pick(random, spaces));
    return pick(random, own->second);
  };
  const auto mutate_words = [&] {
    const std::size_t n = p.words.size(), at = n == 1 ? 1 : 1 + below(random, n - 1);
    const auto place = [&](std::size_t i) { return p.words.begin() + static_cast<std::ptrdiff_t>(i); };
    switch (below(random, 8)) {
      case 0:
        if (n > 1) p.words.erase(place(at)), how.insert("modifier dropped");
        break;
      case 1:
        if (n > 1) p.words.insert(place(at), p.words[at]), how.insert("modifier doubled");
        break;
      case 2:
        if (n > 2) std::swap(p.words[at], p.words[1 + below(random, n - 1)]), how.insert("modifiers swapped");
        break;
      case 3:
      case 4:
        p.words.insert(place(1 + below(random, n)), modifier()), how.insert("modifier added");
        break;
      default:
        if (n > 1) p.words[at] = modifier(), how.insert("modifier replaced");
        break;
    }
  };
  const auto mutate_operand = [&] {
    if (p.operands.empty()) {
      p.operands.push_back(operand(random)), p.before.push_back(','), how.insert("operand added");
      return;
    }
    const std::size_t at = below(random, p.operands.size());
    const auto place = static_cast<std::ptrdiff_t>(at);
    std::string& o = p.operands[at];
    const auto registers = registers_in(o);
    const auto one = registers.empty() ? std::pair<std::size_t, std::size_t>{0, o.size()} : pick(random, registers);
    const std::string was = o.substr(one.first, one.second);
    const auto replace = [&](const std::string& with, const char* name) {
      o.replace(one.first, one.second, with);
      how.insert(name);
    };
    switch (below(random, 22)) {
      case 0:
        replace(cat(was, pick(random, components)), "component");
        break;
      case 1:
        replace(cat(pick(random, std::array<std::string_view, 4>{"!", "-", "~", "+"}), was), "negated");
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        replace(reg(random), "register");
        break;
      case 6:
        replace(name(random), "name");
        break;
      case 7:
        o = name(random), how.insert("name");
        break;
      case 8:
        replace("_", "sink");
        break;
      case 9:
        replace(std::string(pick(random, integers)), "integer");
        break;
      case 10:
        replace(std::string(pick(random, floats)), "float");
        break;
      case 11:
        replace(std::string(pick(random, specials)), "special");
        break;
      case 12:
        replace(expression(random, 2), "expression");
        break;
      case 13:
        o = address(random), how.insert("address");
        break;
      case 14:
        o = vector(random), how.insert("vector");
        break;
      case 15:
        if (o.size() > 2 && (o[0] == '[' || o[0] == '{'))
          o = o.substr(1, o.size() - 2), how.insert("brackets dropped");
        else
          o = below(random, 2) == 0 ? cat('[', o, ']') : cat('{', o, '}'), how.insert("brackets added");
        break;
      case 16:
        if (o[0] == '{' && o.find(',') != std::string::npos)
          below(random, 2) == 0 ? o.erase(o.rfind(','), o.size() - 1 - o.rfind(',')) : o.insert(1, cat(reg(random), ", ")),
              how.insert("vector's size");
        else if (o[0] == '[')
          o.insert(o.size() - 1, pick(random, std::array<std::string_view, 8>{"+4", "-4", "+-16", "+1", "+0x7FFFFFFF",
                                                                              "+4294967296", "+%b32_1", "+4*2"})),
              how.insert("offset");
        break;
      case 17:
        p.operands.erase(p.operands.begin() + place), p.before.erase(p.before.begin() + place), how.insert("operand dropped");
        break;
      case 18: {
        const std::string added = below(random, 2) == 0 ? p.operands[below(random, p.operands.size())] : operand(random);
        p.operands.insert(p.operands.begin() + place, added);
        p.before.insert(p.before.begin() + place, below(random, 4) == 0 ? '|' : ',');
        how.insert("operand added");
        break;
      }
      case 19:
        std::swap(o, p.operands[below(random, p.operands.size())]), how.insert("operands swapped");
        break;
      case 20:
        p.before[at] = p.before[at] == '|' ? ',' : '|', how.insert("bar");
        break;
      default:
        o = operand(random), how.insert("operand");
        break;
    }
  };
  for (; changes > 0; --changes) {
    const std::size_t kind = below(random, 20);
    if (kind == 0) {
      p.guard = cat('@', below(random, 2) == 0 ? "!" : "", below(random, 3) != 0 ? std::string("%pred_1") : operand(random));
      how.insert("guard");
    } else if (kind < 8) {
      mutate_words();
    } else {
      mutate_operand();
    }
  }
  Mutant mutant{join(p), {}};
  for (const std::string& h : how) mutant.how += cat(mutant.how.empty() ? "" : ", ", h);
  return mutant;
}

// ---- declarations -----------------------------------------------------------------------------------------------------

namespace {

// One of each sort, legal; `@` stands for a number that makes the name unique.
constexpr std::string_view legal_declarations[] = {
    ".global .u32 d@;",
    ".global .align 8 .b8 d@[16] = {1, 2, 3};",
    ".global .f32 d@[2][3] = {{1.0, 2.0}, {0f3F800000}};",
    ".const .s16 d@[4] = {-1, 2, 0x7FFF, 0};",
    ".shared .align 16 .b8 d@[32];",
    ".extern .shared .align 16 .b8 d@[];",
    ".local .b32 d@[4];",
    ".visible .global .align 4 .u32 d@ = 5;",
    ".weak .global .b64 d@;",
    ".common .global .b32 d@;",
    ".extern .global .f64 d@;",
    ".global .v2 .f32 d@;",
    ".global .align 16 .v4 .u32 d@[2];",
    ".global .u64 d@ = global_array;",
    ".global .u64 d@[2] = {global_array+4, global_word};",
    ".global .u64 d@ = generic(global_array);",
    ".global .b8 d@[] = {1, 2};",
    ".global .f64 d@ = 0d3FF0000000000000;",
    ".global .texref d@;",
    ".global .samplerref d@;",
    ".global .surfref d@;",
    ".const .u64 d@ = with_result;",
    ".global .u8 d@[4] = {0xFF(global_array), 0xFF00(global_array), 0, 0};",
    ".global .attribute(.managed) .u32 d@;",
    ".global .b32 d@ = 1 + 2 * 3;",
    ".global .b64 d@ = (1 << 40) - 1;",
    ".func d@() { ret; }",
    ".visible .func (.param .b32 r) d@(.param .b32 a) { st.param.b32 [r], 1; ret; }",
    ".func (.reg .b32 r) d@(.reg .b32 a) { mov.b32 r, a; ret; }",
    ".extern .func (.param .b32 r) d@(.param .b64 a, .param .align 8 .b8 b[16]);",
    ".weak .func d@() { ret; }",
    ".func d@(.param .b32 a) .noreturn { trap; }",
    ".visible .entry d@(.param .u64 p) { ret; }",
    ".visible .entry d@(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[24]) { ret; }",
    ".visible .entry d@() .maxntid 128, 1, 1 { ret; }",
    ".visible .entry d@() .reqntid 32 { ret; }",
    ".visible .entry d@() .maxntid 256 .minnctapersm 2 { ret; }",
    ".visible .entry d@() .maxnreg 64 { ret; }",
    ".entry d@() { .reg .b32 %r<4>; mov.u32 %r1, %tid.x; ret; }",
    ".entry d@() { .shared .b32 s; .reg .b32 t; ld.shared.b32 t, [s]; ret; }",
    ".entry d@() { .local .align 8 .b8 s[16]; .reg .b32 t; ld.local.b32 t, [s+4]; ret; }",
    ".entry d@() { { .reg .pred p; setp.eq.u32 p, 1, 2; @p bra X; } X: ret; }",
    ".entry d@() { .reg .v4 .f32 v; .reg .f32 x; mov.f32 x, v.x; ret; }",
    ".entry d@() { .pragma \"nounroll\"; ret; }",
    ".entry d@() { .reg .u32 i; t: .branchtargets A, B; brx.idx i, t; A: ret; B: exit; }",
    ".entry d@() { .param .b32 a; .param .b32 b; st.param.b32 [a], 1; call (b), with_result, (a); ret; }",
    ".entry d@() { .reg .b64 f; .param .b32 a, b; p: .callprototype (.param .b32 _) _ (.param .b32 _); mov.u64 f, with_result; "
    "call (b), f, (a), p; ret; }",
    ".entry d@() { .reg .b64 f; .param .b32 a, b; c: .calltargets with_result; mov.u64 f, with_result; call (b), f, (a), c; ret; "
    "}",
    ".entry d@() { call plain; ret; }",
    ".entry d@() { call.uni plain, (); ret; }",
    ".entry d@() .reqnctapercluster 2 .explicitcluster { ret; }",
    ".entry d@() .maxclusterrank 8 { ret; }",
    ".alias d@, plain;",
    ".pragma \"nounroll\";",
    ".file 1 \"a.cu\"",
    ".section .debug_x@ { .b8 1, 2, 3 .b32 5 .b64 x@: }",
    ".global .align 4 .u32 d@[WARP_SZ];",
    ".shared .v4 .f32 d@[8];",
    ".shared .u64 d@;",
    ".const .align 4 .b8 d@[12];",
};
constexpr std::string_view declaration_words[] = {".global",
                                                  ".shared",
                                                  ".local",
                                                  ".const",
                                                  ".param",
                                                  ".reg",
                                                  ".entry",
                                                  ".func",
                                                  ".visible",
                                                  ".extern",
                                                  ".weak",
                                                  ".common",
                                                  ".align",
                                                  ".ptr",
                                                  ".v2",
                                                  ".v4",
                                                  ".v8",
                                                  ".u8",
                                                  ".u16",
                                                  ".u32",
                                                  ".u64",
                                                  ".s8",
                                                  ".s32",
                                                  ".s64",
                                                  ".b8",
                                                  ".b16",
                                                  ".b32",
                                                  ".b64",
                                                  ".b128",
                                                  ".f16",
                                                  ".f16x2",
                                                  ".f32",
                                                  ".f64",
                                                  ".pred",
                                                  ".texref",
                                                  ".surfref",
                                                  ".samplerref",
                                                  ".bf16",
                                                  ".maxntid",
                                                  ".reqntid",
                                                  ".minnctapersm",
                                                  ".maxnreg",
                                                  ".maxclusterrank",
                                                  ".reqnctapercluster",
                                                  ".explicitcluster",
                                                  ".noreturn",
                                                  ".unified",
                                                  ".attribute",
                                                  ".managed",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  ";",
                                                  "=",
                                                  ":",
                                                  "<4>",
                                                  "0",
                                                  "1",
                                                  "2",
                                                  "3",
                                                  "4",
                                                  "6",
                                                  "8",
                                                  "16",
                                                  "-1",
                                                  "64",
                                                  "128",
                                                  "256",
                                                  "1024",
                                                  "1025",
                                                  "65536",
                                                  "4294967296",
                                                  "18446744073709551615",
                                                  "1.0",
                                                  "0f3F800000",
                                                  "0d3FF0000000000000",
                                                  "generic",
                                                  "global_array",
                                                  "shared_array",
                                                  "with_result",
                                                  "plain",
                                                  "not_declared",
                                                  "ret;",
                                                  "WARP_SZ",
                                                  "\"x\""};

std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const auto word = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' || c == '%';
    };
    if (text[i] == ' ') {
      ++i;
      continue;
    }
    if (text[i] == '"')
      i = text.find('"', i + 1) + 1;
    else if (word(text[i]))
      while (i < text.size() && word(text[i])) ++i;
    else
      ++i;
    tokens.emplace_back(text.substr(begin, i - begin));
  }
  return tokens;
}

}  // namespace

Mutant Mutator::declaration(std::size_t number, Random& random) const {
  std::string text(pick(random, legal_declarations));
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1))
    if (at != 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0) text.replace(at, 1, cat(number));
  if (below(random, 3) == 0) return {text, {}};
  if (below(random, 6) == 0)
    return {cat(".global .", pick(random, types), " d", number, " = ", expression(random, 3), ';'), "initialiser"};
  std::vector<std::string> tokens = tokens_of(text);
  const std::size_t at = below(random, tokens.size());
  const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
  std::string how;
  switch (below(random, 6)) {
    case 0:
      tokens.erase(place), how = "token dropped";
      break;
    case 1:
      tokens.insert(place, tokens[at]), how = "token doubled";
      break;
    case 2:
      std::swap(tokens[at], tokens[below(random, tokens.size())]), how = "tokens swapped";
      break;
    case 3:
      tokens.insert(place, std::string(pick(random, declaration_words))), how = "token added";
      break;
    default:
      tokens[at] = pick(random, declaration_words), how = "token replaced";
      break;
  }
  std::string out;
  for (const std::string& token : tokens) out += cat(out.empty() ? "" : " ", token);
  return {out, "declaration: " + how};
}

}  // namespace ptx::oracle
