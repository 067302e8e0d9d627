#include "ptx/check/matches.hpp"

#include <limits>

namespace ptx::check {

Matches::ListId Matches::intern(std::span<const std::uint8_t> operands) {
  if (operands.empty()) return no_list;
  key_.clear();
  for (const std::uint8_t operand : operands) key_.add(operand);
  if (const ListId* known = known_.find(key_)) return *known;
  if (lists_.size() > std::numeric_limits<ListId>::max()) return no_list;  // the table has some hundreds
  lists_.push_back({static_cast<std::uint32_t>(operands_.size()), static_cast<std::uint32_t>(operands.size())});
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return known_.insert(key_, static_cast<ListId>(lists_.size() - 1));
}

}  // namespace ptx::check
