// Room for a few things without the heap.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace ptx::launch {

/// `count` of them: in the object itself up to `Few`, on the heap beyond. Numbers and pointers are not cleared.
template <class T, std::size_t Few = 32>
class Some {
 public:
  explicit Some(std::size_t count) : count_(count) {  // NOLINT(cppcoreguidelines-pro-type-member-init): not cleared
    if (count > Few) many_.resize(count);
  }
  T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<T> all() { return {data(), count_}; }

 private:
  [[nodiscard]] T* data() { return many_.empty() ? few_.data() : many_.data(); }
  std::size_t count_;
  std::array<T, Few> few_;
  std::vector<T> many_;
};

}  // namespace ptx::launch
