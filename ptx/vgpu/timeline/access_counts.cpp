#include "ptx/vgpu/timeline/access_counts.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ptx::vgpu::timeline {
namespace {

constexpr std::uint32_t lanes_of_warp = 32, banks = 32, word_bytes = 4, sector_bytes = 32;

bool is_in(std::uint32_t lanes, std::uint32_t lane) { return (lanes >> lane & 1u) != 0; }

// Different words that the fullest bank has to give.
std::uint32_t most_of_a_bank(std::vector<std::uint64_t>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<std::uint32_t, banks> of_bank{};
  for (const std::uint64_t word : words) ++of_bank[word % banks];
  return *std::max_element(of_bank.begin(), of_bank.end());
}

}  // namespace

AccessCount count_wavefronts(std::uint32_t lanes, std::span<const std::uint64_t, 32> addresses, std::uint32_t bytes) {
  AccessCount count;
  if (bytes == 0) return count;
  const std::uint32_t together = std::clamp(lanes_of_warp * word_bytes / bytes, 1u, lanes_of_warp);
  std::vector<std::uint64_t> words;
  for (std::uint32_t first = 0; first < lanes_of_warp; first += together) {
    words.clear();
    for (std::uint32_t lane = first; lane < first + together; ++lane)
      if (is_in(lanes, lane))
        for (std::uint64_t word = addresses[lane] / word_bytes; word <= (addresses[lane] + bytes - 1) / word_bytes; ++word)
          words.push_back(word);
    if (words.empty()) continue;
    ++count.needed;
    count.taken += most_of_a_bank(words);
  }
  return count;
}

AccessCount count_sectors(std::uint32_t lanes, std::span<const std::uint64_t, 32> addresses, std::uint32_t bytes) {
  if (bytes == 0 || lanes == 0) return {};
  std::vector<std::uint64_t> begins, sectors;
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    if (!is_in(lanes, lane)) continue;
    begins.push_back(addresses[lane]);
    for (std::uint64_t sector = addresses[lane] / sector_bytes; sector <= (addresses[lane] + bytes - 1) / sector_bytes; ++sector)
      sectors.push_back(sector);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  std::uint64_t different = 0, end = 0;
  for (const std::uint64_t begin : begins) {
    const std::uint64_t from = std::max(begin, end);
    end = std::max(end, begin + bytes);
    different += end - std::min(from, end);
  }
  return {static_cast<std::uint32_t>((different + sector_bytes - 1) / sector_bytes), static_cast<std::uint32_t>(sectors.size())};
}

}  // namespace ptx::vgpu::timeline
