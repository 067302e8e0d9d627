// Modules written as short scripts, for tests that must hand check or the printer what authoring would never let through. One
// line, one item:
//
//   .version 8.5 | .target sm_90a | .address_size 64        the header (these are the defaults)
//   .module .extern .shared .align 128 .b8 dyn[]            a variable of the module
//   .visible .entry name | .func name                       begins a function; without one, everything is in `.visible .entry k`
//   .param .u64 x | .reqntid 128, 1, 1                      a parameter, a directive
//   .reg .b32 %q<4> | .shared .align 16 .b8 tile[64]        a declaration here: at the top of the function, or in the block that
//   is open .top .shared .b8 tile[64]                               a variable that no item of the body places { | } | LABEL: |
//   // comment | .pragma "nounroll" raw some.instruction %r1                                a statement that the table does not
//   know
//   @!%p0 fma.rn.f32 %f0, %f1, %f2, 0f3F800000              an instruction: `%r7` and the like declare themselves (`%p %rs %r %rd
//   %f %fd %h %hh %rq`);
//                                                           a name is a label where a line defines it, `&name` always a symbol,
//                                                           `(4*8)` text
//
// Whatever the table's dots cannot spell is a fault of the script and throws.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::testing {

class Script {
 public:
  /// The module that the lines say. Line i stands at `file`:first_line + i; empty lines and those that begin with # are skipped.
  static ir::Module module(const std::vector<std::string>& lines, std::string_view file = "script",
                           std::uint32_t first_line = 1) {
    Script script(lines);
    const char* name = intern_file(file);
    for (std::size_t i = 0; i < lines.size(); ++i) script.line(lines[i], {name, first_line + static_cast<std::uint32_t>(i)});
    return std::move(script.module_);
  }

 private:
  struct Node {
    ir::Operand operand;
    std::vector<Node> parts;
  };
  struct Family {
    std::string_view base;
    Type type;
  };
  static constexpr std::array<Family, 9> families = {{{"%p", Type::pred},
                                                      {"%rs", Type::b16},
                                                      {"%r", Type::b32},
                                                      {"%rd", Type::b64},
                                                      {"%f", Type::f32},
                                                      {"%fd", Type::f64},
                                                      {"%h", Type::b16},
                                                      {"%hh", Type::b32},
                                                      {"%rq", Type::b128}}};

  explicit Script(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
      if (const auto end = line.find_last_not_of(' '); end != std::string::npos && line[end] == ':')
        labels_.insert(line.substr(line.find_first_not_of(' '), end - line.find_first_not_of(' ')));
  }

  // ---- reading --------------------------------------------------------------------------------------------------------

  [[noreturn]] void fail(std::string_view why) const {
    throw std::runtime_error(cat("script: ", why, ", at `", rest_, "` of `", whole_, '`'));
  }
  void space() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool eat(std::string_view text) {
    space();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void need(std::string_view text) {
    if (!eat(text)) fail(cat("expected `", text, '`'));
  }
  static bool word_char(char c) {
    return std::string_view("_$%.:").find(c) != std::string_view::npos || std::isalnum(static_cast<unsigned char>(c)) != 0;
  }
  std::string_view word() {
    space();
    std::size_t n = 0;
    while (n < rest_.size() && word_char(rest_[n])) ++n;
    if (n == 0) fail("expected a word");
    const std::string_view found = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return found;
  }
  std::int64_t number() {
    space();
    const bool negative = rest_.starts_with('-');
    if (negative) rest_.remove_prefix(1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("expected a number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }
  Type type() {
    const auto found = isa::type_from_name(word());
    if (!found) fail("expected a type");
    return *found;
  }
  static std::optional<ir::StateSpace> space_named(std::string_view spelled) {
    for (int i = 0; i <= static_cast<int>(ir::StateSpace::param); ++i)
      if (const auto found = static_cast<ir::StateSpace>(i); spelled == cat('.', name(found))) return found;
    return std::nullopt;
  }
  static std::optional<ir::Linkage> linkage_named(std::string_view spelled) {
    for (int i = 1; i <= static_cast<int>(ir::Linkage::common); ++i)
      if (const auto found = static_cast<ir::Linkage>(i); spelled == cat('.', name(found))) return found;
    return std::nullopt;
  }

  // ---- lines ----------------------------------------------------------------------------------------------------------

  void line(std::string_view text, SourceLocation where) {
    whole_ = rest_ = text;
    where_ = where;
    while (rest_.ends_with(' ')) rest_.remove_suffix(1);
    space();
    if (rest_.empty() || rest_[0] == '#') return;
    if (eat("//")) return item(ir::ItemKind::comment, string());
    if (eat("raw ")) return item(ir::ItemKind::raw, string());
    if (rest_.ends_with(';')) rest_.remove_suffix(1);
    if (eat("{")) return item(ir::ItemKind::open, 0), void(++depth_);
    if (eat("}")) return item(ir::ItemKind::close, 0), void(--depth_);
    if (rest_[0] == '.') return directive();
    if (rest_.back() == ':') {
      const std::uint32_t id = label(rest_.substr(0, rest_.size() - 1));
      function().labels[id].item = static_cast<std::uint32_t>(function().body.size());
      return item(ir::ItemKind::label, id);
    }
    instruction();
    space();
    if (!rest_.empty()) fail("text left over");
  }

  std::uint32_t string() {
    space();
    return module_.intern(rest_).index;
  }

  void directive() {
    const std::string_view first = word();
    ir::Linkage linkage = linkage_named(first).value_or(ir::Linkage::none);
    const std::string_view what = linkage == ir::Linkage::none ? first : word();
    if (what == ".version") {
      const std::string_view version = word();
      module_.version = {static_cast<std::uint8_t>(version[0] - '0'), static_cast<std::uint8_t>(version[2] - '0')};
    } else if (what == ".target") {
      const auto target = target_from(word());
      module_.target = target;
    } else if (what == ".address_size") {
      module_.address_size = static_cast<unsigned>(number());
    } else if (what == ".module" || what == ".top") {
      std::string_view next = word();
      if (const auto found = linkage_named(next)) linkage = *found, next = word();
      const auto in = space_named(next);
      if (!in) fail("expected a state space");
      (what == ".module" ? module_.variables : function().variables).push_back(variable(*in, linkage));
    } else if (what == ".entry" || what == ".func") {
      begin(what == ".entry", linkage, word());
    } else if (what == ".param" && function().body.empty()) {
      function().params.push_back(param());
    } else if (what == ".reg") {
      registers();
    } else if (const auto in = space_named(what)) {
      function().variables.push_back(variable(*in, linkage));
      item(ir::ItemKind::variable, static_cast<std::uint32_t>(function().variables.size() - 1));
    } else if (what == ".pragma") {
      need("\"");
      item(ir::ItemKind::pragma, module_.intern(rest_.substr(0, rest_.find('"'))).index);
    } else {
      ir::Directive d{std::string(what.substr(1)), {}};
      for (space(); !rest_.empty(); eat(",")) d.values.push_back(static_cast<std::uint32_t>(number()));
      function().directives.push_back(std::move(d));
    }
  }

  Target target_from(std::string_view spelled) const {
    const auto target = isa::target_from_name(spelled);
    if (!target) fail("unknown target");
    return *target;
  }

  void begin(bool entry, ir::Linkage linkage, std::string_view spelled) {
    ir::Function& f = module_.functions.emplace_back();
    f.name = module_.intern(spelled);
    f.is_entry = entry;
    f.linkage = linkage;
    decls_.clear();
    regs_.clear();
    label_ids_.clear();
    depth_ = 0;
  }
  ir::Function& function() {
    if (module_.functions.empty()) begin(true, ir::Linkage::visible, "k");
    return module_.functions.back();
  }

  std::optional<std::uint64_t> elements(bool* unsized) {
    if (!eat("[")) return std::nullopt;
    if (unsized != nullptr && eat("]")) return *unsized = true, std::nullopt;
    const auto n = static_cast<std::uint64_t>(number());
    need("]");
    return n;
  }
  std::uint32_t align() { return eat(".align ") ? static_cast<std::uint32_t>(number()) : 0; }

  ir::Variable variable(ir::StateSpace in, ir::Linkage linkage) {
    ir::Variable v{.space = in, .linkage = linkage};
    v.align = align();
    v.type = type();
    v.name = module_.intern(word());
    v.elements = elements(&v.unsized);
    return v;
  }
  ir::Param param() {
    ir::Param p;
    p.align = align();
    p.type = type();
    p.is_ptr = eat(".ptr");
    if (p.is_ptr) {
      space();
      for (int i = 0; i <= static_cast<int>(ir::StateSpace::param); ++i)
        if (eat(cat('.', name(static_cast<ir::StateSpace>(i)), ' '))) p.ptr_space = static_cast<ir::StateSpace>(i);
      p.ptr_align = align();
    }
    p.name = module_.intern(word());
    p.elements = elements(nullptr);
    return p;
  }

  void registers() {
    ir::RegDecl decl;
    decl.type = type();
    const std::string_view base = word();
    decl.base = module_.intern(base);
    if (eat("<")) decl.count = static_cast<std::uint32_t>(number());
    decl.block_local = depth_ > 0;
    function().reg_decls.push_back(decl);
    decls_.push_back(static_cast<std::uint32_t>(function().reg_decls.size() - 1));
    if (decl.block_local) item(ir::ItemKind::reg_decl, decls_.back());
  }

  void item(ir::ItemKind kind, std::uint32_t payload) {
    ir::Inst& inst = function().body.emplace_back();
    inst.kind = kind;
    inst.payload = payload;
    inst.where = module_.add(where_).index;
  }

  // ---- instructions -----------------------------------------------------------------------------------------------------

  void instruction() {
    ir::Inst inst;
    inst.where = module_.add(where_).index;
    if (eat("@")) {
      inst.guard_negated = eat("!");
      inst.guard = reg(word());
    }
    const std::string_view spelled = word();
    const isa::ModifierTree* dots = &isa::ModifierTree::root();
    for (std::string_view left = spelled; !left.empty();) {
      const std::string_view next = left.substr(0, left.find('.'));
      dots = dots->follow(next);
      if (dots == nullptr) fail(cat("the table has no `", spelled, "` (`", next, "`)"));
      left.remove_prefix(std::min(left.size(), next.size() + 1));
    }
    if (dots->complete().empty()) fail(cat('`', spelled, "` is incomplete"));
    std::vector<Node> nodes;
    for (space(); !rest_.empty(); space()) {
      const bool piped = !nodes.empty() && eat("|");
      if (!nodes.empty() && !piped) need(",");
      nodes.push_back(operand());
      nodes.back().operand.piped = piped;
    }
    inst.payload = place(nodes);
    inst.operand_count = static_cast<std::uint8_t>(nodes.size());
    std::deque<std::vector<isa::Arg>> scratch;
    std::vector<isa::Arg> args;
    for (const ir::Operand& o : function().operands_of(inst)) args.push_back(ir::arg_of(module_, function(), o, scratch));
    const auto fit = isa::match(*dots, args);
    inst.form = fit ? fit->form->id : dots->complete().front().form;
    inst.choices = fit ? fit->choices : dots->complete().front().choices;
    function().body.push_back(inst);
  }

  std::uint32_t place(const std::vector<Node>& nodes) {
    const std::size_t first = function().operands.size();
    for (const Node& node : nodes) function().operands.push_back(node.operand);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!nodes[i].parts.empty()) {
        const std::uint32_t parts = place(nodes[i].parts);
        function().operands[first + i].payload = parts;
      }
    return static_cast<std::uint32_t>(first);
  }

  static Node leaf(ir::OperandKind kind, std::uint32_t payload) { return {{.kind = kind, .payload = payload}, {}}; }
  std::uint32_t constant(std::uint64_t bits) {
    function().constants.push_back(bits);
    return static_cast<std::uint32_t>(function().constants.size() - 1);
  }

  Node operand() {
    if (eat("!")) {
      Node node = operand();
      node.operand.negated = true;
      return node;
    }
    if (eat("{")) return list(ir::OperandKind::vector, "}");
    if (eat("[")) return address();
    if (eat("(")) {
      const std::string_view text = rest_.substr(0, rest_.find(')'));
      rest_.remove_prefix(text.size() + 1);
      return leaf(ir::OperandKind::text, module_.intern(cat('(', text, ')')).index);
    }
    if (eat("&")) return leaf(ir::OperandKind::symbol, module_.intern(word()).index);
    space();
    if (rest_.starts_with("0f") || rest_.starts_with("0d")) {
      const int width = rest_[1] == 'f' ? 32 : 64;
      std::uint64_t bits = 0;
      const char* end = std::from_chars(rest_.data() + 2, rest_.data() + rest_.size(), bits, 16).ptr;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      Node node = leaf(ir::OperandKind::floating, constant(bits));
      node.operand.count = static_cast<std::uint8_t>(width);
      return node;
    }
    if (rest_.starts_with('-') || (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_[0])) != 0))
      return leaf(ir::OperandKind::integer, constant(static_cast<std::uint64_t>(number())));
    const std::string_view spelled = word();
    if (spelled == "_") return leaf(ir::OperandKind::sink, 0);
    if (const auto special = isa::special_from_name(spelled)) return leaf(ir::OperandKind::special, *special);
    if (spelled[0] == '%') return leaf(ir::OperandKind::reg, reg(spelled));
    if (labels_.contains(std::string(spelled)) || whole_.find("bra") != std::string_view::npos)
      return leaf(ir::OperandKind::label, label(spelled));
    return leaf(ir::OperandKind::symbol, module_.intern(spelled).index);
  }
  Node list(ir::OperandKind kind, std::string_view close) {
    Node node{{.kind = kind}, {}};
    while (!eat(close)) {
      if (!node.parts.empty()) need(",");
      node.parts.push_back(operand());
    }
    node.operand.count = static_cast<std::uint8_t>(node.parts.size());
    return node;
  }
  Node address() {
    Node node{{.kind = ir::OperandKind::address}, {}};
    node.parts.push_back(operand());
    if (eat("+")) node.parts.push_back(operand());
    if (eat(",")) {
      node.operand.kind = ir::OperandKind::tensor;
      node.parts.push_back(operand());
    }
    need("]");
    node.operand.count = static_cast<std::uint8_t>(node.parts.size());
    return node;
  }

  std::uint32_t label(std::string_view name) {
    const auto [found, added] = label_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(function().labels.size()));
    if (added) function().labels.push_back({module_.intern(name), 0xFFFFFFFFu});
    return found->second;
  }

  std::uint32_t reg(std::string_view name) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    std::uint32_t index = 0;
    std::from_chars(name.data() + digits, name.data() + name.size(), index);
    for (auto decl = decls_.rbegin(); decl != decls_.rend(); ++decl) {
      const ir::RegDecl& d = function().reg_decls[*decl];
      if (d.count ? module_.str(d.base) == name.substr(0, digits) && digits < name.size() && index < *d.count
                  : module_.str(d.base) == name)
        return reg(*decl, d.count ? index : 0);
    }
    for (const Family& family : families) {
      if (family.base != name.substr(0, digits) || digits == name.size()) continue;
      for (std::uint32_t i = 0; i < function().reg_decls.size(); ++i) {
        ir::RegDecl& d = function().reg_decls[i];
        if (module_.str(d.base) != family.base || d.block_local || std::find(decls_.begin(), decls_.end(), i) != decls_.end())
          continue;
        d.count = std::max(*d.count, index + 1);
        return reg(i, index);
      }
      function().reg_decls.push_back({module_.intern(family.base), family.type, index + 1, false});
      return reg(static_cast<std::uint32_t>(function().reg_decls.size() - 1), index);
    }
    fail(cat("the register `", name, "` is not declared"));
  }
  std::uint32_t reg(std::uint32_t decl, std::uint32_t index) {
    const auto [found, added] = regs_.try_emplace({decl, index}, static_cast<std::uint32_t>(function().regs.size()));
    if (added) function().regs.push_back({ir::RegDeclId(decl), index, function().reg_decls[decl].type});
    return found->second;
  }

  ir::Module module_;
  std::string_view whole_, rest_;
  SourceLocation where_;
  std::set<std::string> labels_;  // every name that some line defines as a label
  int depth_ = 0;
  // of the function in hand
  std::vector<std::uint32_t> decls_;  // the explicit ones
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> regs_;
  std::map<std::string, std::uint32_t> label_ids_;
};

}  // namespace ptx::testing
