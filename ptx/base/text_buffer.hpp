// Text in small pieces: a printer spends its time on appending words of two to eight characters, and here each is a few stores.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ptx {

/// Collects pieces and appends them to a string, many at a time: when it is full, and when it ends. The pieces are not of that
/// string, and until then nobody else appends to it.
class TextBuffer {
 public:
  explicit TextBuffer(std::string& out) : out_(out) {}
  ~TextBuffer() { flush(); }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  void add(char c) {
    if (size_ == room_.size()) flush();
    room_[size_++] = c;
  }
  void add(std::string_view text) {
    if (text.size() > room_.size() - size_) return add_beyond(text);
    copy(text.data(), text.size(), room_.data() + size_);
    size_ += text.size();
  }
  /// The first `n` characters of sixteen.
  void add_of_sixteen(const char* text, std::size_t n) {
    if (room_.size() - size_ < 16) flush();
    std::memcpy(room_.data() + size_, text, 16);
    size_ += n;
  }
  /// In a base from 8 on.
  template <std::integral Integer>
  void number(Integer value, int base = 10) {
    constexpr std::size_t most = 24;  // digits and a sign
    if (room_.size() - size_ < most) flush();
    char* const at = room_.data() + size_;
    size_ += static_cast<std::size_t>(std::to_chars(at, at + most, value, base).ptr - at);
  }
  /// The number of a register or an offset, in decimal: mostly one to three digits.
  void small(std::uint32_t value) {
    if (value >= 1000 || room_.size() - size_ < 3) return number(value);
    char* const at = room_.data() + size_;
    const std::uint32_t tens = value / 10;
    const int digits = 1 + (value >= 10) + (value >= 100);
    if (value >= 100) at[0] = static_cast<char>('0' + tens / 10);
    if (value >= 10) at[digits - 2] = static_cast<char>('0' + tens % 10);
    at[digits - 1] = static_cast<char>('0' + value % 10);
    size_ += static_cast<std::size_t>(digits);
  }
  void flush() {
    out_.append(room_.data(), size_);
    size_ = 0;
  }

 private:
  void add_beyond(std::string_view text) {
    flush();
    out_ += text;
  }
  // Short pieces as two words that may overlap, without a call.
  static void copy(const char* from, std::size_t n, char* to) {
    if (n > 16) {
      std::memcpy(to, from, n);
    } else if (n >= 8) {
      std::memcpy(to, from, 8);
      std::memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
      std::memcpy(to, from, 4);
      std::memcpy(to + n - 4, from + n - 4, 4);
    } else if (n != 0) {
      const char first = from[0], middle = from[n / 2], last = from[n - 1];
      to[0] = first;
      to[n / 2] = middle;
      to[n - 1] = last;
    }
  }

  std::string& out_;
  std::size_t size_ = 0;
  std::array<char, 256> room_;  // NOLINT(cppcoreguidelines-pro-type-member-init)
};

}  // namespace ptx
