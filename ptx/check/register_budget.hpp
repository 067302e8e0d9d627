// How many registers a thread may have where, and which instructions need more: launch bounds, `setmaxnreg`, and what ptxas 13.0
// says about them (C7406, C7505 to C7508, C7600, C7602). Its measured rules are in docs/facts.md.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ptx/check/access.hpp"
#include "ptx/check/launch_bounds.hpp"
#include "ptx/check/report.hpp"
#include "ptx/flow/flow.hpp"

namespace ptx::check {

/// The registers that ptxas wants for one instruction of the matrix pipelines, and those among them that it names; 0 for others.
struct RegisterNeed {
  std::uint32_t named = 0, needed = 0;
};
RegisterNeed register_need(const ir::Function& function, const ir::Inst& inst);

/// The function that a call names; nothing when it goes through a register.
std::optional<ir::StringId> called_function(const ir::Function& function, const ir::Inst& call);

class RegisterBudgets {
 public:
  /// `graphs`: of the module's functions.
  RegisterBudgets(const ir::Module& module, const std::vector<flow::Graph>& graphs);

  /// Registers that a thread may have at an item, on the path that leaves it most: those of the `setmaxnreg` in force, or of the
  /// launch bounds where nothing else is known.
  [[nodiscard]] std::uint32_t at(const ir::Function& function, std::uint32_t item) const;
  /// What a thread of an entry starts with, where its setmaxnreg counts; nothing where it has none, or ptxas passes over it.
  [[nodiscard]] std::optional<std::uint32_t> start(const ir::Function& entry) const;
  /// Says what does not fit, in a function whose body is checked.
  void check(Report& report, const ir::Function& function) const;

 private:
  /// Why ptxas passes over every `setmaxnreg` of a kernel.
  enum class Ignored : std::uint8_t { no, for_debugging, for_calls, for_an_instruction, without_a_start };
  struct Budget {
    std::vector<std::uint32_t> setmaxnreg, needy;  // items
    std::vector<std::uint32_t> callees;            // functions with a body
    std::uint32_t need = 0;                        // of its neediest instruction
    bool calls_register = false;
    std::uint32_t entry =
        none;  // the entry that binds it: of several, one that ignores its setmaxnreg, or has the fewest registers
    Ignored ignored = Ignored::no;                          // of an entry
    std::unordered_map<std::uint32_t, std::uint32_t> most;  // of an entry: registers at its needy items
  };
  static constexpr std::uint32_t none = 0xFFFFFFFFu;

  void summarise(std::uint32_t index);
  struct Reach {
    std::vector<std::uint32_t> functions;
    bool round = false;  // recursion
  };
  [[nodiscard]] Reach reach(std::uint32_t entry) const;
  void bind(std::uint32_t entry);
  void follow_setmaxnreg(std::uint32_t entry, std::uint32_t start);
  [[nodiscard]] const Budget* find(const ir::Function& function) const;
  [[nodiscard]] LaunchBounds bounds_of(std::uint32_t entry) const {
    return launch_bounds(module_.functions[entry], module_.target);
  }
  void say_ignored(Report& report, const ir::Function& function, const Budget& budget) const;
  void check_counts(Report& report, const ir::Function& function, const Budget& budget) const;
  void check_needs(Report& report, const ir::Function& function, const Budget& budget) const;

  const ir::Module& module_;
  const std::vector<flow::Graph>& graphs_;
  std::unordered_map<std::uint32_t, std::uint32_t> defined_;  // functions with a body by their names
  std::vector<Budget> budgets_;                               // by function; empty when the target has none of these instructions
};

}  // namespace ptx::check
