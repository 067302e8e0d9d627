// Entries and device functions, and the lines of a body other than instructions.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <unordered_set>

#include "ptx/isa/isa.hpp"
#include "ptx/text/parser.hpp"

namespace ptx::text {
namespace {

constexpr std::size_t max_blocks = 1664;  // one in the other, the body included; ptxas refuses more

struct FunctionDirective {
  std::string_view name;
  std::uint8_t max_values;
};
// What may stand between the parameters and the body (manual: "Performance-Tuning Directives", "Cluster Dimension Directives",
// "ABI Directives").
constexpr std::array<FunctionDirective, 14> function_directives = {{{"maxntid", 3},
                                                                    {"reqntid", 3},
                                                                    {"minnctapersm", 1},
                                                                    {"maxnctapersm", 1},
                                                                    {"maxnreg", 1},
                                                                    {"noreturn", 0},
                                                                    {"reqnctapercluster", 3},
                                                                    {"explicitcluster", 0},
                                                                    {"maxclusterrank", 1},
                                                                    {"blocksareclusters", 0},
                                                                    {"abi_preserve", 1},
                                                                    {"abi_preserve_control", 1},
                                                                    {"pragma", 0},
                                                                    {"local_maxnreg", 1}}};

// The store for what a function holds is used again for the next: its content is copied to the right size, or, when it fills most
// of the store, moved.
template <class Vector>
void settle(Vector& store, Vector& into) {
  if (4 * store.size() >= 3 * store.capacity()) {
    into = std::move(store);
    store = {};
  } else {
    into.assign(store.begin(), store.end());
    store.clear();
  }
}

}  // namespace

// .entry name (…) directives { … }     .func (…) name (…) directives { … }     the same with `;`: a declaration
bool Parser::function(const char* from, ir::Linkage linkage, bool is_entry) {
  ir::Function& f = function_;
  f.is_entry = is_entry;
  f.linkage = linkage;
  f.has_body = false;
  const auto head = [&] {
    while (c_.peek_directive() == "attribute")
      if (!attributes(f.attributes)) return false;
    if (!is_entry && c_.is_at('(') && !params(f.returns)) return false;
    f.where = ir::Module::at(c_.offset());
    if (!name(f.name, is_entry ? "the name of the entry" : "the name of the function")) return false;
    if (c_.is_at('(') && !params(f.params, is_entry)) return false;
    if (!directives(f.directives, is_entry ? "an entry" : "a function")) return false;
    return c_.is_at('{') || c_.is_at(';') || expected("`{` or `;`");
  };
  bool whole = head();
  if (!whole) {
    // A head that cannot be read all through is still one: its body is read.
    while (!c_.done() && !c_.is_at('{') && !c_.is_at(';') && !c_.is_at('}') &&
           !(on_new_line() && is_statement_directive(c_.peek_directive()) && c_.peek_directive() != "param"))
      c_.take(is(c_.peek(), start_class) ? c_.name_end() : c_.at + 1);
    if (!f.name.valid()) f.name = module_.intern("");
  }
  if (c_.eat('{')) {
    f.has_body = true;
    piece(from, Fingerprint(module_).add_head(f));
    parsed_.trivia.pieces.back().opens = 1;
    body();
    whole = true;
  } else {
    c_.eat(';');
    piece(from, Fingerprint(module_).add_head(f));
  }
  finish_function();
  item(ir::ModuleItemKind::function, module_.functions.size() - 1, from);
  return true;
}

bool Parser::directives(std::vector<ir::Directive>& list, std::string_view after) {
  while (c_.is_at('.')) {
    const char* at = c_.at;
    const std::string_view word = c_.peek_directive();
    const auto known = std::find_if(function_directives.begin(), function_directives.end(),
                                    [&](const FunctionDirective& d) { return d.name == word; });
    if (known == function_directives.end()) {
      syntax(at, "`.", word, "` is not a directive that can follow ", after);
      std::vector<std::string> names;
      for (const FunctionDirective& d : function_directives) names.push_back(cat('.', d.name));
      if (const std::string near = nearest(cat('.', word), names); !near.empty()) hint(cat("did you mean `", near, "`?"));
      return false;
    }
    c_.take_directive(word);
    ir::Directive& directive = list.emplace_back();
    directive.name = word;
    if (word == "pragma") {
      if (!strings(directive.text)) return false;
      if (!c_.eat(';')) return expected("`;`");
      continue;
    }
    if (known->max_values == 0) continue;
    do {
      std::uint32_t value = 0;
      if (!number(value, "a number")) return false;
      directive.values.push_back(value);
    } while (c_.eat(','));
    if (directive.values.size() > known->max_values)
      return syntax(at, "`.", word, "` takes at most ", known->max_values, " numbers, ", directive.values.size(), " are here");
  }
  return true;
}

void Parser::declare_params(std::vector<ir::Param>& list) {
  for (ir::Param& p : list) {
    if (!p.in_register) {
      names_.declare_symbol(p.name);
      continue;
    }
    ir::RegDecl decl;
    decl.base = p.name;
    decl.type = p.type;
    decl.vector = p.vector;
    decl.is_param = true;
    decl.where = p.where;
    function_.reg_decls.push_back(decl);
    p.reg = names_.declare(ir::RegDeclId(function_.reg_decls.size() - 1));
  }
}

/// The parameters of an entry that describe tensors, by name and type: `.u64 A_tma_desc`, or `.align 128 .b8 A_tma_desc[128]`,
/// behind a parameter `A`.
void Parser::find_descriptors(std::span<ir::Param> params) const {
  std::unordered_set<std::uint32_t> before;  // names
  for (ir::Param& param : params) {
    const bool by_value = param.bytes() == ir::descriptor_bytes && param.alignment() >= ir::least_descriptor_alignment;
    std::string_view name = module_.str(param.name);
    if (name.ends_with(ir::descriptor_suffix) && (param.elements ? by_value : param.type == Type::u64)) {
      name.remove_suffix(ir::descriptor_suffix.size());
      const ir::StringId tensor = module_.interned(name);
      if (tensor.valid() && before.contains(tensor.index)) param.describes = tensor;
    }
    before.insert(param.name.index);
  }
}

void Parser::finish_function() {
  ir::Function& f = module_.functions.emplace_back();
  f.name = function_.name;
  f.is_entry = function_.is_entry;
  f.has_body = function_.has_body;
  f.linkage = function_.linkage;
  f.where = function_.where;
  f.returns = std::move(function_.returns);
  f.params = std::move(function_.params);
  if (f.is_entry) find_descriptors(f.params);
  f.attributes = std::move(function_.attributes);
  f.directives = std::move(function_.directives);
  f.variables = std::move(function_.variables);
  f.prototypes = std::move(function_.prototypes);
  f.target_lists = std::move(function_.target_lists);
  settle(function_.reg_decls, f.reg_decls);
  settle(function_.regs, f.regs);
  settle(function_.labels, f.labels);
  settle(function_.body, f.body);
  settle(function_.operands, f.operands);
  settle(function_.constants, f.constants);
  settle(function_.locs, f.locs);
  function_.name = {};
  function_.where = {};
  function_.returns = {};
  function_.params = {};
  function_.attributes = {};
  function_.directives = {};
  function_.variables = {};
  function_.prototypes = {};
  function_.target_lists = {};
}

// ---- the body -------------------------------------------------------------------------------------------------------

void Parser::body() {
  const char* const begin = c_.last;
  names_.enter(function_, source_->text.size() / 4 + 4096);
  declare_params(function_.returns);
  declare_params(function_.params);
  std::size_t unread = 0;  // blocks too deep to be opened
  for (;;) {
    const char* from = c_.at;
    bool read = true;
    switch (c_.peek()) {
      case '}':
        c_.eat('}');
        if (unread != 0) {
          --unread;
        } else if (names_.depth() > 1) {
          names_.close();
          add(ir::ItemKind::close, 0, from);
        } else {
          end_body(from);
          return;
        }
        break;
      case '{':
        c_.eat('{');
        if (names_.depth() >= max_blocks || unread != 0) {
          if (unread++ == 0) syntax(from, "blocks nest more than ", max_blocks, " deep");
        } else {
          names_.open();
          add(ir::ItemKind::open, 0, from);
        }
        break;
      case '.':
        if (begins_function()) {
          syntax(from, "a function begins here, and the body of `", module_.str(function_.name), "` is not closed");
          end_body(from);
          return;
        }
        read = body_directive(from);
        break;
      case '@':
        read = c_.starts_with("@@") ? dwarf_in_body(from) : instruction(from);
        break;
      default:
        if (c_.done()) {
          syntax(begin - 1, "the body of `", module_.str(function_.name), "` is not closed: the text ends before its `}`");
          end_body(c_.end);
          return;
        }
        read = is(c_.peek(), start_class) ? label_or_instruction(from) : expected("an instruction, a label or a directive");
        break;
    }
    if (!read) recover(from);
  }
}

// Ends the function at its `}`, or before what shows that there is none.
void Parser::end_body(const char* from) {
  finish_labels();
  const char* end = from != c_.end && *from == '}' ? from + 1 : from;
  parsed_.trivia.pieces.push_back({{c_.offset(from), c_.offset(end)}, 0, 0, 1});
}

// .entry and .func, perhaps behind a linkage directive
bool Parser::begins_function() const {
  std::string_view word = c_.peek_directive();
  if (linkage_of(word) != ir::Linkage::none) {
    Cursor ahead = c_;
    ahead.take_directive(word);
    word = ahead.peek_directive();
  }
  return word == "entry" || word == "func";
}

// Labels of branches that nothing defines are labels all the same: check says that they are missing.
void Parser::finish_labels() {
  std::unordered_map<std::uint32_t, std::uint32_t> made;
  for (const Names::Unbound& use : names_.leave()) {
    const ir::Inst& inst = function_.body[use.item];
    const isa::Form& form = isa::form(inst.form);
    const std::size_t index = use.operand - inst.payload;
    if (index >= form.operands.size() || form.operands[index].role != isa::Role::label) continue;
    ir::Operand& operand = function_.operands[use.operand];
    const auto [label, is_new] = made.try_emplace(operand.payload, static_cast<std::uint32_t>(function_.labels.size()));
    if (is_new) function_.labels.push_back({ir::StringId(operand.payload)});
    operand.kind = ir::OperandKind::label;
    operand.payload = label->second;
  }
}

void Parser::add(ir::ItemKind kind, std::size_t payload, const char* from) {
  ir::Inst& item = function_.body.emplace_back();
  item.kind = kind;
  item.payload = static_cast<std::uint32_t>(payload);
  item.where = ir::Module::at(c_.offset(from)).index;
  piece(from, Fingerprint(module_).add(function_, item));
}

// The statement from here to what was taken last, as it is.
void Parser::add_raw(const char* from) {
  add(ir::ItemKind::raw, module_.intern(one_line(Cursor::between(from, c_.last))).index, from);
}

bool Parser::dwarf_in_body(const char* from) {
  if (!c_.starts_with("@@DWARF")) return expected("an instruction, a label or a directive");
  dwarf_is_known(from);
  const char* end = from;
  while (end != c_.end && *end != '\n') ++end;
  while (is(end[-1], space_class)) --end;
  c_.take(end);
  add_raw(from);
  return true;
}

bool Parser::label_or_instruction(const char* from) {
  const char* end = c_.name_end();
  if (*end == '.') return instruction(from);
  if (*end == ':' || is(*end, space_class) || *end == '/') {
    const Cursor before = c_;
    c_.take(end);
    if (c_.is_at(':') && c_.at[1] != ':') {
      if (Cursor::between(from, end) == "WARP_SZ") return syntax(from, "`WARP_SZ` is a number, and names no label");
      c_.eat(':');
      const ir::StringId id = module_.intern(Cursor::between(from, end));
      add(ir::ItemKind::label, names_.define_label(id, static_cast<std::uint32_t>(function_.body.size())).index, from);
      return true;
    }
    c_ = before;
  }
  return instruction(from);
}

bool Parser::body_directive(const char* from) {
  const std::string_view word = c_.peek_directive();
  if (word == "reg") return registers(from);
  if (word == "loc") return loc(from);
  if (word == "pragma") {
    c_.take_directive(word);
    std::vector<std::string_view> texts;
    do {
      if (!string(texts.emplace_back(), "a string in quotes")) return false;
    } while (c_.eat(','));
    if (!end_statement()) return false;
    Fingerprint fingerprint(module_);
    for (const std::string_view text : texts) {
      ir::Inst& item = function_.body.emplace_back();
      item.kind = ir::ItemKind::pragma;
      item.payload = module_.intern(text.substr(1, text.size() - 2)).index;
      item.where = ir::Module::at(c_.offset(from)).index;
      fingerprint.add(function_, item);
    }
    piece(from, fingerprint);
    return true;
  }
  if (word == "callprototype") return prototype(from);
  if (word == "branchtargets") return targets(from, true);
  if (word == "calltargets") return targets(from, false);
  if (space_of(word) || word == "align" || word == "attribute") return variables(from, ir::Linkage::none, true);
  if (const ir::Linkage linkage = linkage_of(word); linkage != ir::Linkage::none) {
    c_.take_directive(word);
    return variables(from, linkage, true);
  }
  if (word.empty()) return expected("an instruction, a label or a directive");
  return syntax(from, "there is no directive `.", word, "` in the body of a function");
}

namespace {

// What LLVM writes behind a `.loc` of inlined code: `// a.py:3:5 @[ b.py:7:1 ]`, on the same line. Else nothing.
std::string_view callers_of(const char* behind) {
  const std::string_view line(behind, std::strcspn(behind, "\r\n"));
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || !line.substr(begin).starts_with("// ") || line.find(" @[ ") == std::string_view::npos)
    return {};
  return line.substr(begin + 3, line.find_last_not_of(" \t") - begin - 2);
}

}  // namespace

// .loc 1 12 5, function_name label+4, inlined_at 1 10 3
bool Parser::loc(const char* from) {
  c_.take_directive("loc");
  ir::Loc loc;
  if (!number(loc.file, "the number of a file") || !number(loc.line, "a line") || !number(loc.column, "a column")) return false;
  if (c_.eat(',')) {  // both, in this order
    if (!c_.eat_word("function_name")) return expected("`function_name`");
    if (!name(loc.function_name, "a label of a debug section")) return false;
    if (c_.eat('+') && !number(loc.function_offset, "a number")) return false;
    if (!c_.eat(',')) return expected("`,` and `inlined_at`");
    if (!c_.eat_word("inlined_at")) return expected("`inlined_at`");
    if (!number(loc.inlined_file, "the number of a file") || !number(loc.inlined_line, "a line") ||
        !number(loc.inlined_column, "a column"))
      return false;
  }
  if (const std::string_view callers = callers_of(c_.last); !callers.empty()) loc.callers = module_.intern(callers);
  function_.locs.push_back(loc);
  add(ir::ItemKind::loc, function_.locs.size() - 1, from);
  return true;
}

// .callprototype (…) _ (…) directives;
bool Parser::prototype(const char* from) {
  c_.take_directive("callprototype");
  ir::Prototype prototype;
  if (c_.is_at('(') && !params(prototype.returns)) return false;
  if (!c_.eat_word("_")) return expected("`_`, which stands for the function");
  if (c_.is_at('(') && !params(prototype.params)) return false;
  if (!directives(prototype.directives, "a prototype") || !end_statement()) return false;
  function_.prototypes.push_back(std::move(prototype));
  add(ir::ItemKind::prototype, function_.prototypes.size() - 1, from);
  return true;
}

// .branchtargets A, B, N<3>;    .calltargets f, g;
bool Parser::targets(const char* from, bool of_branch) {
  if (function_.body.empty() || function_.body.back().kind != ir::ItemKind::label) {
    syntax(from, "a list of targets has a label, which branches and calls name");
    hint(of_branch ? "write `name: .branchtargets …;`" : "write `name: .calltargets …;`");
    return false;
  }
  c_.take_directive(of_branch ? "branchtargets" : "calltargets");
  std::vector<ir::Operand> list;
  do {
    ir::StringId id;
    if (!name(id, of_branch ? "a label" : "the name of a function")) return false;
    std::optional<std::uint32_t> count;  // N<3>: N0, N1, N2
    if (of_branch && !family_size(count)) return false;
    const std::string base(module_.str(id));
    for (std::uint32_t i = 0; i < count.value_or(1); ++i)
      list.push_back({.kind = ir::OperandKind::symbol, .payload = count ? module_.intern(cat(base, i)).index : id.index});
  } while (c_.eat(','));
  if (!end_statement()) return false;
  function_.target_lists.push_back(std::move(list));
  const auto index = static_cast<std::uint32_t>(function_.target_lists.size() - 1);
  if (of_branch)
    for (std::uint32_t i = 0; i < function_.target_lists[index].size(); ++i) names_.use_label_in_list(index, i);
  add(of_branch ? ir::ItemKind::branch_targets : ir::ItemKind::call_targets, index, from);
  return true;
}

}  // namespace ptx::text
