#include "ptx/vgpu/timeline/recorder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/base/base.hpp"

namespace ptx::vgpu::timeline {

std::string_view category(SliceKind kind) {
  constexpr std::array<std::string_view, 6> names{"issue", "signal", "wait", "registers", "copy", "product"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint32_t Recorder::add_process(std::string name) {
  processes_.push_back(std::move(name));
  return static_cast<std::uint32_t>(processes_.size() - 1);
}

std::uint32_t Recorder::add_row(std::uint32_t process, std::string name, std::uint32_t order) {
  rows_.push_back({process, order, std::move(name)});
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

std::uint32_t Recorder::name(std::string_view text) {
  const auto [at, is_new] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(text);
  return at->second;
}

std::uint32_t Recorder::add(const Slice& slice) {
  if (slice.end <= slice.start) return none;
  if (slices_.size() >= most_) {
    ++dropped_;
    return none;
  }
  slices_.push_back(slice);
  return last();
}

std::string Recorder::begin(std::string_view head) const {
  std::string out = cat("{\"displayTimeUnit\": \"ms\",\n\"otherData\": {", head, ", \"slices\": ", slices_.size(),
                        ", \"slices_left_out\": ", dropped_, "},\n\"traceEvents\": [\n");
  for (std::size_t i = 0; i < processes_.size(); ++i)
    out += cat("{\"ph\": \"M\", \"pid\": ", i + 1,
               ", \"tid\": 0, \"name\": \"process_name\", \"args\": {\"name\": ", quote(processes_[i]), "}},\n");
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto meta = [&](std::string_view what, const std::string& args) {
      out += cat("{\"ph\": \"M\", \"pid\": ", rows_[i].process + 1, ", \"tid\": ", i + 1, ", \"name\": \"", what,
                 "\", \"args\": {", args, "}},\n");
    };
    meta("thread_name", cat("\"name\": ", quote(rows_[i].name)));
    meta("thread_sort_index", cat("\"sort_index\": ", rows_[i].order));
  }
  return out;
}

void Recorder::write(std::string& out, const Slice& slice, const InstructionText& instruction) const {
  std::string args;
  const auto add = [&](std::string_view key, const std::string& value) {
    args += cat(args.empty() ? "" : ", ", '"', key, "\": ", value);
  };
  if (!instruction.place.empty()) add("place", quote(instruction.place));
  if (!instruction.text.empty()) add("ptx", quote(instruction.text));
  if (slice.instructions > 1) add("instructions", cat(slice.instructions));
  if (slice.kind == SliceKind::copy) add("bytes", cat(slice.bytes));
  out += cat("{\"ph\": \"X\", \"pid\": ", rows_[slice.row].process + 1, ", \"tid\": ", slice.row + 1, ", \"ts\": ", slice.start,
             ", \"dur\": ", slice.end - slice.start, ", \"name\": ", quote(names_[slice.name]), ", \"cat\": \"",
             category(slice.kind), "\", \"args\": {", args, "}},\n");
}

// An arrow begins in the last cycle of a slice and ends in that of another one, so that both ends lie in what they belong to.
std::string Recorder::end(std::string out) const {
  for (std::size_t i = 0; i < arrows_.size(); ++i) {
    const Slice &from = slices_[arrows_[i].from], &to = slices_[arrows_[i].to];
    const auto point = [&](std::string_view head, const Slice& at, std::uint64_t time) {
      out += cat("{", head, ", \"id\": ", i + 1, ", \"pid\": ", rows_[at.row].process + 1, ", \"tid\": ", at.row + 1,
                 ", \"ts\": ", time, ", \"name\": \"lets go on\", \"cat\": \"flow\"},\n");
    };
    point("\"ph\": \"s\"", from, from.end - 1);
    point("\"ph\": \"f\", \"bp\": \"e\"", to, to.end - 1);
  }
  if (out.ends_with(",\n")) out.erase(out.size() - 2);
  return out + "\n]}\n";
}

}  // namespace ptx::vgpu::timeline
