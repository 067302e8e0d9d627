// Slices, rows and arrows as they come, and the JSON of trace events that they make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptx::vgpu::timeline {

inline constexpr std::uint32_t none = 0xFFFFFFFFu;

/// What a slice shows; the names are the trace's categories.
enum class SliceKind : std::uint8_t { issue, signal, wait, registers, copy, product };
std::string_view category(SliceKind kind);

struct Slice {
  std::uint32_t row = 0;   ///< of the picture
  std::uint32_t name = 0;  ///< Recorder::name
  std::uint64_t start = 0, end = 0;
  SliceKind kind = SliceKind::issue;
  std::uint32_t instruction = none;  ///< the number that Recorder::trace gives its caller
  std::uint32_t instructions = 0;
  std::uint64_t bytes = 0;
};

/// A moment, and the slice that shows it.
struct Moment {
  std::uint64_t time = 0;
  std::uint32_t slice = none;
  void join(const Moment& other) {
    if (other.time > time || (other.time == time && slice == none)) *this = other;
  }
};

class Recorder {
 public:
  explicit Recorder(std::size_t most) : most_(most) {}

  std::uint32_t add_process(std::string name);
  std::uint32_t add_row(std::uint32_t process, std::string name, std::uint32_t order);
  std::uint32_t name(std::string_view text);
  /// Its number; none when there are too many, or it takes no time.
  std::uint32_t add(const Slice& slice);
  /// Takes the last slice back.
  void drop_last() { slices_.pop_back(); }
  [[nodiscard]] std::uint32_t last() const { return static_cast<std::uint32_t>(slices_.size()) - 1; }
  [[nodiscard]] Slice& slice(std::uint32_t number) { return slices_[number]; }
  void add_arrow(std::uint32_t from, std::uint32_t to) {
    if (from != none && to != none) arrows_.push_back({from, to});
  }

  struct InstructionText {
    std::string place, text;  ///< the author's line, and the PTX
  };
  /// `head`: members of the object `otherData`, as JSON.
  template <class Text>
  [[nodiscard]] std::string trace(std::string_view head, Text text_of) const {
    std::string out = begin(head);
    for (std::uint32_t i = 0; i < slices_.size(); ++i)
      write(out, slices_[i], slices_[i].instruction == none ? InstructionText{} : text_of(slices_[i].instruction));
    return end(std::move(out));
  }
  [[nodiscard]] std::size_t kept() const { return slices_.size(); }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  struct Row {
    std::uint32_t process = 0, order = 0;
    std::string name;
  };
  struct Arrow {
    std::uint32_t from = 0, to = 0;
  };
  [[nodiscard]] std::string begin(std::string_view head) const;
  void write(std::string& out, const Slice& slice, const InstructionText& instruction) const;
  [[nodiscard]] std::string end(std::string out) const;

  std::size_t most_, dropped_ = 0;
  std::vector<std::string> processes_, names_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of names
  std::vector<Slice> slices_;
  std::vector<Arrow> arrows_;
};

}  // namespace ptx::vgpu::timeline
