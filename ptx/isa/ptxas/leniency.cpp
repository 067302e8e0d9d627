#include "ptx/isa/ptxas/leniency.hpp"

#include <algorithm>
#include <vector>

#include "ptx/isa/ptxas/mismatch.hpp"
#include "ptx/isa/rules.hpp"

namespace ptx::isa {
namespace {

// Matches operands and arguments in order.
class Assignment {
 public:
  Assignment(const Form& form, const Choices& choices, std::span<const Arg> args, Target target)
      : form_(form), choices_(choices), args_(args), target_(target) {}

  bool from(std::size_t spec, std::size_t arg) {
    const auto& specs = form_.operands;
    while (spec < specs.size() && !form_.present(specs[spec], choices_)) ++spec;
    if (spec == specs.size()) return arg == args_.size();
    const OperandSpec& o = specs[spec];
    if (arg < args_.size() && args_[arg].piped == o.piped) {
      const bool fits = rules::operand_fits(form_, choices_, o, args_[arg]) && in_range(o, args_[arg]);
      const std::string_view what =
          fits ? std::string_view() : ptxas::Mismatch(form_, choices_, o, args_[arg], target_).leniency();
      if ((fits || !what.empty()) && from(spec + 1, arg + 1)) {
        if (!what.empty()) what_ = what;
        return true;
      }
    }
    if (o.optional) return from(spec + 1, arg);
    // st.async and red.async without the mbarrier that their completion names
    if (o.name != "mbar" || form_.slot("async") < 0 || (form_.opcode != "st" && form_.opcode != "red")) return false;
    if (form_.slot("vec") >= 0 && !form_.chosen(choices_, form_.slot("vec")).empty()) return false;
    if (!from(spec + 1, arg)) return false;
    what_ = "it without its mbarrier";
    return true;
  }
  [[nodiscard]] std::string_view what() const { return what_; }

 private:
  static bool in_range(const OperandSpec& o, const Arg& arg) {
    const auto fits = [&](const Arg& a, std::size_t element) {
      return a.kind != ArgKind::integer || rules::in_range(a.integer, detail::range_of(o.range, element));
    };
    if (o.range.empty() || arg.kind != ArgKind::vector) return fits(arg, 0);
    for (std::size_t i = 0; i < arg.elements.size(); ++i)
      if (!fits(arg.elements[i], i)) return false;
    return true;
  }

  const Form& form_;
  const Choices& choices_;
  std::span<const Arg> args_;
  Target target_;
  std::string_view what_;
};

}  // namespace

std::string_view leniency(const Form& form, const Choices& choices, std::span<const Arg> args, Target target) {
  for (const Arg& arg : args)
    if (arg.authored) return {};
  Assignment assignment(form, choices, args, target);
  if (assignment.from(0, 0)) return assignment.what();
  if (args.size() > 1 && args[0].kind == ArgKind::reg && args[1].kind == ArgKind::sink && args[1].piped) {
    std::vector<Arg> others(args.begin(), args.end());
    others.erase(others.begin() + 1);
    if (Assignment one(form, choices, others, target); one.from(0, 0))
      return one.what().empty() ? "a sink beside the only result" : one.what();
  }
  if (form.opcode != "tex" && form.opcode != "tld4") return {};
  // a further operand in front of a texture, or one where other textures have an offset
  std::size_t required = 0;
  for (const OperandSpec& o : form.operands) required += form.present(o, choices) && !o.optional;
  const bool cube = form.chosen(choices, form.slot("geom")).ends_with("cube");
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    const bool reg = arg.kind == ArgKind::reg && !arg.piped && !arg.negated;
    const bool handle = reg && bits(arg.type) == 64 && !is_float(arg.type) && i + 1 < args.size() &&
                        args[i + 1].kind == ArgKind::tensor && !cube && form.chosen(choices, form.slot("geom")) != "3d";
    const bool offset = cube && i + 2 == args.size() && args.size() == required + (args[1].piped ? 3u : 2u) &&
                        (ptxas::is_number(arg) || (reg && (arg.type == Type::s32 || arg.type == Type::u32)));
    if (!handle && !offset) continue;
    std::vector<Arg> others(args.begin(), args.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    if (Assignment(form, choices, others, target).from(0, 0))
      return handle ? "a further operand in front of a texture" : "an offset, which a cube map does not take";
  }
  return {};
}

}  // namespace ptx::isa
