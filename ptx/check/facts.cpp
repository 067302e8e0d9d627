#include "ptx/check/facts.hpp"

#include <algorithm>
#include <vector>

#include "ptx/flow/flow.hpp"

namespace ptx::check {
namespace {

std::uint16_t read(const isa::Form& form) {
  const auto starts = [&](std::string_view first, std::string_view second) {
    return form.opcode == first && !form.slots.empty() && form.slots[0].name == second;
  };
  std::uint16_t bits = 0;
  switch (flow::control_of(form.id)) {
    case flow::Control::goes_on:
      break;
    case flow::Control::branches:
      bits |= leaves | branches;
      break;
    case flow::Control::branch_list:
      bits |= leaves | branch_list;
      break;
    case flow::Control::calls:
      bits |= calls;
      break;
    case flow::Control::ends:
      bits |= leaves;
      break;
  }
  if (form.opcode == "mov") bits |= moves;
  if (form.opcode == "ld") bits |= loads;
  if (form.opcode == "setmaxnreg") bits |= setmaxnreg;
  if (starts("wgmma", "mma_async")) bits |= wgmma_mma;
  if (starts("wgmma", "fence")) bits |= wgmma_fence;
  if (starts("wgmma", "commit_group")) bits |= wgmma_commit;
  if (starts("wgmma", "wait_group")) bits |= wgmma_wait;
  if (starts("tcgen05", "mma")) bits |= tcgen05_mma;
  if (starts("tcgen05", "ld") || starts("tcgen05", "st")) bits |= tcgen05_transfer;
  if (form.opcode == "ld" || form.opcode == "st") {
    const int space = form.slot("ss");
    const auto is_param = [](const isa::Choice& c) { return c.word.starts_with("param"); };
    if (space >= 0 && std::any_of(form.slots[static_cast<std::size_t>(space)].choices.begin(),
                                  form.slots[static_cast<std::size_t>(space)].choices.end(), is_param))
      bits |= passes_params;
  }
  if (form.opcode == "tcgen05" && form.slot("cta_group") >= 0) bits |= cta_group;
  return bits;
}

}  // namespace

std::span<const std::uint16_t> all_facts() {
  static const std::vector<std::uint16_t>& all = *new std::vector<std::uint16_t>([] {  // never destroyed: other statics may check
    std::vector<std::uint16_t> bits;
    for (const isa::Form& f : isa::forms()) bits.push_back(read(f));
    return bits;
  }());
  return all;
}

}  // namespace ptx::check
