#include "ptx/vgpu/races/shadow.hpp"

namespace ptx::vgpu::races {

std::uint32_t Lists::take() {
  if (!free_.empty()) {
    const std::uint32_t list = free_.back();
    free_.pop_back();
    return list;
  }
  lists_.emplace_back();
  return static_cast<std::uint32_t>(lists_.size());
}

void Lists::give_back(std::uint32_t list) {
  lists_[list - 1].clear();
  free_.push_back(list);
}

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

std::uint32_t Shadow::take_blanket() {
  if (!free_blankets_.empty()) {
    const std::uint32_t which = free_blankets_.back();
    free_blankets_.pop_back();
    return which;
  }
  blankets_.emplace_back();
  return static_cast<std::uint32_t>(blankets_.size());
}

std::uint32_t Shadow::take_granules() {
  if (!free_granules_.empty()) {
    const std::uint32_t which = free_granules_.back();
    free_granules_.pop_back();
    return which;
  }
  granules_.push_back(std::make_unique<Granules>());
  return static_cast<std::uint32_t>(granules_.size());
}

void Shadow::give_back_granules(std::uint32_t which) {
  for (Granule& granule : granules(which)) {
    if (granule.more != 0) lists.give_back(granule.more);
    granule = {};
  }
  free_granules_.push_back(which);
}

}  // namespace ptx::vgpu::races
