// Arrays of numbers as a command line gives them and shows them, and NumPy's file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::tool {

/// Memory for an array, aligned as a GPU's allocator does it, to 256 bytes.
class Array {
 public:
  /// Kind out_of_memory.
  static Expected<Array> make(Type type, std::size_t count);

  [[nodiscard]] Type type() const { return type_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::span<std::byte> bytes() { return {begin_, count_ * size()}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {begin_, count_ * size()}; }
  /// Bytes of an element.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(isa::bits(type_)) / 8; }
  [[nodiscard]] std::span<std::byte> element(std::size_t i) { return bytes().subspan(i * size(), size()); }
  [[nodiscard]] std::span<const std::byte> element(std::size_t i) const { return bytes().subspan(i * size(), size()); }

 private:
  Array(Type type, std::size_t count) : type_(type), count_(count) {}
  Type type_;
  std::size_t count_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* begin_ = nullptr;
};

/// True for the types that a command line can give: numbers of 8 to 64 bits, and bits.
bool is_number(Type type);

/// The bytes of a number of this type: "-3", "0x10", "1.5", "nan", "inf". Kind argument_kind: no number, or beyond the type.
Expected<void> read_element(Type type, std::string_view text, std::span<std::byte> to);
/// A whole number as an element: what fills an array with 0, 1, 2 … Beyond the type it wraps.
void count_element(Type type, std::uint64_t value, std::span<std::byte> to);
/// A random element: of floating-point types in [-1, 1), of others any. The state is handed on.
void random_element(Type type, std::uint64_t& state, std::span<std::byte> to);
/// As short as it can be and still be read back: "1.5", "-7"; of bits "0x0000002a".
std::string show_element(Type type, std::span<const std::byte> from);

/// An array as a NumPy file (.npy). bf16 and the 8-bit floating-point types, which NumPy has not, go as bits.
std::string to_npy(const Array& array);
/// The bytes of the elements in a NumPy file, whose type has to be this one. Kind file_error.
Expected<std::string_view> from_npy(std::string_view file, Type type);

}  // namespace ptx::tool
