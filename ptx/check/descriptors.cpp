#include "ptx/check/descriptors.hpp"

#include "ptx/isa/isa.hpp"

#include <array>

namespace ptx::check {
namespace {

// `count` bits from `first` on.
std::uint64_t field(std::uint64_t value, unsigned first, unsigned count) {
  return value >> first & ((std::uint64_t{1} << count) - 1);
}

constexpr std::string_view in_units = "addresses and offsets are in units of 16 bytes: shift them right by 4";

struct Reserved {
  unsigned first, count;
};

class Descriptors {
 public:
  Descriptors(Report& report, const ir::Function& function, const ir::Inst& inst, const Registers& registers)
      : report_(report), function_(function), inst_(inst), registers_(registers), form_(isa::form(inst.form)) {}

  void run() {
    const bool wgmma = is_wgmma(effects(inst_));
    const std::span<const ir::Operand> operands = function_.operands_of(inst_);
    std::size_t next = 0;  // operands that are left out stand at the end, or belong to a modifier
    for (const isa::OperandSpec& spec : form_.operands) {
      if (next >= operands.size()) return;
      if (!form_.present(spec, inst_.choices)) continue;
      if (spec.optional && operands.size() < form_.operands.size()) {
        // disable-output-lane stands in the middle, and is a vector
        if (operands[next].kind != ir::OperandKind::vector) continue;
      }
      const ir::Operand& o = operands[next++];
      const bool matrix = isa::is_descriptor(form_, spec);
      if (!matrix && spec.name != "idesc") continue;
      const auto value = registers_.constant(o);
      if (!value) continue;
      if (!matrix)
        instruction(static_cast<std::uint64_t>(*value) & 0xFFFFFFFFu);
      else if (wgmma)
        wgmma_matrix(spec.name, static_cast<std::uint64_t>(*value));
      else
        tcgen05_matrix(spec.name, static_cast<std::uint64_t>(*value));
    }
  }

 private:
  void bad(std::string message, std::string_view hint = {}) {
    Diagnostic& d = report_.warning(function_, inst_, Kind::bad_descriptor, std::move(message));
    if (!hint.empty()) d.hint(cat(hint));
    d.manual(cat(isa::manual(form_)));
  }

  // Reports the first reserved field that is not 0.
  bool reserved(const std::string& what, std::uint64_t value, std::span<const Reserved> fields, std::string_view hint = {}) {
    for (const auto& [first, count] : fields) {
      if (field(value, first, count) == 0) continue;
      bad(cat(what, " 0x", hex(value), " has ", count == 1 ? cat("bit ", first) : cat("bits ", first, " to ", first + count - 1),
              " set, which must be 0"),
          hint);
      return true;
    }
    return false;
  }

  void wgmma_matrix(std::string_view name, std::uint64_t value) {
    static constexpr std::array<Reserved, 4> zeros = {{{14, 2}, {30, 2}, {46, 3}, {52, 10}}};
    const std::string what = cat("the matrix descriptor of `", name, '`');
    if (reserved(what, value, zeros, in_units)) return;
    const std::uint64_t base = field(value, 49, 3);
    constexpr std::array<unsigned, 4> offsets_of = {1, 8, 4, 2};  // no swizzle, 128, 64, 32 bytes
    if (const unsigned most = offsets_of[field(value, 62, 2)]; base >= most)
      bad(cat(what, " 0x", hex(value), " has the base offset ", base, "; this swizzle repeats after ", most * 128, " bytes"),
          "a base offset is 0 unless the pattern begins elsewhere than the matrix");
  }

  void tcgen05_matrix(std::string_view name, std::uint64_t value) {
    static constexpr std::array<Reserved, 3> zeros = {{{14, 2}, {30, 2}, {53, 8}}};
    const std::string what = cat("the matrix descriptor of `", name, '`');
    if (reserved(what, value, zeros, in_units)) return;
    if (field(value, 46, 3) != 1)
      return bad(cat(what, " 0x", hex(value), " has ", field(value, 46, 3), " in bits 46 to 48, which must be 1"),
                 "this is the layout of wgmma's descriptors; tcgen05 has its own");
    if (const std::uint64_t swizzle = field(value, 61, 3); swizzle == 3 || swizzle == 5 || swizzle == 7)
      bad(cat(what, " 0x", hex(value), " has the swizzle mode ", swizzle, "; there are 0, 1, 2, 4 and 6"));
  }

  void instruction(std::uint64_t value) {
    const std::string_view kind = form_.chosen(inst_.choices, "kind");
    const std::string what = "the instruction descriptor";
    const bool scaled = kind.starts_with("kind::mx");
    if (scaled) {
      static constexpr std::array<Reserved, 2> zeros = {{{0, 2}, {3, 1}}};
      reserved(what, value, zeros);
      return;
    }
    static constexpr std::array<Reserved, 3> zeros = {{{6, 1}, {23, 1}, {29, 1}}};
    if (reserved(what, value, zeros)) return;
    if (const std::uint64_t n = 8 * field(value, 17, 6); n == 0 || n > 256)
      return bad(cat(what, " 0x", hex(value), " says N = ", n, "; what fits is 8 to 256"));
    if (const std::uint64_t m = 16 * field(value, 24, 5); m != 32 && m != 64 && m != 128 && m != 256)
      bad(cat(what, " 0x", hex(value), " says M = ", m, "; what fits is 32, 64, 128 or 256"));
  }

  Report& report_;
  const ir::Function& function_;
  const ir::Inst& inst_;
  const Registers& registers_;
  const isa::Form& form_;
};

}  // namespace

void check_descriptors(Report& report, const ir::Function& function, const ir::Inst& inst, const Registers& registers) {
  Descriptors(report, function, inst, registers).run();
}

}  // namespace ptx::check
