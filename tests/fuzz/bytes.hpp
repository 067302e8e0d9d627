// The input of a fuzzer as choices.
#pragma once

#include <cstddef>

namespace ptx::fuzz {

/// The input, byte by byte; zeros when it is used up.
class Bytes {
 public:
  Bytes(const unsigned char* data, std::size_t size) : data_(data), size_(size) {}
  std::size_t below(std::size_t n) { return n == 0 ? 0 : next() % n; }
  unsigned next() { return at_ < size_ ? data_[at_++] : 0; }
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  /// One of a list.
  template <class List>
  auto pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  const unsigned char* data_;
  std::size_t size_, at_ = 0;
};

}  // namespace ptx::fuzz
