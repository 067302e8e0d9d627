#include "ptx/tool/elements.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include "ptx/num/num.hpp"

namespace ptx::tool {
namespace {

constexpr std::size_t alignment = 256;

bool is_floating(Type type) { return isa::kind(type) == isa::TypeKind::floating; }

// Elements lie in memory as on the GPU: lowest byte first, as on every host that this runs on.
void put(std::uint64_t value, std::span<std::byte> to) { std::memcpy(to.data(), &value, to.size()); }
std::uint64_t bits_at(std::span<const std::byte> from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from.data(), from.size());
  return value;
}

std::uint64_t bits_of_number(Type type, double value) {
  switch (type) {
    case Type::f64:
      return std::bit_cast<std::uint64_t>(value);
    case Type::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Type::f16:
      return num::narrowed(value, num::f16_format, {});
    default:
      return num::narrowed(value, num::bf16_format, {});
  }
}
double number_of_bits(Type type, std::uint64_t value) {
  switch (type) {
    case Type::f64:
      return std::bit_cast<double>(value);
    case Type::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    case Type::f16:
      return num::from_f16(static_cast<std::uint16_t>(value));
    default:
      return num::from_bf16(static_cast<std::uint16_t>(value));
  }
}

Unexpected no_number(Type type, std::string_view text) {
  return refuse(Kind::argument_kind, cat("`", text, "` is no number of type ", isa::name(type)));
}
Unexpected beyond(Type type, std::string_view text) {
  return refuse(Kind::argument_kind, cat("`", text, "` is beyond the type ", isa::name(type)));
}

Expected<void> read_floating(Type type, std::string_view text, std::span<std::byte> to) {
  double value = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return beyond(type, text);
  if (error != std::errc() || end != digits.data() + digits.size()) return no_number(type, text);
  const std::uint64_t made = bits_of_number(type, value);
  if (std::isfinite(value) && !std::isfinite(number_of_bits(type, made))) return beyond(type, text);
  put(made, to);
  return {};
}

Expected<void> read_whole(Type type, std::string_view text, std::span<std::byte> to) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range) return beyond(type, text);
  if (error != std::errc() || end != digits.data() + digits.size()) return no_number(type, text);
  const int width = isa::bits(type);
  const bool has_sign = isa::kind(type) == isa::TypeKind::sint;
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() >> (64 - width + (has_sign && !hex ? 1 : 0));
  // bits take what either reading of them takes
  const bool fits = !negative                                ? value <= largest
                    : isa::kind(type) == isa::TypeKind::uint ? value == 0
                                                             : value <= (std::uint64_t{1} << (width - 1));
  if (!fits) return beyond(type, text);
  put(negative ? 0 - value : value, to);
  return {};
}

template <class Number>
std::string shortest(Number value) {
  std::array<char, 40> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

// NumPy's name of the type, without the byte order: "f4".
std::string numpy_type(Type type) {
  const std::string bytes = std::to_string(isa::bits(type) / 8);
  if (is_floating(type) && type != Type::bf16) return "f" + bytes;
  return (isa::kind(type) == isa::TypeKind::sint ? "i" : "u") + bytes;
}

constexpr std::string_view npy_magic = "\x93NUMPY";

}  // namespace

Expected<Array> Array::make(Type type, std::size_t count) {
  Array made(type, count);
  const std::uint64_t bytes = multiply_sizes(count, made.size());
  constexpr std::uint64_t most = std::numeric_limits<std::ptrdiff_t>::max() - alignment;
  if (bytes <= most) made.memory_.reset(new (std::nothrow) std::byte[bytes + alignment]());
  if (made.memory_ == nullptr)
    return refuse(Kind::out_of_memory, cat("there is no memory for ", count, " elements of type ", isa::name(type)));
  const auto begin = reinterpret_cast<std::uintptr_t>(made.memory_.get());
  made.begin_ = made.memory_.get() + (alignment - begin % alignment) % alignment;
  return made;
}

bool is_number(Type type) {
  const int width = isa::bits(type);
  if (width < 8 || width > 64) return false;
  switch (isa::kind(type)) {
    case isa::TypeKind::bits:
    case isa::TypeKind::uint:
    case isa::TypeKind::sint:
      return true;
    case isa::TypeKind::floating:
      return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
    default:
      return false;
  }
}

Expected<void> read_element(Type type, std::string_view text, std::span<std::byte> to) {
  return is_floating(type) ? read_floating(type, text, to) : read_whole(type, text, to);
}

void count_element(Type type, std::uint64_t value, std::span<std::byte> to) {
  put(is_floating(type) ? bits_of_number(type, static_cast<double>(value)) : value, to);
}

// splitmix64 (Steele, Lea, Flood 2014): the same numbers on every host.
void random_element(Type type, std::uint64_t& state, std::span<std::byte> to) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  // 24 bits, which an f32 holds
  put(is_floating(type) ? bits_of_number(type, static_cast<double>(z >> 40) * 0x1p-23 - 1.0) : z, to);
}

std::string show_element(Type type, std::span<const std::byte> from) {
  const std::uint64_t value = bits_at(from);
  if (type == Type::f64) return shortest(std::bit_cast<double>(value));
  if (is_floating(type)) return shortest(static_cast<float>(number_of_bits(type, value)));
  const int width = isa::bits(type);
  if (isa::kind(type) == isa::TypeKind::sint)
    return std::to_string(static_cast<std::int64_t>(value << (64 - width)) >> (64 - width));
  if (isa::kind(type) == isa::TypeKind::uint) return std::to_string(value);
  std::array<char, 17> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const std::string hex(digits.data(), end);
  return "0x" + std::string(static_cast<std::size_t>(width / 4) - hex.size(), '0') + hex;
}

// Format 1.0: magic, version, length of the header, the header as a Python literal padded to 64 bytes, the elements.
std::string to_npy(const Array& array) {
  const std::string descr = (array.size() == 1 ? "|" : "<") + numpy_type(array.type());
  std::string header = cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", array.count(), ",), }");
  const std::size_t before = npy_magic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  const auto bytes = array.bytes();
  std::string file(npy_magic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return file;
}

namespace {

// How many elements the shape of a header, `'shape': (3, 4), `, stands for; nothing where it cannot be read.
std::optional<std::uint64_t> elements_of_shape(std::string_view header) {
  constexpr std::string_view key = "'shape': (";
  const std::size_t at = header.find(key);
  const std::size_t end = at == std::string_view::npos ? at : header.find(')', at);
  if (end == std::string_view::npos) return std::nullopt;
  std::uint64_t count = 1;
  const char* const stop = header.data() + end;
  for (const char* next = header.data() + at + key.size(); next < stop;) {
    std::uint64_t size = 0;
    const auto [behind, error] = std::from_chars(next, stop, size);
    if (error != std::errc() || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
    for (next = behind; next < stop && (*next == ',' || *next == ' ');) ++next;
  }
  return count;
}

}  // namespace

Expected<std::string_view> from_npy(std::string_view file, Type type) {
  if (!file.starts_with(npy_magic) || file.size() < 12) return refuse(Kind::file_error, "it is no NumPy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(file[i])); };
  const bool wide = byte(6) > 1;  // format 2.0 and 3.0: four bytes of length
  const std::size_t begin = wide ? 12 : 10;
  const std::size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
  if (file.size() < begin + length) return refuse(Kind::file_error, "its header is cut off");
  const std::string_view header = file.substr(begin, length);
  if (header.find("'fortran_order': True") != std::string_view::npos)
    return refuse(Kind::file_error, "its array lies in column-major order; save numpy.ascontiguousarray(…)");
  const std::string_view key = "'descr': '";
  const std::size_t at = header.find(key);
  std::string_view descr = at == std::string_view::npos ? std::string_view() : header.substr(at + key.size());
  descr = descr.substr(0, descr.find('\''));
  const std::string wanted = numpy_type(type);
  const bool is_bits = isa::kind(type) == isa::TypeKind::bits || type == Type::bf16;
  const bool fits =
      !descr.empty() && descr.front() != '>' && (descr.substr(1) == wanted || (is_bits && descr.substr(2) == wanted.substr(1)));
  if (!fits) return refuse(Kind::file_error, cat("its elements are `", descr, "`, and ", isa::name(type), " is `<", wanted, "`"));
  const std::string_view elements = file.substr(begin + length);
  if (const auto said = elements_of_shape(header);
      said && *said != elements.size() / (static_cast<std::size_t>(isa::bits(type)) / 8))
    return refuse(Kind::file_error, cat("its header says ", plural(*said, "element"), ", and it holds ", elements.size(),
                                        " bytes of ", isa::name(type)));
  if (elements.size() % (static_cast<std::size_t>(isa::bits(type)) / 8) != 0)
    return refuse(Kind::file_error, "its last element is cut off");
  return elements;
}

}  // namespace ptx::tool
