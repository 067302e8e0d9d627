#include "ptx/launch/attribute_record.hpp"

#include <algorithm>

namespace ptx::launch {

void put_attributes(std::string& out, const LaunchAttributes& attributes, std::span<const LaunchAttribute> rows) {
  const auto is_set = [&](const LaunchAttribute& row) { return attributes.*row.value; };
  const auto count = std::count_if(rows.begin(), rows.end(), is_set);
  if (count == 0) return;
  cuda::put32(out, static_cast<std::uint32_t>(count));
  for (const LaunchAttribute& row : rows) {
    if (!is_set(row)) continue;
    cuda::put32(out, static_cast<std::uint32_t>(row.name.size()));
    out += row.name;
  }
}

Expected<void> get_attributes(cuda::ByteReader& in, LaunchAttributes& attributes, std::span<const LaunchAttribute> rows) {
  if (!in.ok || in.bytes.empty()) return {};
  const std::uint32_t count = in.get32();
  if (count == 0) in.ok = false;  // nothing is written where nothing is set
  for (std::uint32_t i = 0; in.ok && i < count; ++i) {
    const std::string_view name = in.take(in.get32());
    if (!in.ok) break;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const LaunchAttribute& each) { return each.name == name; });
    if (row == rows.end())
      return refuse(Kind::bad_image, "a launch record with an attribute that this version of pyptx does not know");
    if (attributes.*row->value) in.ok = false;  // twice
    attributes.*row->value = true;
  }
  return {};
}

}  // namespace ptx::launch
