#include "ptx/vgpu/tensor/memory.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"

namespace ptx::vgpu {

void TensorMemory::reset() {
  allocations_.clear();
  last_taken_ = 0;
  relinquished = false;
  asked_for = 0;
  granted.reset();
  undefined_because_.clear();
}

std::optional<std::uint32_t> TensorMemory::room_for(std::uint32_t columns) const {
  std::uint32_t first = 0;
  for (const Allocation& a : allocations_) {
    if (a.first - first >= columns) break;
    first = a.first + a.columns;
  }
  if (first + columns > layout::tensor_columns) return std::nullopt;
  return first;
}

std::optional<std::uint32_t> TensorMemory::take(std::uint32_t columns, std::uint32_t item) {
  const auto room = room_for(columns);
  if (!room) return std::nullopt;
  const std::uint32_t first = *room;
  if (cells_.empty()) {
    constexpr std::size_t cells = std::size_t{layout::tensor_lanes} * layout::tensor_columns;
    cells_.resize(cells), marks_.resize(cells);
  }
  for (int lane = 0; lane < layout::tensor_lanes; ++lane)  // what another kernel or CTA has left there is nobody's to know
    std::fill_n(&marks_[place(lane, static_cast<int>(first))], columns, std::uint8_t{0});
  allocations_.insert(
      std::find_if(allocations_.begin(), allocations_.end(), [&](const Allocation& a) { return a.first > first; }),
      {first, columns, item});
  last_taken_ = columns;
  return first;
}

bool TensorMemory::give_back(std::uint32_t first, std::uint32_t columns) {
  const auto found = std::find_if(allocations_.begin(), allocations_.end(),
                                  [&](const Allocation& a) { return a.first == first && a.columns == columns; });
  if (found == allocations_.end()) return false;
  allocations_.erase(found);
  return true;
}

std::optional<std::string> TensorMemory::unreachable(int lane, int lanes, int column, int columns) const {
  if (lane + lanes > layout::tensor_lanes)
    return cat("lane ", lane + lanes - 1, " of tensor memory, which has ", layout::tensor_lanes);
  if (column + columns > layout::tensor_columns)
    return cat("column ", column + columns - 1, " of tensor memory, which has ", layout::tensor_columns);
  int reached = column;  // columns up to here are allocated
  for (const Allocation& a : allocations_)
    if (static_cast<int>(a.first) <= reached) reached = std::max(reached, static_cast<int>(a.first + a.columns));
  if (reached >= column + columns) return std::nullopt;
  std::string taken;
  for (const Allocation& a : allocations_) taken += cat(taken.empty() ? "" : ", ", a.first, " to ", a.first + a.columns - 1);
  return cat("column ", reached, " of tensor memory, which is not allocated",
             taken.empty() ? std::string("; no column is") : cat("; columns ", taken, " are"));
}

}  // namespace ptx::vgpu
