// What the words before the operands say: the forms of the table and their choices, found once for each spelling.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/isa/isa.hpp"

namespace ptx::text {

/// A form and its choices that a spelling may mean.
struct Candidate {
  isa::FormId form = isa::no_form;
  isa::Choices choices{};
};

/// How a spelling is read. ptxas takes the modifiers of an instruction in nearly any order, and kernels rely on it: whatever
/// names one set of choices of a form is that form. What stands in the table's order comes first.
class Opcode {
 public:
  explicit Opcode(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Nothing fits: `explain` says why.
  [[nodiscard]] bool unknown() const { return candidates_.empty(); }
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Some candidate looks at the values of integers, not at their widths alone.
  [[nodiscard]] bool reads_integers() const { return reads_integers_; }

  /// A warning, when this spelling is not the manual's and ptxas takes it.
  [[nodiscard]] const std::optional<Diagnostic>& remark() const { return remark_; }

  /// Some candidate takes lists of operands in parentheses.
  [[nodiscard]] bool takes_lists() const { return takes_lists_; }

  /// The candidate that took operands of this signature before, in this module or in any, or nullptr.
  const Candidate* remembered(std::string_view signature, std::uint64_t module);
  /// Remembers it for this module; for `any_module` where nothing but the signature decided.
  const Candidate& remember(std::string_view signature, std::uint64_t module, const Candidate& candidate);
  static constexpr std::uint64_t any_module = 0;

  /// Why there is no such instruction, and where in its text.
  struct Why {
    Diagnostic diagnostic;
    std::size_t offset = 0;
  };
  [[nodiscard]] Why explain() const;
  /// The same in few words: a look at what else there is for each of many mistakes would take too long.
  [[nodiscard]] Why name_it() const;

 private:
  struct Known {
    std::string signature;
    std::uint64_t module = any_module;
    Candidate candidate;
  };
  void read(std::string_view opcode, std::span<const std::string_view> words);
  void read_as_ptxas(const std::vector<std::string_view>& words);
  void warn(Kind kind, std::string_view what);

  std::string text_;
  std::optional<Diagnostic> remark_;
  std::vector<Candidate> candidates_;
  std::vector<Known> known_;  // few: the last used stand in front
  bool reads_integers_ = false, takes_lists_ = false;
};

/// Every spelling seen so far. Modules spell their instructions alike, and to read a spelling anew costs more than all else that
/// is done for a short kernel: a parser borrows the spellings of the parsers before it.
class Opcodes {
 public:
  struct GiveBack {
    void operator()(Opcodes* opcodes) const;
  };
  using Borrowed = std::unique_ptr<Opcodes, GiveBack>;
  /// For one module: nobody else has them meanwhile. From any thread.
  static Borrowed borrow();

  Opcode& find(std::string_view text);
  /// The module in hand, among all that these spellings were borrowed for.
  [[nodiscard]] std::uint64_t module() const { return module_; }

 private:
  static std::size_t hash(std::string_view text);
  void grow();

  std::deque<Opcode> opcodes_;
  std::size_t bytes_ = 0;  // of their texts
  std::uint64_t module_ = Opcode::any_module;
  struct Slot {
    std::size_t hash = 0;
    Opcode* opcode = nullptr;
  };
  std::vector<Slot> slots_;  // a power of two, at most half full
};

/// What these arguments make of the candidates, of which there is at least one.
struct Chosen {
  /// The operands fit it; or the manual says no, and ptxas takes them on this target; or none fits, and it comes nearest.
  enum class By : std::uint8_t { match, leniency, likeness };
  const Candidate* candidate = nullptr;
  By by = By::match;
  std::optional<Diagnostic> why_not = {};  ///< of the nearest one
};
Chosen choose(const std::vector<Candidate>& candidates, std::span<const isa::Arg> args, Target target);

}  // namespace ptx::text
