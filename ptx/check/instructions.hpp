// One instruction: its guard, its operands, its target and version, the names that it uses.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "ptx/check/access.hpp"
#include "ptx/check/labels.hpp"
#include "ptx/check/matches.hpp"
#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {

/// Kernels say the same few hundred things over and over: once a form with these choices and these kinds of operands was found
/// clean, it is clean. So an instruction is first boiled down to a signature, everything that decides whether its operands fit,
/// and looked up.
class Instructions {
 public:
  Instructions(Report& report, const Names& names, Matches& matches) : report_(report), names_(names), matches_(matches) {}

  /// Checks the instructions of a function from here on.
  void enter(const ir::Function& function, Labels& labels);
  /// Returns what the instruction writes, and which operands of its row it has.
  struct Found {
    Access access;
    Matches::ListId operands = Matches::no_list;
    bool plain = false;  ///< it computes, loads or stores, and nobody has to look at it again
  };
  Found check(const ir::Inst& inst, std::uint32_t block);
  /// The registers of the instruction checked last, but for its guard.
  [[nodiscard]] std::span<const Mention> mentions() const { return mentions_; }

 private:
  void guard(const ir::Inst& inst);
  // Names are looked up while signing: what they mean here is part of what decides.
  struct Within {
    std::uint32_t block;
    std::uint16_t operand;  // as Mention::operand
    bool exact;             // integers by value
  };
  void sign_register(const ir::Inst& inst, std::uint32_t index, std::uint16_t operand,
                     std::uint64_t word = static_cast<unsigned>(ir::OperandKind::reg));
  void sign(const ir::Inst& inst, const ir::Operand& operand, Within within);
  void sign_any(const ir::Inst& inst, const ir::Operand& operand, Within within);
  // An instruction whose operands are all registers, as most are, is compared with the last clean one of its form before a
  // signature is made of it.
  struct OfRegisters {
    isa::FormId form = isa::no_form;
    isa::Choices choices{};
    std::uint8_t operands = 0;
    struct Kind {
      Type type = Type::none;
      std::uint8_t vector = 1;
      friend bool operator==(Kind, Kind) = default;
    };
    std::array<Kind, 6> kinds{};  // by operand
    Found found;
  };
  static std::size_t slot_of(const ir::Inst& inst);
  [[nodiscard]] bool is_like(const ir::Inst& inst, const OfRegisters& last) const;
  void mention_registers(const ir::Inst& inst);
  void remember(const ir::Inst& inst, Found found);
  [[nodiscard]] bool is_array_element(const ir::Operand& operand) const;
  void sign_integer(std::uint64_t word, std::int64_t value, bool exact);
  void sign_symbol(std::uint64_t word, const ir::Inst& inst, ir::StringId name);
  void use(const ir::Inst& inst, ir::RegId reg);

  // What follows runs once for every signature that is new or not clean.
  Found explain(const ir::Inst& inst);
  void names_fit(const ir::Inst& inst, const isa::Form& form, const isa::Match& match);
  void narrow_address(const ir::Inst& inst, const isa::Form& form, std::string_view space, ir::RegId reg);
  void tensor_map_fits(const ir::Inst& inst, const isa::Form& form, const ir::Operand& tensor);
  void element_fits(const ir::Inst& inst, const ir::Operand& element);
  void address_fits(const ir::Inst& inst, const isa::Form& form, const isa::OperandSpec& spec, const ir::Operand& address);
  isa::Arg arg(const ir::Operand& operand);

  Report& report_;
  const Names& names_;
  Matches& matches_;
  const ir::Function* function_ = nullptr;
  Labels* labels_ = nullptr;
  static constexpr int max_hints = 50;
  int undefined_ = 0;              // symbols so far
  bool scoped_registers_ = false;  // some register is declared in a block: uses must be inside it
  Key key_;
  KeyMap<Found> clean_;
  std::array<OfRegisters, 128> of_registers_{};  // by a hash
  std::vector<Mention> mentions_;
  std::deque<std::vector<isa::Arg>> parts_;  // keeps what the arguments of explain() point to
  std::deque<std::string> shown_;
};

}  // namespace ptx::check
