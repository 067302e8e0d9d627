#include <algorithm>
#include <cstring>

#include "ptx/text/trivia.hpp"

namespace ptx::text {

using ir::OperandKind;

void Fingerprint::mix(std::string_view text) {
  mix(text.size());
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(8, text.size()))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<std::size_t>(8, text.size()));
    mix(word);
  }
}

// Registers and labels go by their names: a declaration that is renamed changes every line that uses it.
void Fingerprint::mix(const ir::Function& function, ir::RegId id) {
  const ir::Register& reg = function.regs[id.index];
  mix(std::uint64_t{function.reg_decls[reg.decl.index].base.index} << 32 | reg.index);
}

void Fingerprint::mix(const ir::Function& function, const ir::Operand& o) {
  // a name may turn out to be a label when its block is at its end
  const OperandKind kind = o.kind == OperandKind::label ? OperandKind::symbol : o.kind;
  const std::uint64_t flags = static_cast<std::uint64_t>(kind) << 32 | std::uint64_t{o.count} << 40 |
                              std::uint64_t{o.negated} << 56 | std::uint64_t{o.piped} << 57 | std::uint64_t{o.unified} << 58;
  switch (o.kind) {
    case OperandKind::reg:
      mix(flags);
      mix(function, ir::RegId(o.payload));
      break;
    case OperandKind::label:
      mix(flags | function.labels[o.payload].name.index);
      break;
    case OperandKind::integer:
    case OperandKind::floating:
      mix(flags);
      mix(function.constants[o.payload]);
      break;
    default:
      if (!ir::has_parts(o.kind)) return mix(flags | o.payload);
      mix(flags);
      for (const ir::Operand& part : function.parts(o)) mix(function, part);
  }
}

Fingerprint& Fingerprint::add(const ir::Function& function, const ir::Inst& item) {
  mix(static_cast<std::uint64_t>(item.kind) | std::uint64_t{item.guard_negated} << 8 | std::uint64_t{item.operand_count} << 16 |
      std::uint64_t{item.form} << 32);
  switch (item.kind) {
    case ir::ItemKind::inst: {
      std::uint64_t words[2] = {};
      static_assert(sizeof item.choices <= sizeof words);
      std::memcpy(words, item.choices.data(), sizeof item.choices);
      mix(words[0]);
      mix(words[1]);
      if (item.guard_id().valid()) mix(function, item.guard_id());
      for (const ir::Operand& operand : function.operands_of(item)) mix(function, operand);
      break;
    }
    case ir::ItemKind::label:
      mix(function.labels[item.payload].name);
      break;
    case ir::ItemKind::open:
    case ir::ItemKind::close:
      break;
    case ir::ItemKind::reg_decl:
      add(function.reg_decls[item.payload]);
      break;
    case ir::ItemKind::variable:
      add(function.variables[item.payload]);
      break;
    case ir::ItemKind::comment:
    case ir::ItemKind::pragma:
    case ir::ItemKind::raw:
      mix(std::uint64_t{item.payload});
      break;
    case ir::ItemKind::loc: {
      const ir::Loc& loc = function.locs[item.payload];
      mix(std::uint64_t{loc.file} << 32 | loc.line);
      mix(std::uint64_t{loc.column} << 32 | loc.function_offset);
      mix(loc.function_name);
      mix(std::uint64_t{loc.inlined_file} << 32 | loc.inlined_line);
      mix(std::uint64_t{loc.inlined_column});
      break;
    }
    case ir::ItemKind::prototype: {
      const ir::Prototype& prototype = function.prototypes[item.payload];
      mix(prototype.returns.size());
      for (const ir::Param& param : prototype.returns) mix(param);
      for (const ir::Param& param : prototype.params) mix(param);
      for (const ir::Directive& directive : prototype.directives) mix(directive);
      break;
    }
    case ir::ItemKind::branch_targets:
    case ir::ItemKind::call_targets:
      for (const ir::Operand& operand : function.target_lists[item.payload]) mix(function, operand);
      break;
  }
  return *this;
}

Fingerprint& Fingerprint::add(const ir::Variable& v) {
  mix(v.name);
  mix(static_cast<std::uint64_t>(v.space) | static_cast<std::uint64_t>(v.linkage) << 8 |
      static_cast<std::uint64_t>(v.type) << 16 | std::uint64_t{v.vector} << 24 | std::uint64_t{v.align} << 32);
  mix(v.elements.value_or(0) << 2 | std::uint64_t{v.elements.has_value()} << 1 | std::uint64_t{v.unsized});
  for (const std::uint64_t dimension : v.inner) mix(dimension);
  mix(v.initialiser.size());
  for (const ir::Init& init : v.initialiser) {
    mix(static_cast<std::uint64_t>(init.kind) | std::uint64_t{init.width} << 8 | std::uint64_t{init.mask_byte} << 16 |
        std::uint64_t{init.symbol.index} << 32);
    mix(init.value);
  }
  for (const std::string& attribute : v.attributes) mix(attribute);
  return *this;
}

Fingerprint& Fingerprint::add(const ir::RegDecl& decl) {
  mix(decl.base);
  mix(static_cast<std::uint64_t>(decl.type) | std::uint64_t{decl.vector} << 8 | std::uint64_t{decl.count.has_value()} << 16 |
      std::uint64_t{decl.count.value_or(0)} << 32);
  return *this;
}

void Fingerprint::mix(const ir::Param& p) {
  mix(p.name);
  mix(static_cast<std::uint64_t>(p.type) | std::uint64_t{p.vector} << 8 | std::uint64_t{p.in_register} << 16 |
      std::uint64_t{p.is_ptr} << 17 | std::uint64_t{p.unsized} << 18 | std::uint64_t{p.elements.has_value()} << 19 |
      std::uint64_t{p.ptr_space.has_value()} << 20 | static_cast<std::uint64_t>(p.ptr_space.value_or(ir::StateSpace::reg)) << 24 |
      std::uint64_t{p.align} << 32);
  mix(p.elements.value_or(0));
  mix(std::uint64_t{p.ptr_align});
}

void Fingerprint::mix(const ir::Directive& d) {
  mix(std::string_view(d.name));
  for (const std::uint32_t value : d.values) mix(std::uint64_t{value});
  mix(std::string_view(d.text));
}

Fingerprint& Fingerprint::add_head(const ir::Function& f) {
  mix(f.name);
  mix(static_cast<std::uint64_t>(f.linkage) | std::uint64_t{f.is_entry} << 8 | std::uint64_t{f.has_body} << 9);
  mix(f.returns.size());
  for (const ir::Param& param : f.returns) mix(param);
  mix(f.params.size());
  for (const ir::Param& param : f.params) mix(param);
  for (const ir::Directive& directive : f.directives) mix(directive);
  for (const std::string& attribute : f.attributes) mix(attribute);
  return *this;
}

Fingerprint& Fingerprint::add(const ir::ModuleItem& item) {
  mix(static_cast<std::uint64_t>(item.kind));
  switch (item.kind) {
    case ir::ModuleItemKind::variable:
      return add(module_.variables[item.payload]);
    case ir::ModuleItemKind::function:
      return add_head(module_.functions[item.payload]);
    case ir::ModuleItemKind::section:
      mix(std::string_view(module_.sections[item.payload].name));
      mix(std::string_view(module_.sections[item.payload].lines));
      break;
    case ir::ModuleItemKind::file:
    case ir::ModuleItemKind::pragma:
    case ir::ModuleItemKind::alias:
    case ir::ModuleItemKind::raw:
      mix(std::uint64_t{item.payload});
      break;
  }
  return *this;
}

Fingerprint& Fingerprint::add(Version version) {
  mix(std::uint64_t{version.major} << 8 | version.minor);
  return *this;
}
Fingerprint& Fingerprint::add_target() {
  mix(static_cast<std::uint64_t>(module_.target));
  for (const std::string& option : module_.target_options) mix(std::string_view(option));
  return *this;
}
Fingerprint& Fingerprint::add_address_size() {
  mix(std::uint64_t{module_.address_size});
  return *this;
}

}  // namespace ptx::text
