#include "ptx/text/print.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ptx::text {

using ir::ItemKind;
using ir::ModuleItemKind;

void Printer::number(std::uint64_t value) {
  std::array<char, 20> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  listing_.text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

std::size_t Printer::estimate() const {
  std::size_t bytes = 1024;
  for (const ir::Function& function : module_.functions) bytes += 16 * function.body.size() + 10 * function.operands.size();
  return bytes;
}

// ---- the module -------------------------------------------------------------------------------------------------------

ir::Listing Printer::run() && {
  listing_.text.reserve(estimate());
  version();
  end_line();
  target();
  end_line();
  if (module_.address_size != 0) {
    address_size();
    end_line();
  }
  listing_.line_of.resize(module_.functions.size());
  bool behind_function = true;  // what follows the header or a function stands apart from it
  for (const ir::ModuleItem& next : items_in_order(module_)) {
    const bool is_function = next.kind == ModuleItemKind::function;
    if (is_function || behind_function) end_line();
    item(next);
    end_line();
    behind_function = is_function;
  }
  if (source_lines_ != nullptr) source_files();
  return std::move(listing_);
}

void Printer::version() {
  add(".version ");
  number(unsigned{module_.version.major});
  add('.');
  number(unsigned{module_.version.minor});
}

void Printer::target() {
  add(".target ");
  add(isa::name(module_.target));
  for (const std::string& option : module_.target_options) {
    add(", ");
    add(option);
  }
}

void Printer::address_size() {
  add(".address_size ");
  number(module_.address_size);
}

void Printer::item(const ir::ModuleItem& item) {
  switch (item.kind) {
    case ModuleItemKind::variable:
      declare(module_.variables[item.payload]);
      break;
    case ModuleItemKind::function:
      function(module_.functions[item.payload]);
      break;
    case ModuleItemKind::file:
      add(".file ");
      add(string(item.payload));
      break;
    case ModuleItemKind::section:
      section(module_.sections[item.payload]);
      break;
    case ModuleItemKind::pragma:
      add(".pragma ");
      add(string(item.payload));
      add(';');
      break;
    case ModuleItemKind::alias:
      add(".alias ");
      add(string(item.payload));
      add(';');
      break;
    case ModuleItemKind::raw:
      lines(string(item.payload), "");
      break;
  }
}

void Printer::section(const ir::Section& section) {
  add(".section ");
  add(section.name);
  end_line();
  add('{');
  end_line();
  for (std::string_view rest = section.lines; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.ends_with(':')) add('\t');
    add(line);
    end_line();
  }
  add('}');
}

// ---- functions --------------------------------------------------------------------------------------------------------

void Printer::function(const ir::Function& function) {
  head(function);
  if (!function.has_body) return;
  end_line();
  depth_ = 1;
  leading(function);
  body(function);
  depth_ = 0;
  add('}');
}

void Printer::head(const ir::Function& function) {
  linkage(function.linkage);
  add(function.is_entry ? ".entry " : ".func ");
  attributes(function.attributes);
  if (!function.returns.empty()) {
    params(function.returns);
    add(' ');
  }
  add(module_.str(function.name));
  add('(');
  if (!function.params.empty()) {
    end_line();
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      add('\t');
      declare(function.params[i]);
      if (i + 1 != function.params.size()) add(',');
      end_line();
    }
  }
  add(')');
  for (const ir::Directive& directive : function.directives) {
    end_line();
    declare(directive);
  }
  if (function.has_body) {
    end_line();
    add('{');
  } else {
    add(';');
  }
}

// Registers of the whole function and variables that no item of the body places.
void Printer::leading(const ir::Function& function) {
  const ir::Leading first = leading_declarations(module_, function);
  for (const std::uint32_t i : first.reg_decls) {
    indent();
    declare(function.reg_decls[i]);
    end_line();
  }
  for (const std::uint32_t i : first.variables) {
    indent();
    declare(function.variables[i]);
    end_line();
  }
}

void Printer::body(const ir::Function& function) {
  listing_.line_of.resize(module_.functions.size());
  std::vector<std::uint32_t>& lines = listing_.line_of[static_cast<std::size_t>(&function - module_.functions.data())];
  lines.reserve(function.body.size());
  if (source_lines_ != nullptr) source_lines_->restart();
  ir::FunctionSpeller speller(module_, function);
  const std::span<const ir::Inst> items = function.body;
  for (std::size_t i = 0; i < items.size();) {
    const ir::Inst& item = items[i];
    if (item.kind == ItemKind::inst) {
      std::size_t end = i + 1;
      if (source_lines_ != nullptr)
        source_line(item);
      else  // instructions in a row are spelled together
        while (end < items.size() && items[end].kind == ItemKind::inst) ++end;
      speller.add_lines(items.subspan(i, end - i), depth_, listing_.text);
      for (; i < end; ++i) lines.push_back(line_++);
      continue;
    }
    ++i;
    lines.push_back(line_);
    if (item.kind == ItemKind::close && depth_ > 1) --depth_;
    if (item.kind != ItemKind::label) indent();
    statement(function, item);
    end_line();
    if (item.kind == ItemKind::open) ++depth_;
  }
}

void Printer::source_line(const ir::Inst& item) {
  for (const std::string& line : source_lines_->enter(module_.where(item))) {
    indent();
    add(line);
    end_line();
  }
}

void Printer::source_files() {
  end_line();
  for (const std::string& line : source_lines_->directives()) {
    add(line);
    end_line();
  }
}

void Printer::statement(const ir::Function& function, const ir::Inst& item) {
  switch (item.kind) {
    case ItemKind::inst:
      ir::spell(module_, function, item, listing_.text);
      break;
    case ItemKind::label:
      add(module_.str(function.labels[item.payload].name));
      add(':');
      break;
    case ItemKind::open:
      add('{');
      break;
    case ItemKind::close:
      add('}');
      break;
    case ItemKind::reg_decl:
      declare(function.reg_decls[item.payload]);
      break;
    case ItemKind::variable:
      declare(function.variables[item.payload]);
      break;
    case ItemKind::comment:
      add("// ");
      lines(string(item.payload), "// ");
      break;
    case ItemKind::pragma:
      add(".pragma \"");
      add(string(item.payload));
      add("\";");
      break;
    case ItemKind::raw:
      lines(string(item.payload), "");
      break;
    case ItemKind::loc:
      loc(function.locs[item.payload]);
      break;
    case ItemKind::prototype:
      prototype(function.prototypes[item.payload]);
      break;
    case ItemKind::branch_targets:
    case ItemKind::call_targets:
      targets(function, item);
      break;
  }
}

// Text that may hold several lines: each starts at the indentation and with `prefix`, and is counted.
void Printer::lines(std::string_view text, std::string_view prefix) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    add(text.substr(0, end));
    end_line();
    indent();
    add(prefix);
    text.remove_prefix(end + 1);
  }
  add(text);
}

void Printer::loc(const ir::Loc& loc) {
  add(".loc ");
  number(loc.file);
  add(' ');
  number(loc.line);
  add(' ');
  number(loc.column);
  if (loc.function_name.valid()) {
    add(", function_name ");
    add(module_.str(loc.function_name));
    if (loc.function_offset != 0) {
      add('+');
      number(loc.function_offset);
    }
  }
  if (loc.inlined_file == 0 && loc.inlined_line == 0 && loc.inlined_column == 0) return;
  add(", inlined_at ");
  number(loc.inlined_file);
  add(' ');
  number(loc.inlined_line);
  add(' ');
  number(loc.inlined_column);
}

void Printer::prototype(const ir::Prototype& prototype) {
  add(".callprototype ");
  if (!prototype.returns.empty()) {
    params(prototype.returns);
    add(' ');
  }
  add("_ ");
  params(prototype.params);
  for (const ir::Directive& directive : prototype.directives) {
    add(' ');
    declare(directive);
  }
  add(';');
}

void Printer::targets(const ir::Function& function, const ir::Inst& item) {
  add(item.kind == ItemKind::branch_targets ? ".branchtargets " : ".calltargets ");
  const std::vector<ir::Operand>& list = function.target_lists[item.payload];
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) add(", ");
    ir::spell(module_, function, list[i], listing_.text);
  }
  add(';');
}

// ---- declarations -----------------------------------------------------------------------------------------------------

void Printer::linkage(ir::Linkage linkage) {
  if (linkage == ir::Linkage::none) return;
  add('.');
  add(name(linkage));
  add(' ');
}
void Printer::vector(std::uint8_t length) {
  if (length == 1) return;
  add(".v");
  number(length);
  add(' ');
}
void Printer::type(Type type) {
  add('.');
  add(isa::name(type));
  add(' ');
}
void Printer::align(std::uint32_t bytes) {
  if (bytes == 0) return;
  add(".align ");
  number(bytes);
  add(' ');
}

// .attribute(.managed, .unified(19, 95))
void Printer::attributes(const std::vector<std::string>& list) {
  if (list.empty()) return;
  add(".attribute(");
  for (std::size_t i = 0; i < list.size(); ++i) {
    add(i == 0 ? "." : ", .");
    add(list[i]);
  }
  add(") ");
}

void Printer::declare(const ir::RegDecl& decl) {
  add(".reg ");
  vector(decl.vector);
  type(decl.type);
  add(module_.str(decl.base));
  if (decl.count) {
    add('<');
    number(*decl.count);
    add('>');
  }
  add(';');
}

void Printer::declare(const ir::Variable& variable) {
  linkage(variable.linkage);
  add('.');
  add(name(variable.space));
  add(' ');
  align(variable.align);
  attributes(variable.attributes);
  vector(variable.vector);
  type(variable.type);
  add(module_.str(variable.name));
  if (variable.unsized) {
    add("[]");
  } else if (variable.elements) {
    add('[');
    number(*variable.elements);
    add(']');
  }
  for (const std::uint64_t dimension : variable.inner) {
    add('[');
    number(dimension);
    add(']');
  }
  initialiser(variable);
  add(';');
}

void Printer::initialiser(const ir::Variable& variable) {
  if (variable.initialiser.empty()) return;
  add(" = ");
  bool first = true;   // of its list
  bool value = false;  // of a field
  for (const ir::Init& init : variable.initialiser) {
    if (init.kind == ir::InitKind::close) {
      add('}');
      first = false;
      continue;
    }
    if (!first && !value) add(", ");
    value = init.kind == ir::InitKind::field;
    first = init.kind == ir::InitKind::open;
    element(init);
  }
}

void Printer::element(const ir::Init& init) {
  const auto hexadecimal = [&](std::uint64_t bits) {
    std::array<char, 16> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    add("0x");
    listing_.text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr);
  };
  const auto decimal = [&](std::uint64_t bits) {
    if (static_cast<std::int64_t>(bits) < 0) add('-');
    number(static_cast<std::int64_t>(bits) < 0 ? 0 - bits : bits);
  };
  switch (init.kind) {
    case ir::InitKind::open:
      add('{');
      break;
    case ir::InitKind::close:
      add('}');
      break;
    case ir::InitKind::integer:
      if (init.width == 1)
        hexadecimal(init.value);
      else
        decimal(init.value);
      break;
    case ir::InitKind::floating:
      add(init.width == 32 ? cat("0f", hex_upper(init.value, 8)) : cat("0d", hex_upper(init.value, 16)));
      break;
    case ir::InitKind::symbol:
    case ir::InitKind::generic:
      if (init.mask_byte != 0) {
        hexadecimal(std::uint64_t{0xFF} << 8 * (init.mask_byte - 1));
        add('(');
      }
      if (init.kind == ir::InitKind::generic) add("generic(");
      add(module_.str(init.symbol));
      if (init.kind == ir::InitKind::generic) add(')');
      if (init.value != 0) {
        add('+');  // a negative offset follows its plus sign
        decimal(init.value);
      }
      if (init.mask_byte != 0) add(')');
      break;
    case ir::InitKind::field:
      add(module_.str(init.symbol));
      add(" = ");
      break;
    case ir::InitKind::word:
      add(module_.str(init.symbol));
      break;
  }
}

void Printer::declare(const ir::Param& param) {
  add(param.in_register ? ".reg " : ".param ");
  align(param.align);
  vector(param.vector);
  type(param.type);
  if (param.is_ptr) {
    add(".ptr ");
    if (param.ptr_space) {
      add('.');
      add(name(*param.ptr_space));
      add(' ');
    }
    align(param.ptr_align);
  }
  add(module_.str(param.name));
  if (param.unsized) {
    add("[]");
  } else if (param.elements) {
    add('[');
    number(*param.elements);
    add(']');
  }
}

void Printer::params(const std::vector<ir::Param>& list) {
  add('(');
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) add(", ");
    declare(list[i]);
  }
  add(')');
}

void Printer::declare(const ir::Directive& directive) {
  add('.');
  add(directive.name);
  for (std::size_t i = 0; i < directive.values.size(); ++i) {
    add(i == 0 ? " " : ", ");
    number(directive.values[i]);
  }
  if (directive.text.empty()) return;
  add(' ');
  add(directive.text);
  if (directive.name == "pragma") add(';');
}

// ---- the front door -----------------------------------------------------------------------------------------------------

ir::Listing list(const ir::Module& module, SourceLines lines) {
  // a text that was read with lines of its own keeps those
  const bool has_own =
      std::any_of(module.functions.begin(), module.functions.end(), [](const ir::Function& f) { return !f.locs.empty(); });
  LineTable table;
  return Printer(module, lines == SourceLines::loc && !has_own ? &table : nullptr).run();
}
std::string print(const ir::Module& module) { return Printer(module).run().text; }
std::string print(const ir::Module& module, const ir::Function& function, const ir::Inst& item) {
  Printer printer(module);
  printer.statement(function, item);
  return std::move(printer.text());
}

}  // namespace ptx::text
