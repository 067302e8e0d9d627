#include "ptx/vgpu/races/shadow.hpp"

namespace ptx::vgpu::races {

std::vector<std::unique_ptr<Shadow::Page>>& Shadow::spare_pages() {
  static thread_local std::vector<std::unique_ptr<Page>> spare;
  return spare;
}

Shadow::~Shadow() {
  std::vector<std::unique_ptr<Page>>& spare = spare_pages();
  for (auto& [number, page] : pages_)
    if (spare.size() < most_spare_pages) spare.push_back(std::move(page));
}

Shadow::Page& Shadow::find_page(std::uintptr_t number) {
  std::unique_ptr<Page>& found = pages_[number];
  if (std::vector<std::unique_ptr<Page>>& spare = spare_pages(); found == nullptr && !spare.empty()) {
    found = std::move(spare.back());
    spare.pop_back();
    // another run's
    for (Line& line : found->lines) line.granules = 0;
    for (Sheet& sheet : found->sheets) sheet.blanket = 0;
  }
  if (found == nullptr) found = std::make_unique<Page>();
  near_[number % near_.size()] = {number, found.get()};
  return *found;
}

std::uint32_t Shadow::take_granules() {
  const std::uint32_t which = granules_.take();
  if (granules_[which] == nullptr) granules_[which] = std::make_unique<Granules>();
  return which;
}

void Shadow::give_back_granules(std::uint32_t which) {
  for (Granule& granule : granules(which)) {
    if (granule.more != 0) {
      lists[granule.more].clear();
      lists.give_back(granule.more);
    }
    granule = {};
  }
  granules_.give_back(which);
}

}  // namespace ptx::vgpu::races
