#include "ptx/check/body.hpp"

#include "ptx/check/declarations.hpp"

namespace ptx::check {
namespace {

// True for an instruction after which the next line is not reached: unguarded bra, brx, ret, exit. After `trap` code is
// customary.
bool leaves(const isa::Form& form) {
  return form.row->effects.has(isa::Effect::control) && !form.row->effects.has(isa::Effect::volatile_) && form.opcode != "call";
}

class Body {
 public:
  Body(Report& report, Names& names, Instructions& instructions, const ir::Function& function)
      : report_(report), names_(names), instructions_(instructions), function_(function), labels_(report, function) {}

  void run() {
    declare_all();
    instructions_.enter(function_, labels_);
    for (const ir::Inst& item : function_.body) check(item);
    while (blocks_.size() > 1) close();
  }

 private:
  // What stands at the top of the function, whether it is used there or not.
  void declare_all() {
    for (std::uint32_t i = 0; i < function_.reg_decls.size(); ++i)
      if (!function_.reg_decls[i].block_local) declare_registers(report_, names_, function_, i);
    if (function_.variables.empty()) return;
    std::vector<bool> placed(function_.variables.size());
    for (const ir::Inst& item : function_.body)
      if (item.kind == ir::ItemKind::variable) placed[item.payload] = true;
    for (std::uint32_t i = 0; i < function_.variables.size(); ++i)
      if (!placed[i]) declare_variable(report_, names_, function_.variables[i], i, Level::body);
  }

  void check(const ir::Inst& item) {
    switch (item.kind) {
      case ir::ItemKind::inst:
        if (dead_) unreachable(item);
        instructions_.check(item, blocks_.back());
        if (!item.guard_id().valid() && leaves(isa::form(item.form))) dead_ = true;
        break;
      case ir::ItemKind::label:
        dead_ = reported_ = false;
        label(item);
        break;
      case ir::ItemKind::open:
        blocks_.push_back(++last_block_);
        names_.open();
        break;
      case ir::ItemKind::close:
        if (blocks_.size() > 1) close();
        break;
      case ir::ItemKind::reg_decl:
        declare_registers(report_, names_, function_, item.payload, &item);
        break;
      case ir::ItemKind::variable:
        declare_variable(report_, names_, function_.variables[item.payload], item.payload, Level::body, &function_, &item);
        break;
      case ir::ItemKind::raw:
        dead_ = reported_ = false;  // it may hold a label
        break;
      case ir::ItemKind::comment:
      case ir::ItemKind::pragma:
        break;
    }
  }

  void close() {
    blocks_.pop_back();
    names_.close();
  }

  void label(const ir::Inst& item) {
    const ir::StringId name = function_.labels[item.payload].name;
    const std::string_view spelled = report_.module().str(name);
    if (!is_identifier(spelled))
      report_.error(function_, item, Kind::bad_declaration, cat('`', spelled, "` cannot name a label"));
    if (const Entity* taken = names_.find_innermost(name))
      report_.error(function_, item, Kind::duplicate_symbol,
                    cat("the label `", spelled, "` and ", describe(report_.module(), *taken), " share a name in one scope"));
  }

  void unreachable(const ir::Inst& item) {
    if (!reported_)
      report_.warning(function_, item, Kind::unreachable,
                      "nothing reaches this instruction: the one before it goes elsewhere, and there is no label here");
    reported_ = true;  // once for each stretch
  }

  Report& report_;
  Names& names_;
  Instructions& instructions_;
  const ir::Function& function_;
  Labels labels_;
  std::vector<std::uint32_t> blocks_{0};  // the blocks that are open, numbered as Labels does
  std::uint32_t last_block_ = 0;
  bool dead_ = false, reported_ = false;
};

}  // namespace

void check_body(Report& report, Names& names, Instructions& instructions, const ir::Function& function) {
  Body(report, names, instructions, function).run();
}

}  // namespace ptx::check
