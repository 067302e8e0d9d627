#include "ptx/check/facts.hpp"

#include <algorithm>
#include <vector>

namespace ptx::check {
namespace {

std::uint16_t read(const isa::Form& form) {
  const auto starts = [&](std::string_view first, std::string_view second) {
    return form.opcode == first && !form.slots.empty() && form.slots[0].name == second;
  };
  std::uint16_t bits = 0;
  if (form.opcode == "call") bits |= calls;
  if (form.opcode == "bra") bits |= branches;
  if (form.opcode == "brx") bits |= branch_list;
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
  const isa::Effects effects = form.row->effects;
  if (effects.has(isa::Effect::control) && !effects.has(isa::Effect::volatile_) && (bits & calls) == 0) bits |= leaves;
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
