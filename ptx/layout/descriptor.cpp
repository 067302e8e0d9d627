#include "ptx/layout/descriptor.hpp"

#include <span>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::layout {
namespace {

// Collects fields, and the first thing that is wrong with one.
class Bits {
 public:
  explicit Bits(std::string_view of) : of_(of) {}

  void put(unsigned at, std::uint64_t value) { bits_ |= value << at; }
  void number(unsigned at, std::string_view name, std::int64_t value, std::int64_t most) {
    if (value < 0 || value > most) return refuse(name, cat(value), cat("0 to ", most));
    put(at, static_cast<std::uint64_t>(value));
  }
  /// A number of bytes that the field holds in units of 16.
  void bytes(unsigned at, std::string_view name, std::int64_t value) {
    constexpr std::int64_t most = 0x3FFF * 16;
    if (value < 0 || value > most || value % 16 != 0) return refuse(name, cat(value), cat("a multiple of 16 up to ", most));
    put(at, static_cast<std::uint64_t>(value) / 16);
  }
  struct Word {
    std::string_view word;
    unsigned value;
  };
  void word(unsigned at, std::string_view name, std::string_view given, std::span<const Word> words) {
    if (given.empty()) return put(at, words.front().value);
    std::vector<std::string> fits;
    for (const auto& [word, value] : words) {
      if (word == given) return put(at, value);
      fits.emplace_back(word);
    }
    refuse(name, cat('`', given, '`'), list_choices(fits));
  }
  void sign(unsigned at, std::string_view name, std::int64_t scale) {
    if (scale != 1 && scale != -1) return refuse(name, cat(scale), "1 or -1");
    put(at, scale == -1 ? 1 : 0);
  }
  void major(unsigned at, std::string_view name, std::string_view given) {
    static constexpr Word words[] = {{"K", 0}, {"MN", 1}};
    word(at, name, given, words);
  }
  void n(std::int64_t n) {
    if (n < 8 || n > 256 || n % 8 != 0) return refuse("n", cat(n), "a multiple of 8 from 8 to 256");
    put(17, static_cast<std::uint64_t>(n) / 8);
  }
  void refuse(std::string_view name, const std::string& given, const std::string& fits) {
    if (wrong_.empty()) wrong_ = cat("`", name, "` of ", of_, " is ", given, "; what fits is ", fits);
  }
  template <class Word>
  [[nodiscard]] Expected<Word> made() {
    if (!wrong_.empty()) return Unexpected{{.kind = Kind::bad_descriptor, .message = std::move(wrong_)}};
    return static_cast<Word>(bits_);
  }

 private:
  std::string_view of_;
  std::uint64_t bits_ = 0;
  std::string wrong_;
};

constexpr Bits::Word halves[] = {{"f16", 0}, {"bf16", 1}}, singles[] = {{"tf32", 2}}, int8s[] = {{"s8", 1}, {"u8", 0}},
                     minis[] = {{"e4m3", 0}, {"e5m2", 1}, {"e2m3", 3}, {"e3m2", 4}, {"e2m1", 5}}, quarters[] = {{"e2m1", 1}};
constexpr Bits::Word halves_out[] = {{"f16", 0}, {"f32", 1}}, minis_out[] = {{"f32", 1}, {"f16", 0}},
                     singles_out[] = {{"f32", 1}}, int8s_out[] = {{"s32", 2}};
constexpr Bits::Word only_ue8m0[] = {{"ue8m0", 1}}, scale_types[] = {{"ue4m3", 0}, {"ue8m0", 1}};

constexpr std::string_view scaled_names[] = {"a kind::mxf8f6f4 instruction descriptor", "a kind::mxf4 instruction descriptor",
                                             "a kind::mxf4nvf4 instruction descriptor"};

// The formats of a kind; the first is the usual one.
struct Formats {
  std::string_view name;
  std::span<const Bits::Word> operands, results;
};
Formats formats(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16:
      return {"a kind::f16 instruction descriptor", halves, halves_out};
    case MmaKind::tf32:
      return {"a kind::tf32 instruction descriptor", singles, singles_out};
    case MmaKind::f8f6f4:
      return {"a kind::f8f6f4 instruction descriptor", minis, minis_out};
    case MmaKind::i8:
      break;
  }
  return {"a kind::i8 instruction descriptor", int8s, int8s_out};
}

}  // namespace

Expected<std::uint64_t> descriptor_bits(const WgmmaDescriptor& d) {
  Bits bits("a wgmma descriptor");
  bits.bytes(16, "leading_byte_offset", d.leading_byte_offset);
  bits.bytes(32, "stride_byte_offset", d.stride_byte_offset);
  bits.number(49, "base_offset", d.base_offset, 7);
  bits.number(62, "swizzle", d.swizzle, 3);
  return bits.made<std::uint64_t>();
}

Expected<std::uint64_t> descriptor_bits(const Tcgen05Descriptor& d) {
  static constexpr Bits::Word swizzles[] = {{"NONE", 0}, {"32B", 6}, {"64B", 4}, {"128B", 2}, {"128B_BASE32B", 1}};
  Bits bits("a tcgen05 descriptor");
  bits.bytes(16, "leading_bytes", d.leading_bytes);
  bits.bytes(32, "stride_bytes", d.stride_bytes);
  if (d.version == 1)
    bits.put(46, 1);
  else
    bits.refuse("version", cat(d.version), "1");
  bits.number(49, "base_offset", d.base_offset, 7);
  bits.number(52, "lbo_mode", d.lbo_mode, 1);
  bits.word(61, "swizzle", d.swizzle, swizzles);
  return bits.made<std::uint64_t>();
}

Expected<std::uint32_t> descriptor_bits(MmaKind kind, const InstructionDescriptor& d) {
  const Formats format = formats(kind);
  Bits bits(format.name);
  bits.number(0, "sparsity_selector", d.sparsity_selector, 3);
  bits.put(2, d.sparse ? 1 : 0);
  bits.put(3, d.saturate ? 1 : 0);
  bits.word(4, "d_dtype", d.d_dtype, format.results);
  bits.word(7, "a_dtype", d.a_dtype, format.operands);
  bits.word(10, "b_dtype", d.b_dtype, format.operands);
  bits.sign(13, "scale_a", d.scale_a);
  bits.sign(14, "scale_b", d.scale_b);
  if (kind == MmaKind::i8 && (d.scale_a == -1 || d.scale_b == -1)) bits.refuse("scale", "-1", "1: integers are not negated");
  bits.major(15, "a_major", d.a_major);
  bits.major(16, "b_major", d.b_major);
  bits.n(d.n);
  if (d.m == 64 || d.m == 128 || d.m == 256)
    bits.put(24, static_cast<std::uint64_t>(d.m) / 16);
  else
    bits.refuse("m", cat(d.m), "64, 128 or 256");
  bits.number(30, "max_shift", d.max_shift, 3);
  return bits.made<std::uint32_t>();
}

Expected<std::uint32_t> descriptor_bits(ScaledMmaKind kind, const ScaledInstructionDescriptor& d) {
  const bool is_mini = kind == ScaledMmaKind::mxf8f6f4;
  Bits bits(scaled_names[static_cast<std::size_t>(kind)]);
  bits.put(2, d.sparse ? 1 : 0);
  const std::span<const Bits::Word> operands =
      is_mini ? std::span<const Bits::Word>(minis) : std::span<const Bits::Word>(quarters);
  bits.word(7, "a_dtype", d.a_dtype, operands);
  bits.word(10, "b_dtype", d.b_dtype, operands);
  const auto scale_id = [&](unsigned at, std::string_view name, std::int64_t id) {
    const bool any = is_mini || d.k96;  // of K = 96 the three scales of .block32 begin at any byte
    if (any ? id < 0 || id > 3 : id != 0 && id != 2) return bits.refuse(name, cat(id), any ? "0 to 3" : "0 or 2");
    bits.put(at, static_cast<std::uint64_t>(id));
  };
  scale_id(4, "b_scale_id", d.b_scale_id);
  scale_id(29, "a_scale_id", d.a_scale_id);
  bits.sign(13, "scale_a", d.scale_a);
  bits.sign(14, "scale_b", d.scale_b);
  bits.major(15, "a_major", d.a_major);
  bits.major(16, "b_major", d.b_major);
  if (!is_mini && (d.a_major == "MN" || d.b_major == "MN")) bits.refuse("major", "`MN`", "`K`: 4-bit operands are K-major");
  bits.n(d.n);
  bits.word(23, "scale_dtype", d.scale_dtype,
            kind == ScaledMmaKind::mxf4nvf4 ? std::span<const Bits::Word>(scale_types) : std::span<const Bits::Word>(only_ue8m0));
  if (d.m == 128 || d.m == 256)
    bits.put(27, static_cast<std::uint64_t>(d.m) / 128);
  else
    bits.refuse("m", cat(d.m), "128 or 256");
  if (d.k96 && (is_mini || d.sparse))
    bits.refuse("k96", "true", "false: K = 96 is for dense products of 4-bit operands");
  else
    bits.put(31, d.k96 ? 1 : 0);
  return bits.made<std::uint32_t>();
}

namespace {

// Takes fields apart, and keeps the first thing that is wrong with one.
class Fields {
 public:
  Fields(std::string_view of, std::uint32_t bits) : of_(of), bits_(bits) {}
  [[nodiscard]] unsigned field(unsigned at, unsigned width) const { return bits_ >> at & ((1u << width) - 1); }
  [[nodiscard]] int number(unsigned at, unsigned width) const { return static_cast<int>(field(at, width)); }
  [[nodiscard]] bool flag(unsigned at) const { return field(at, 1) != 0; }
  void zero(unsigned at, unsigned width) {
    if (field(at, width) != 0) refuse(at, width, "0");
  }
  std::string_view word(unsigned at, unsigned width, std::span<const Bits::Word> words) {
    std::vector<std::string> fits;
    for (const auto& [word, value] : words) {
      if (value == field(at, width)) return word;
      fits.push_back(cat(value, " (", word, ')'));
    }
    refuse(at, width, list_choices(fits));
    return words.front().word;
  }
  void refuse(unsigned at, unsigned width, std::string_view fits) {
    if (!wrong_.empty()) return;
    wrong_ = cat(of_, " 0x", hex(bits_, 8), " has ", field(at, width), width == 1 ? " in bit " : " in bits ", at,
                 width == 1 ? std::string() : cat(" to ", at + width - 1), "; what fits is ", fits);
  }
  void common(DecodedMma& mma) const {
    mma.sparse = flag(2);
    mma.a_negated = flag(13), mma.b_negated = flag(14), mma.a_transposed = flag(15), mma.b_transposed = flag(16);
    mma.n = 8 * number(17, 6);
  }
  [[nodiscard]] Expected<DecodedMma> made(const DecodedMma& mma) {
    if (!wrong_.empty()) return Unexpected{{.kind = Kind::bad_descriptor, .message = std::move(wrong_)}};
    return mma;
  }

 private:
  std::string_view of_;
  std::uint32_t bits_;
  std::string wrong_;
};

}  // namespace

Expected<DecodedMma> read_instruction_descriptor(MmaKind kind, std::uint32_t bits) {
  const Formats format = formats(kind);
  Fields fields(format.name, bits);
  DecodedMma mma;
  fields.common(mma);
  mma.sparsity_selector = fields.number(0, 2);
  if (kind == MmaKind::i8)
    mma.saturate = fields.flag(3), fields.zero(13, 2);
  else
    fields.zero(3, 1);
  mma.d_dtype = fields.word(4, 2, format.results);
  mma.a_dtype = fields.word(7, 3, format.operands);
  mma.b_dtype = fields.word(10, 3, format.operands);
  mma.m = 16 * fields.number(24, 5);
  mma.max_shift = fields.number(30, 2);
  for (const unsigned reserved : {6u, 23u, 29u}) fields.zero(reserved, 1);
  return fields.made(mma);
}

Expected<DecodedMma> read_instruction_descriptor(ScaledMmaKind kind, std::uint32_t bits) {
  const bool is_mini = kind == ScaledMmaKind::mxf8f6f4;
  Fields fields(scaled_names[static_cast<std::size_t>(kind)], bits);
  DecodedMma mma;
  fields.common(mma);
  mma.d_dtype = "f32";
  const std::span<const Bits::Word> operands =
      is_mini ? std::span<const Bits::Word>(minis) : std::span<const Bits::Word>(quarters);
  mma.a_dtype = fields.word(7, 3, operands);
  mma.b_dtype = fields.word(10, is_mini ? 3 : 2, operands);
  mma.scale_dtype = fields.word(
      23, 1,
      kind == ScaledMmaKind::mxf4nvf4 ? std::span<const Bits::Word>(scale_types) : std::span<const Bits::Word>(only_ue8m0));
  mma.b_scale_id = fields.number(4, 2), mma.a_scale_id = fields.number(29, 2);
  mma.m = 128 * fields.number(27, 2);
  mma.k96 = !is_mini && fields.flag(31);
  if (is_mini)
    fields.zero(31, 1);
  else
    fields.zero(12, 1), fields.zero(15, 2);
  if (!is_mini && !mma.k96) fields.zero(4, 1), fields.zero(29, 1);
  fields.zero(0, 2), fields.zero(3, 1), fields.zero(6, 1), fields.zero(24, 3);
  return fields.made(mma);
}

}  // namespace ptx::layout
