#include "ptx/vgpu/timeline/profile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace ptx::vgpu {
namespace {

constexpr std::uint64_t lanes_of_warp = 32;

// "12,345"
std::string grouped(std::uint64_t number) {
  std::string digits = cat(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

// "128 of 32": what was taken, and the least.
std::string beside(std::uint64_t taken, std::uint64_t needed) {
  if (taken == 0) return "";
  return taken == needed ? grouped(taken) : cat(grouped(taken), " of ", grouped(needed));
}

std::string place_of(const ProfileRow& row) {
  if (row.where.known()) {
    std::string_view file = row.where.file;
    if (const std::size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
    return cat(file, ':', row.where.line);
  }
  return row.ptx_line != 0 ? cat("line ", row.ptx_line) : row.kernel;
}

// Characters, of text in UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void ProfileRow::add(const ProfileRow& other) {
  executions += other.executions, lanes += other.lanes, cycles += other.cycles, stalls += other.stalls;
  wavefronts += other.wavefronts, needed_wavefronts += other.needed_wavefronts;
  sectors += other.sectors, needed_sectors += other.needed_sectors;
  copied_bytes += other.copied_bytes;
}

std::vector<ProfileRow> Profile::by_line() const {
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>;
  std::map<Key, std::size_t> found;
  std::vector<ProfileRow> lines;
  std::vector<std::uint32_t> instructions;
  for (const ProfileRow& row : rows) {
    const Key key{row.kernel, row.where.file, row.where.line, row.where.known() ? 0 : row.ptx_line};
    const bool alone = !row.where.known() && row.ptx_line == 0;
    const auto [at, is_new] = alone ? std::pair(found.end(), true) : found.try_emplace(key, lines.size());
    if (is_new) {
      lines.push_back(row);
      instructions.push_back(1);
      continue;
    }
    lines[at->second].add(row);
    // the same instruction of a further launch is no further one
    if (lines[at->second].instruction != row.instruction || lines[at->second].ptx_line != row.ptx_line)
      lines[at->second].instruction = cat(++instructions[at->second], " instructions");
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.cycles + a.stalls > b.cycles + b.stalls; });
  return lines;
}

std::string Profile::table(std::size_t most) const {
  constexpr std::size_t columns = 8;
  using Line = std::array<std::string, columns>;
  std::vector<Line> table{{"line", "cycles", "waited", "executed", "lanes", "wavefronts", "sectors", "instruction"}};
  const std::vector<ProfileRow> all = by_line();
  const std::size_t shown = most == 0 ? all.size() : std::min(most, all.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ProfileRow& row = all[i];
    const std::uint64_t tenths = row.executions == 0 ? 0 : row.lanes * 10 / row.executions;
    table.push_back({place_of(row), grouped(row.cycles), grouped(row.stalls), grouped(row.executions),
                     tenths == lanes_of_warp * 10 ? cat(lanes_of_warp) : cat(tenths / 10, '.', tenths % 10),
                     beside(row.wavefronts, row.needed_wavefronts), beside(row.sectors, row.needed_sectors), row.instruction});
  }
  std::array<std::size_t, columns> widths{};
  for (const Line& line : table)
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  std::string out;
  for (const Line& line : table) {
    for (std::size_t c = 0; c < columns; ++c) {
      const bool left = c == 0 || c + 1 == columns;
      if (c != 0) out += "  ";
      const std::string pad(widths[c] - width_of(line[c]), ' ');
      out += left ? cat(line[c], c + 1 == columns ? std::string() : pad) : cat(pad, line[c]);
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  if (shown < all.size()) out += cat("and ", all.size() - shown, " more lines\n");
  return cat(out, grouped(cycles), " cycles of a model that claims order, not speed\n");
}

}  // namespace ptx::vgpu
