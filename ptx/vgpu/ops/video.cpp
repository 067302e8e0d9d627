// Video arithmetic (rows: ptx/isa/table/video.hpp): bytes, halves and words of two operands, extended, combined and put together
// again. Few programs use it: one handler for all scalar instructions, one for vmad, one for those on halves and bytes. The last
// follows the manual's steps. So do the others, but where ptxas makes something else of them, since no GPU has them any more:
// what it makes is what a GPU computes (docs/facts.md, "Video instructions").
#include <algorithm>
#include <string_view>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoding.hpp"

namespace ptx::vgpu {
namespace {

enum class Video : std::uint32_t { add, sub, average, absdiff, min, max, shl, shr, eq, ne, lt, le, gt, ge };
enum class Second : std::uint32_t { none, add, min, max };

Video video_of(const Decoding& in) {
  std::string_view word = in.form().opcode.substr(1);
  if (word.ends_with('2') || word.ends_with('4')) word.remove_suffix(1);
  if (word == "set") word = in.chosen("cmp");
  constexpr std::string_view words[] = {"add", "sub", "avrg", "absdiff", "min", "max", "shl",
                                        "shr", "eq",  "ne",   "lt",      "le",  "gt",  "ge"};
  return static_cast<Video>(std::find(std::begin(words), std::end(words), word) - std::begin(words));
}

constexpr std::int64_t computed(Video what, std::int64_t a, std::int64_t b) {
  switch (what) {
    case Video::add:
      return a + b;
    case Video::sub:
      return a - b;
    case Video::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Video::absdiff:
      return a < b ? b - a : a - b;
    case Video::min:
      return a < b ? a : b;
    case Video::max:
      return a < b ? b : a;
    case Video::shl:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    case Video::shr:
      return a >> b;
    case Video::eq:
      return a == b ? 1 : 0;
    case Video::ne:
      return a != b ? 1 : 0;
    case Video::lt:
      return a < b ? 1 : 0;
    case Video::le:
      return a <= b ? 1 : 0;
    case Video::gt:
      return a > b ? 1 : 0;
    case Video::ge:
      return a >= b ? 1 : 0;
  }
  return 0;
}

// Which bits of a word, and whether they have a sign: kept in one number of a step.
struct Field {
  std::uint32_t at = 0, width = 32;
  bool is_signed = false;

  [[nodiscard]] constexpr std::uint32_t kept() const { return at | width << 8 | (is_signed ? 1u << 16 : 0u); }
  static constexpr Field of(std::uint32_t kept) { return {kept & 0xFF, kept >> 8 & 0xFF, (kept >> 16 & 1) != 0}; }
  // `b2`, `h1`, or nothing for the whole word
  static Field named(std::string_view part, Type type) {
    Field field{.is_signed = type == Type::s32};
    if (part.size() != 2) return field;
    field.width = part[0] == 'b' ? 8 : 16;
    field.at = static_cast<std::uint32_t>(part[1] - '0') * field.width;
    return field;
  }

  [[nodiscard]] constexpr std::int64_t from(std::uint64_t word) const { return extend(static_cast<std::int64_t>(word >> at)); }
  [[nodiscard]] constexpr std::int64_t extend(std::int64_t value) const {
    const auto up = static_cast<std::uint64_t>(value) << (64 - width);
    return is_signed ? static_cast<std::int64_t>(up) >> (64 - width) : static_cast<std::int64_t>(up >> (64 - width));
  }
  [[nodiscard]] constexpr std::int64_t clamp(std::int64_t value) const {
    const std::int64_t most = (std::int64_t{1} << (is_signed ? width - 1 : width)) - 1, least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
  }
  // As ptxas saturates: to a byte or half, what is negative counts as too large; to .u32, what is too large is left alone.
  [[nodiscard]] constexpr std::int64_t saturate(std::int64_t value) const {
    if (width == 32) return is_signed ? clamp(value) : value < 0 ? 0 : value;
    const std::int64_t most = (std::int64_t{1} << (is_signed ? width - 1 : width)) - 1;
    return value < 0 || value > most ? most : value;
  }
  [[nodiscard]] constexpr std::uint32_t put(std::int64_t value, std::uint32_t into) const {
    const auto ones = static_cast<std::uint32_t>(~std::uint64_t{0} >> (64 - width)) << at;
    return (static_cast<std::uint32_t>(value) << at & ones) | (into & ~ones);
  }
};

// x[0] = d, x[1] = a, x[2] = b, x[3] = c; x[4], x[5], x[6] = the fields of a, b and d; x[7] = Video, x[8] = Second; x[9]: 1
// saturates, 2 wraps the amount of a shift, 4: c is signed.
Outcome run_scalar(Warp& warp, const Step& step, Mask mask) {
  const auto* a = warp.slot<std::uint32_t>(step.x[1]);
  const auto* b = warp.slot<std::uint32_t>(step.x[2]);
  const auto* c = warp.slot<std::uint32_t>(step.x[3]);
  const Field of_a = Field::of(step.x[4]), of_b = Field::of(step.x[5]), of_d = Field::of(step.x[6]);
  const auto what = static_cast<Video>(step.x[7]);
  const auto second = static_cast<Second>(step.x[8]);
  const bool sat = (step.x[9] & 1) != 0, wrap = (step.x[9] & 2) != 0, shifts = what == Video::shl || what == Video::shr;
  const bool sums = what == Video::add || what == Video::sub, c_signed = (step.x[9] & 4) != 0;
  constexpr Field bits_34{0, 34, true};
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
    std::int64_t amount = of_b.from(b[l]);
    if (shifts) amount = wrap ? amount & 31 : std::min<std::int64_t>(amount, 32);
    std::int64_t result = computed(what, of_a.from(a[l]), amount);
    // a shift has 64 bits, or 34 to saturate, and saturates to a whole word, whatever the part of d
    if (sat) result = shifts ? Field{.is_signed = of_d.is_signed}.clamp(bits_34.extend(result)) : of_d.saturate(result);
    // of sums, and of shifts that saturate, 32 bits go on, with a sign in any case
    if (sums || (shifts && sat)) result = Field{.is_signed = true}.extend(result);
    const std::int64_t summand = Field{.is_signed = c_signed}.from(c[l]);
    const bool less = c_signed ? result < summand : static_cast<std::uint64_t>(result) < static_cast<std::uint64_t>(summand);
    if (second == Second::add) result += summand;
    if (second == Second::min) result = less ? result : summand;
    if (second == Second::max) result = less ? summand : result;
    // into the upper half goes the upper half of the result, not the lower one
    return of_d.put(of_d.at == 16 && of_d.width == 16 ? result >> 16 : result, c[l]);
  });
  return Outcome::next;
}

// x[0] = d, x[1] = a, x[2] = b, x[3] = c; x[4], x[5] = the fields of a and b; x[6]: 1 negates the product, 2 negates c, 4 adds 1;
// x[7] = how far the sum is shifted to the right; x[8]: 1 saturates.
Outcome run_vmad(Warp& warp, const Step& step, Mask mask) {
  const auto* a = warp.slot<std::uint32_t>(step.x[1]);
  const auto* b = warp.slot<std::uint32_t>(step.x[2]);
  const auto* c = warp.slot<std::uint32_t>(step.x[3]);
  const Field of_a = Field::of(step.x[4]), of_b = Field::of(step.x[5]);
  const bool negate_product = (step.x[6] & 1) != 0, negate_c = (step.x[6] & 2) != 0, one_more = (step.x[6] & 4) != 0;
  const Field word{.is_signed = of_a.is_signed || of_b.is_signed || negate_product || negate_c};
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
    // Factors and summand count as signed words, whatever their types, once they are extended; the sum has 64 bits.
    constexpr Field signed_word{.is_signed = true};
    const std::int64_t product = signed_word.extend(of_a.from(a[l])) * signed_word.extend(of_b.from(b[l]));
    auto sum = static_cast<std::uint64_t>(negate_product ? ~product : product);
    sum += static_cast<std::uint64_t>(signed_word.from(negate_c ? ~c[l] : c[l]));
    if (negate_product || negate_c || one_more) sum += 1;
    const std::int64_t scaled =
        word.is_signed ? static_cast<std::int64_t>(sum) >> step.x[7] : static_cast<std::int64_t>(sum >> step.x[7]);
    return static_cast<std::uint32_t>(step.x[8] != 0 ? word.clamp(scaled) : scaled);
  });
  return Outcome::next;
}

// x[0] = d, x[1] = a, x[2] = b, x[3] = c; x[4], x[5] = which parts of b:a, a quartet for each; x[6] = which parts of d, a bit for
// each; x[7] = Video; x[8] = bits of a part; x[9]: 1, 2 and 4: a, b, d are signed; 8 saturates, 16 sums up into c.
Outcome run_simd(Warp& warp, const Step& step, Mask mask) {
  const auto* a = warp.slot<std::uint32_t>(step.x[1]);
  const auto* b = warp.slot<std::uint32_t>(step.x[2]);
  const auto* c = warp.slot<std::uint32_t>(step.x[3]);
  const auto what = static_cast<Video>(step.x[7]);
  const std::uint32_t width = step.x[8], flags = step.x[9];
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) {
    const std::uint64_t both = std::uint64_t{b[l]} << 32 | a[l];
    std::uint32_t result = c[l];
    for (std::uint32_t i = 0; i < 32 / width; ++i) {
      if ((step.x[6] >> i & 1) == 0) continue;
      const Field of_a{(step.x[4] >> 4 * i & 0xF) * width, width, (flags & 1) != 0};
      const Field of_b{(step.x[5] >> 4 * i & 0xF) * width, width, (flags & 2) != 0};
      const Field of_d{i * width, width, (flags & 4) != 0};
      std::int64_t part = computed(what, of_a.from(both), of_b.from(both));
      if ((flags & 8) != 0) part = of_d.clamp(part);
      result = (flags & 16) != 0 ? result + static_cast<std::uint32_t>(part) : of_d.put(part, result);
    }
    return result;
  });
  return Outcome::next;
}

// `b3210`: the digits of a selector, the last one for the lowest part.
std::uint32_t quartets(std::string_view selector) {
  std::uint32_t picked = 0;
  for (const char digit : selector.substr(1)) picked = picked << 4 | static_cast<std::uint32_t>(digit - '0');
  return picked;
}
std::uint32_t positions(std::string_view selector) {
  std::uint32_t chosen = 0;
  for (const char digit : selector.substr(1)) chosen |= 1u << (digit - '0');
  return chosen;
}

Second second_of(std::string_view word) {
  return word == "add" ? Second::add : word == "min" ? Second::min : word == "max" ? Second::max : Second::none;
}

}  // namespace

namespace op {

Handler video(Decoding& in) {
  const bool compares = in.has("cmp");
  const Type dtype = compares ? Type::u32 : in.type("dtype"), atype = in.type("atype"), btype = in.type("btype");
  const auto d = in.write_part("d", dtype), a = in.read_part("a", atype), b = in.read_part("b", btype);
  in.step.x = {d.offset, a.offset, b.offset, in.given("c") ? in.read("c", dtype) : zero_offset};
  in.step.x[4] = Field::named(a.word, atype).kept();
  in.step.x[5] = Field::named(b.word, btype).kept();
  in.step.x[6] = Field::named(d.word, dtype).kept();
  in.step.x[7] = static_cast<std::uint32_t>(video_of(in));
  in.step.x[8] = static_cast<std::uint32_t>(second_of(in.chosen("op2")));
  // of vset, ptxas takes the first type for that of c
  const bool c_signed = (compares ? atype : dtype) == Type::s32;
  in.step.x[9] = (in.wrote("sat") ? 1u : 0u) | (in.chosen("mode") == "wrap" ? 2u : 0u) | (c_signed ? 4u : 0u);
  return run_scalar;
}

Handler vmad(Decoding& in) {
  const Type atype = in.type("atype"), btype = in.type("btype");
  const auto a = in.read_part("a", atype), b = in.read_part("b", btype), c = in.read_part("c", Type::b32);
  in.step.x = {in.write("d", Type::b32), a.offset, b.offset, c.offset};
  in.step.x[4] = Field::named(a.word, atype).kept();
  in.step.x[5] = Field::named(b.word, btype).kept();
  in.step.x[6] = (a.negated != b.negated ? 1u : 0u) | (c.negated ? 2u : 0u) | (in.wrote("po") ? 4u : 0u);
  in.step.x[7] = in.chosen("scale") == "shr7" ? 7 : in.chosen("scale") == "shr15" ? 15 : 0;
  in.step.x[8] = in.wrote("sat") ? 1 : 0;
  return run_vmad;
}

Handler video_simd(Decoding& in) {
  const bool halves = in.form().opcode.ends_with('2');
  const bool compares = in.has("cmp");
  const Type dtype = compares ? Type::u32 : in.type("dtype"), atype = in.type("atype"), btype = in.type("btype");
  const auto d = in.write_part("d", dtype), a = in.read_part("a", atype), b = in.read_part("b", btype);
  in.step.x = {d.offset, a.offset, b.offset, in.read("c", dtype)};
  in.step.x[4] = quartets(!a.word.empty() ? a.word : halves ? "h10" : "b3210");
  in.step.x[5] = quartets(!b.word.empty() ? b.word : halves ? "h32" : "b7654");
  in.step.x[6] = positions(!d.word.empty() ? d.word : halves ? "h10" : "b3210");
  in.step.x[7] = static_cast<std::uint32_t>(video_of(in));
  in.step.x[8] = halves ? 16 : 8;
  in.step.x[9] = (atype == Type::s32 ? 1u : 0u) | (btype == Type::s32 ? 2u : 0u) | (dtype == Type::s32 ? 4u : 0u) |
                 (in.wrote("sat") ? 8u : 0u) | (in.wrote("add") ? 16u : 0u);
  return run_simd;
}

}  // namespace op
}  // namespace ptx::vgpu
