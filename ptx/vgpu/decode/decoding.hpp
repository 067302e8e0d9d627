// One instruction while it is decoded: what an op's decoder function asks, and the step that it fills.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/decode/calls.hpp"
#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

class Decoder;

/// A scalar register: one of the kernel's registers, or one element of a vector register.
struct Scalar {
  std::uint32_t index = 0;  ///< over all registers and their elements: Code::first_scalar
  Type type = Type::none;
};
/// The scalars of a register that an operand names: one, or all of a vector register, or the one that `.x` picks, or the whole
/// one of which a video instruction takes `.b0`. Empty when the operand is no register, or picks what the register does not have.
struct Scalars {
  std::uint32_t first = 0, end = 0;
  Type type = Type::none;
  [[nodiscard]] std::uint32_t size() const { return end - first; }
  Scalar operator[](std::uint32_t i) const { return {first + i, type}; }
};
Scalars scalars_of(const Code& code, const ir::Operand& operand);

class Decoding {
 public:
  /// `specs`: which of the form's operands each of the instruction's is.
  Decoding(Decoder& decoder, const ir::Inst& inst, std::uint32_t item, std::span<const std::uint8_t> specs);

  // -- the instruction
  [[nodiscard]] bool has(std::string_view slot) const { return form_.has(choices_, slot); }
  [[nodiscard]] std::string_view chosen(std::string_view slot) const { return form_.chosen(choices_, slot); }
  /// True when this modifier was written, whatever slot it stands in.
  [[nodiscard]] bool wrote(std::string_view word) const;
  /// The type that a slot or literal word means.
  [[nodiscard]] Type type(std::string_view word) const { return form_.type(word, choices_); }
  /// The type that the row says of an operand, or of the elements of one that is a vector.
  [[nodiscard]] Type operand_type(std::string_view name) const;
  [[nodiscard]] const isa::Form& form() const { return form_; }
  [[nodiscard]] const isa::Choices& choices() const { return choices_; }
  /// How a slot says to round; to nearest where it says nothing.
  [[nodiscard]] num::Rounding rounding(std::string_view slot) const;

  // -- its operands, by the row's names
  [[nodiscard]] bool given(std::string_view name) const { return find(name) != nullptr; }
  /// True for an operand of several registers.
  [[nodiscard]] bool is_vector(std::string_view name) const;
  /// The slot that holds the operand as a value of `type`; an immediate gets a constant slot. A wider register is narrowed first.
  std::uint32_t read(std::string_view name, Type type);
  /// The slot to write a result of `type` to; a sink gets a place that nobody reads. A wider register is extended afterwards.
  std::uint32_t write(std::string_view name, Type type);
  /// The same for the parts of a vector operand, or for the one value that stands in its place.
  std::vector<std::uint32_t> read_all(std::string_view name, Type type);
  std::vector<std::uint32_t> write_all(std::string_view name, Type type);
  /// A predicate, and what to combine it with by exclusive or: `!p` reads as its opposite, the immediates 0 and 1 as such.
  struct Pred {
    std::uint32_t offset = always_offset;
    Mask flip = 0;
  };
  [[nodiscard]] Pred read_pred(std::string_view name);
  std::uint32_t write_pred(std::string_view name);
  /// A predicate that nobody else knows, for what a step behind this one takes up.
  std::uint32_t scratch_pred();
  /// The flag CC.CF: to read, to write. All lanes' bits of it, as those of a predicate.
  std::uint32_t carry();
  /// An operand of a video instruction: the slot of the whole register, and the part of it that is named: "b0", "h10", or "".
  struct Part {
    std::uint32_t offset = zero_offset;
    std::string_view word;
    bool negated = false;
  };
  Part read_part(std::string_view name, Type type);
  Part write_part(std::string_view name, Type type);
  /// `[base+offset]`: the base's slot (zeros when the base is a constant), whether it is a 32-bit register, and the constant
  /// offset.
  struct Address {
    std::uint32_t base = zero_offset;
    bool narrow = false;
    std::int64_t offset = 0;
  };
  Address read_address(std::string_view name);
  /// The same as one 64-bit slot, for instructions with several addresses.
  std::uint32_t read_full_address(std::string_view name);
  /// `[map, {coordinates}]`: the slot of the map's address, and those of the coordinates.
  struct Tensor {
    std::uint32_t map = zero_offset;
    std::vector<std::uint32_t> coordinates;
  };
  Tensor read_tensor(std::string_view name, Type type);
  /// The state space of an address operand as written.
  [[nodiscard]] Space space(std::string_view name) const;
  /// The address of a variable, a parameter or an element of one in its state space: what stands in a 64-bit slot, zeros unless a
  /// register is the index, and a constant.
  struct Symbol {
    std::uint32_t base = zero_offset;
    std::int64_t address = 0;
    Space space = Space::generic;
  };
  Symbol read_symbol(std::string_view name);
  /// True when the operand is the name of a variable, or an element of one.
  [[nodiscard]] bool names_variable(std::string_view name) const;
  /// A special register, and the slot that holds it, which the ones that change while the warp runs do not have.
  [[nodiscard]] isa::SpecialId special(std::string_view name);
  std::uint32_t read_special(isa::SpecialId id, Type type);
  /// A slot with the same constant in every lane, and one with a constant for each.
  std::uint32_t constant(std::uint32_t value);
  std::uint32_t lane_constant(const std::array<std::uint32_t, lane_count>& values);
  /// The slot of the stack pointer, a local address of 64 bits in each lane.
  std::uint32_t stack_pointer();
  /// What the executor does itself at a call; nullptr for a call of a function, which stands behind it.
  [[nodiscard]] const HostCall* host_call() const;
  /// Arguments or results of a call: slots of registers and numbers, or places in the thread's local memory.
  struct Passed {
    bool in_memory = false;
    std::uint32_t at = 0;  ///< slot, or local address
  };
  /// The slot of a predicate that the executor has made for it.
  std::uint32_t predicate(ir::RegId reg);
  std::vector<Passed> passed(std::string_view name, std::span<const Type> types);
  /// A call of a function that runs already: its arguments and results as the function has them. Returns its number.
  std::uint32_t recursive_call(const HostCall& call);
  /// An inline cache for one more memory access.
  std::uint32_t new_site();
  /// Keeps the slots as operands of the step, behind those that it has; returns which of them is the first.
  std::uint32_t add_operands(std::span<const std::uint32_t> slots);
  /// What the module is compiled for.
  [[nodiscard]] Target target() const;
  /// The value of an integer immediate operand, or nothing when it is a register.
  [[nodiscard]] std::optional<std::int64_t> immediate(std::string_view name) const;

  /// A step that runs right behind the instruction's own, under the same guard.
  void then(const Step& next) { after_.insert(after_.begin(), next); }

  /// Says why the executor does not run this instruction.
  Handler refuse(std::string why);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  Step step;
  std::string_view inferred;  ///< in place of "as the manual says": what it is that the manual leaves open, and whence it comes
  bool is_approximation = false;  ///< Options::approximations says what the result is
  bool reduces_devices = false;   ///< it makes one number of those in the memory of several devices
  bool is_product = false;        ///< Options::numerics says how floats are added up
  bool moves_bits = false;        ///< as isa::Trait::moves_bits, where the row alone does not say so
  bool tracks_undefined = false;  ///< the handler says itself which results are undefined (Passes::by_handler)

 private:
  friend class Decoder;
  [[nodiscard]] const ir::Operand* find(std::string_view name) const;
  Symbol read_symbol(const ir::Operand& operand);
  Address read_address(const ir::Operand& base, Space space);
  std::uint32_t full_address(const Address& address);
  std::uint32_t read_operand(const ir::Operand& operand, Type type);
  std::uint32_t read_scalar(Scalar scalar, Type type);
  std::uint32_t write_operand(const ir::Operand& operand, Type type);
  std::uint32_t write_scalar(Scalar scalar, Type type);
  /// The scalar register that an operand names; nothing, and refused, for anything else.
  std::optional<Scalar> scalar_of(const ir::Operand& operand);
  std::uint32_t low_half(std::uint32_t slot);
  Part part_of(const ir::Operand& operand, const ir::Operand*& whole) const;
  void refuse_symbol(const ir::Operand& operand);
  bool holds(Scalar scalar, Type type);

  Decoder& decoder_;
  const ir::Inst& inst_;
  const isa::Form& form_;
  const isa::Choices& choices_;
  std::span<const std::uint8_t> specs_;
  std::vector<Step> before_, after_;
  std::string refusal_;
};

/// Finds the handler of an instruction and fills `decoding.step`, or calls `decoding.refuse`. One for each word in a row's
/// exec(…).
using OpDecoder = Handler (*)(Decoding& decoding);
namespace op {
#define PTX_OP(word) Handler word(Decoding& decoding);
#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/ops.inc"
#undef PTX_OP
}  // namespace op
/// The decoder function of a form, or nullptr when its row has no exec(…).
OpDecoder op_of(isa::FormId form);

}  // namespace ptx::vgpu
