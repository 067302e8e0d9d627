#include "ptx/check/facts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ptx/flow/flow.hpp"

namespace ptx::check {
namespace {

std::uint16_t read(const isa::Form& form) {
  using isa::Trait;
  constexpr std::pair<Trait, Fact> of_traits[] = {
      {Trait::call, calls},
      {Trait::branch, branches},
      {Trait::branch_list, branch_list},
      {Trait::move, moves},
      {Trait::load, loads},
      {Trait::set_registers, setmaxnreg},
      {Trait::wgmma_mma, wgmma_mma},
      {Trait::wgmma_fence, wgmma_fence},
      {Trait::wgmma_commit, wgmma_commit},
      {Trait::wgmma_wait, wgmma_wait},
      {Trait::tcgen05_mma, tcgen05_mma},
      {Trait::tcgen05_transfer, tcgen05_transfer},
  };
  std::uint16_t bits = 0;
  for (const auto& [trait, fact] : of_traits)
    if (form.traits.has(trait)) bits |= fact;
  if (form.traits.has_any(Trait::load | Trait::store)) {
    const int space = form.slot("ss");
    const auto is_param = [](const isa::Choice& c) { return c.word.starts_with("param"); };
    if (space >= 0 && std::any_of(form.slots[static_cast<std::size_t>(space)].choices.begin(),
                                  form.slots[static_cast<std::size_t>(space)].choices.end(), is_param))
      bits |= passes_params;
  }
  if (form.traits.has(Trait::tcgen05) && form.slot("cta_group") >= 0) bits |= cta_group;
  const flow::Control control = flow::control_of(form.id);
  if (control != flow::Control::goes_on && control != flow::Control::calls) bits |= leaves;
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
