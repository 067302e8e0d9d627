#include "ptx/ir/ir.hpp"

#include <charconv>

namespace ptx::ir {

std::string_view name(StateSpace space) {
  constexpr std::string_view names[] = {"reg", "global", "shared", "local", "const", "param"};
  return names[static_cast<std::size_t>(space)];
}

std::string_view name(Linkage linkage) {
  constexpr std::string_view names[] = {"", "visible", "extern", "weak", "common"};
  return names[static_cast<std::size_t>(linkage)];
}

StringId Module::intern(std::string_view text) {
  if (const auto it = index_.find(text); it != index_.end()) return it->second;
  const StringId id(strings_.size());
  strings_.emplace_back(text);
  index_.emplace(strings_.back(), id);
  return id;
}

WhereId Module::add(Where where) {
  if (!where.known()) return {};
  // consecutive instructions mostly share a line
  if (wheres_.empty() || !(wheres_.back().line == where.line && wheres_.back().file == where.file)) wheres_.push_back(where);
  return WhereId(wheres_.size() - 1);
}

void Module::reg_name(const Function& function, RegId id, std::string& out) const {
  const Register& reg = function.reg(id);
  const RegDecl& decl = function.reg_decls[reg.decl.index];
  out += str(decl.base);
  if (!decl.count) return;
  char digits[10];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, reg.index).ptr);
}
std::string Module::reg_name(const Function& function, RegId id) const {
  std::string out;
  reg_name(function, id, out);
  return out;
}

const Function* Module::find(std::string_view function_name) const {
  for (const Function& f : functions)
    if (str(f.name) == function_name) return &f;
  return nullptr;
}

std::string_view Listing::line(std::uint32_t number) const {
  std::size_t begin = 0;
  for (std::uint32_t n = 1; n < number && begin != std::string::npos; ++n) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (number == 0 || begin == std::string::npos || begin >= text.size()) return {};
  std::string_view found = std::string_view(text).substr(begin, text.find('\n', begin) - begin);
  while (!found.empty() && (found.front() == ' ' || found.front() == '\t')) found.remove_prefix(1);
  return found;
}

isa::Arg arg_of(const Module& module, const Function& function, const Operand& operand,
                std::deque<std::vector<isa::Arg>>& scratch) {
  isa::Arg arg;
  arg.negated = operand.negated;
  arg.piped = operand.piped;
  RegId reg;
  StringId string;
  switch (operand.kind) {
    case OperandKind::reg:
      reg.index = operand.payload;
      arg.kind = isa::ArgKind::reg;
      arg.type = function.reg(reg).type;
      break;
    case OperandKind::special:
      arg.kind = isa::ArgKind::special;
      arg.type = isa::specials()[operand.payload].type;
      arg.shown = isa::specials()[operand.payload].name;
      break;
    case OperandKind::integer:
      arg.kind = isa::ArgKind::integer;
      arg.integer = function.integer(operand);
      break;
    case OperandKind::floating:
      arg.kind = isa::ArgKind::floating;
      break;
    case OperandKind::symbol:
      string.index = operand.payload;
      arg.kind = isa::ArgKind::symbol;
      arg.shown = module.str(string);
      break;
    case OperandKind::label:
      arg.kind = isa::ArgKind::symbol;
      arg.shown = module.str(function.labels[operand.payload].name);
      break;
    case OperandKind::sink:
      arg.kind = isa::ArgKind::sink;
      break;
    case OperandKind::text:
      string.index = operand.payload;
      arg.kind = isa::ArgKind::text;
      arg.shown = module.str(string);
      break;
    case OperandKind::vector:
    case OperandKind::address:
    case OperandKind::tensor: {
      arg.kind = operand.kind == OperandKind::vector    ? isa::ArgKind::vector
                 : operand.kind == OperandKind::address ? isa::ArgKind::address
                                                        : isa::ArgKind::tensor;
      std::vector<isa::Arg> elements;
      for (const Operand& part : function.parts(operand)) elements.push_back(arg_of(module, function, part, scratch));
      scratch.push_back(std::move(elements));
      arg.elements = scratch.back();
      break;
    }
  }
  return arg;
}

}  // namespace ptx::ir
