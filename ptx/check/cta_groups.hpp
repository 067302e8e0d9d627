// tcgen05 instructions of one CTA and of a pair of them do not go together in one function, nor in what it calls.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ptx/check/report.hpp"

namespace ptx::check {

class CtaGroups {
 public:
  explicit CtaGroups(Report& report) : report_(report) {}

  /// Follows the instructions of a function from here on.
  void enter(const ir::Function& function);
  /// A tcgen05 instruction that has a `.cta_group`, or a call.
  void use(const ir::Inst& inst);

 private:
  Report& report_;
  const ir::Function* function_ = nullptr;
  bool reported_ = false;
  std::unordered_map<std::uint32_t, unsigned> groups_of_;  // a function's name -> bit 0: group 1, bit 1: group 2
};

}  // namespace ptx::check
