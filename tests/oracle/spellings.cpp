#include "tests/oracle/spellings.hpp"

#include <algorithm>

#include "ptx/isa/isa.hpp"

namespace ptx::oracle {
namespace {

class Spelling {
 public:
  Spelling(const isa::Form& form, const isa::Choices& choices) : form_(form), choices_(choices) {}

  std::string operand(const isa::OperandSpec& o) {
    switch (o.role) {
      case isa::Role::address:
        return cat('[', base(form_.space(o, choices_)), ']');
      case isa::Role::tensor:
        return tensor(o);
      case isa::Role::label:
        return "$end";
      case isa::Role::symbol:
        return variable(form_.space(o, choices_));
      case isa::Role::special:
        return special(form_.type(o.type, choices_));
      case isa::Role::sink:
        return "_";
      default:
        break;
    }
    const Type type = form_.type(o.type, choices_);
    const int n = form_.count(o.count, choices_);
    if (o.count.empty() || o.count == "one" || (form_.slot(o.count) >= 0 && form_.chosen(choices_, o.count).empty()))
      return scalar(o, type, 0);
    std::string out = "{";
    for (int i = 0; i < n; ++i) out += cat(i == 0 ? "" : ", ", scalar(o, type, static_cast<std::size_t>(i)));
    return out + '}';
  }

 private:
  std::string reg(Type type) { return cat('%', isa::name(isa::register_type(type)), '_', next_++ % 24); }

  std::string scalar(const isa::OperandSpec& o, Type type, std::size_t element) {
    if (o.role == isa::Role::imm || (!o.range.empty() && o.role == isa::Role::value)) {
      if (o.range.empty()) return "1";
      return cat((*isa::detail::parse_range(isa::detail::range_of(o.range, element)).begin()).low);
    }
    return reg(type);
  }

  static std::string variable(std::string_view space) {
    for (const std::string_view known : {"shared", "const", "local"})
      if (space.starts_with(known)) return cat(known, "_array");
    return space.starts_with("param") ? "entry_array" : "global_array";
  }
  std::string base(std::string_view space) {
    if (space == "tmem") return reg(Type::u32);
    if (space.starts_with("param")) return "entry_array";
    if (space.starts_with("shared") || space.starts_with("local") || space.starts_with("const"))
      return next_ % 2 == 0 ? variable(space) : reg(Type::b64);
    return reg(Type::b64);
  }
  std::string tensor(const isa::OperandSpec& o) {
    std::string out = cat('[', reg(Type::b64), ", {");
    const Type type = form_.type(o.coords_type, choices_);
    int n = form_.count(o.coords_count, choices_);
    if (!o.space.empty() && n == 3) n = 4;
    for (int i = 0; i < n; ++i) out += cat(i == 0 ? "" : ", ", reg(type));
    return out + "}]";
  }
  static std::string special(Type type) {
    if (type == Type::pred) return "%is_explicit_cluster";
    if (isa::bits(type) == 64) return "%clock64";
    return isa::bits(type) == 128 ? "%tid" : "%tid.x";
  }

  const isa::Form& form_;
  const isa::Choices& choices_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<std::string> spelling(const isa::Form& form, Target target, Version version, std::mt19937_64& random) {
  if (form.opcode == "call" || form.opcode == "brx") return std::nullopt;
  isa::Choices choices{};
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    const isa::FormSlot& slot = form.slots[i];
    if (slot.optional && random() % 2 == 0) continue;
    choices[i] = static_cast<std::uint8_t>(1 + random() % slot.choices.size());
  }
  for (const isa::Availability& a : isa::targets_needed(form, choices))
    if (!isa::allows(target, a.on)) return std::nullopt;
  if (version < isa::version_needed(form, choices, target) || isa::removed(form, target, version)) return std::nullopt;
  Spelling spelling(form, choices);
  std::string out = isa::spell(form, choices);
  bool first = true, dropped = false;
  for (const isa::OperandSpec& o : form.operands) {
    if (!form.present(o, choices) || o.role == isa::Role::list) continue;
    if (o.optional && (dropped || random() % 2 == 0)) {
      dropped = !o.piped;
      continue;
    }
    out += cat(first ? " " : o.piped ? "|" : ", ", spelling.operand(o));
    first = false;
  }
  return out + ';';
}

}  // namespace ptx::oracle
