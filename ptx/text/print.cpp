// The printer: a module as canonical PTX. One string, appended to; instructions are spelled by ir::spell.
#include <algorithm>
#include <array>
#include <charconv>

#include "ptx/text/text.hpp"

namespace ptx::text {
namespace {

// The families of automatic registers, in the order in which a function declares them (docs/decisions/0002).
struct Family {
  std::string_view base;
  Type type;
};
constexpr std::array families = {Family{"%p", Type::pred}, Family{"%rs", Type::b16}, Family{"%r", Type::b32},
                                 Family{"%rd", Type::b64}, Family{"%f", Type::f32},  Family{"%fd", Type::f64},
                                 Family{"%h", Type::b16},  Family{"%hh", Type::b32}, Family{"%rq", Type::b128}};

class Printer {
 public:
  explicit Printer(const ir::Module& module) : module_(module) {}

  ir::Listing run() && {
    listing_.text.reserve(estimate());
    add(".version ");
    number(unsigned{module_.version.major});
    add(".");
    number(unsigned{module_.version.minor});
    end_line();
    add(".target ");
    add(isa::name(module_.target));
    end_line();
    add(".address_size ");
    number(module_.address_size);
    end_line();
    if (!module_.variables.empty()) end_line();
    for (const ir::Variable& variable : module_.variables) {
      declare(variable);
      end_line();
    }
    listing_.line_of.reserve(module_.functions.size());
    for (const ir::Function& function : module_.functions) {
      end_line();
      print(function);
    }
    return std::move(listing_);
  }

  std::string line(const ir::Function& function, const ir::Inst& item) && {
    statement(function, item);
    return std::move(listing_.text);
  }

 private:
  void add(std::string_view text) { listing_.text += text; }
  void add(char c) { listing_.text += c; }
  void number(std::uint64_t value) {
    std::array<char, 20> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    listing_.text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  }
  void end_line() {
    listing_.text += '\n';
    ++line_;
  }
  void indent() { listing_.text.append(depth_, '\t'); }

  std::size_t estimate() const {
    std::size_t bytes = 1024;
    for (const ir::Function& function : module_.functions) bytes += 16 * function.body.size() + 10 * function.operands.size();
    return bytes;
  }

  void print(const ir::Function& function) {
    if (function.linkage != ir::Linkage::none) {
      add('.');
      add(name(function.linkage));
      add(' ');
    }
    add(function.is_entry ? ".entry " : ".func ");
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
    end_line();
    for (const ir::Directive& directive : function.directives) {
      declare(directive);
      end_line();
    }
    add('{');
    end_line();
    depth_ = 1;
    declarations(function);
    body(function);
    add('}');
    end_line();
  }

  // Registers of the whole function, families first; then its variables that no item of the body places.
  void declarations(const ir::Function& function) {
    const auto is_of = [&](const ir::RegDecl& decl, const Family& family) {
      return decl.count && decl.type == family.type && module_.str(decl.base) == family.base;
    };
    const auto place = [&](const ir::RegDecl& decl) {
      indent();
      declare(decl);
      end_line();
    };
    for (const Family& family : families)
      for (const ir::RegDecl& decl : function.reg_decls)
        if (!decl.block_local && is_of(decl, family)) place(decl);
    for (const ir::RegDecl& decl : function.reg_decls)
      if (!decl.block_local && std::none_of(families.begin(), families.end(), [&](const Family& f) { return is_of(decl, f); }))
        place(decl);
    if (function.variables.empty()) return;
    std::vector<bool> placed(function.variables.size());
    for (const ir::Inst& item : function.body)
      if (item.kind == ir::ItemKind::variable) placed[item.payload] = true;
    for (std::size_t i = 0; i < function.variables.size(); ++i) {
      if (placed[i]) continue;
      indent();
      declare(function.variables[i]);
      end_line();
    }
  }

  void body(const ir::Function& function) {
    std::vector<std::uint32_t>& lines = listing_.line_of.emplace_back();
    lines.reserve(function.body.size());
    for (const ir::Inst& item : function.body) {
      lines.push_back(line_);
      if (item.kind == ir::ItemKind::close && depth_ > 1) --depth_;
      if (item.kind != ir::ItemKind::label) indent();
      statement(function, item);
      end_line();
      if (item.kind == ir::ItemKind::open) ++depth_;
    }
  }

  void statement(const ir::Function& function, const ir::Inst& item) {
    switch (item.kind) {
      case ir::ItemKind::inst:
        ir::spell(module_, function, item, listing_.text);
        break;
      case ir::ItemKind::label:
        add(module_.str(function.labels[item.payload].name));
        add(':');
        break;
      case ir::ItemKind::open:
        add('{');
        break;
      case ir::ItemKind::close:
        add('}');
        break;
      case ir::ItemKind::reg_decl:
        declare(function.reg_decls[item.payload]);
        break;
      case ir::ItemKind::variable:
        declare(function.variables[item.payload]);
        break;
      case ir::ItemKind::comment:
        add("// ");
        lines(string(item), "// ");
        break;
      case ir::ItemKind::pragma:
        add(".pragma \"");
        add(string(item));
        add("\";");
        break;
      case ir::ItemKind::raw:
        lines(string(item), "");
        break;
    }
  }

  std::string_view string(const ir::Inst& item) const {
    ir::StringId id;
    id.index = item.payload;
    return module_.str(id);
  }

  // Text that may hold several lines: each starts at the indentation and with `prefix`, and is counted.
  void lines(std::string_view text, std::string_view prefix) {
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      add(text.substr(0, end));
      end_line();
      indent();
      add(prefix);
      text.remove_prefix(end + 1);
    }
    add(text);
  }

  void type(Type type) {
    add('.');
    add(isa::name(type));
    add(' ');
  }
  void align(std::uint32_t bytes) {
    if (bytes == 0) return;
    add(".align ");
    number(bytes);
    add(' ');
  }

  void declare(const ir::RegDecl& decl) {
    add(".reg ");
    type(decl.type);
    add(module_.str(decl.base));
    if (decl.count) {
      add('<');
      number(*decl.count);
      add('>');
    }
    add(';');
  }

  void declare(const ir::Variable& variable) {
    if (variable.linkage != ir::Linkage::none) {
      add('.');
      add(name(variable.linkage));
      add(' ');
    }
    add('.');
    add(name(variable.space));
    add(' ');
    align(variable.align);
    type(variable.type);
    add(module_.str(variable.name));
    if (variable.unsized) {
      add("[]");
    } else if (variable.elements) {
      add('[');
      number(*variable.elements);
      add(']');
    }
    add(';');
  }

  void declare(const ir::Param& param) {
    add(".param ");
    align(param.align);
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
    if (param.elements) {
      add('[');
      number(*param.elements);
      add(']');
    }
  }

  void declare(const ir::Directive& directive) {
    add('.');
    add(directive.name);
    for (std::size_t i = 0; i < directive.values.size(); ++i) {
      add(i == 0 ? " " : ", ");
      number(directive.values[i]);
    }
  }

  const ir::Module& module_;
  ir::Listing listing_;
  std::uint32_t line_ = 1;
  std::size_t depth_ = 0;
};

}  // namespace

ir::Listing list(const ir::Module& module) { return Printer(module).run(); }
std::string print(const ir::Module& module) { return Printer(module).run().text; }
std::string print(const ir::Module& module, const ir::Function& function, const ir::Inst& item) {
  return Printer(module).line(function, item);
}

}  // namespace ptx::text
