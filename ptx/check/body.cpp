#include "ptx/check/body.hpp"

#include "ptx/check/calls.hpp"
#include "ptx/check/dataflow.hpp"
#include "ptx/check/declarations.hpp"
#include "ptx/check/descriptors.hpp"
#include "ptx/check/directives.hpp"
#include "ptx/check/signatures.hpp"
#include "ptx/check/wgmma_hazards.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {
namespace {

ir::WhereId where_of(const ir::Inst& item) {
  ir::WhereId id;
  id.index = item.where;
  return id;
}

class Body {
 public:
  Body(Report& report, Names& names, AcrossBodies across, const ir::Function& function, const flow::Graph& graph)
      : report_(report),
        names_(names),
        instructions_(across.instructions),
        debug_(across.debug),
        groups_(across.groups),
        budgets_(across.budgets),
        matches_(across.matches),
        function_(function),
        graph_(graph),
        labels_(report, function),
        registers_(function) {}

  void run() {
    declare_all();
    instructions_.enter(function_, labels_);
    groups_.enter(function_);
    if (isa::allows(report_.module().target, isa::node(sm_90a))) access_.resize(function_.body.size());
    for (item_ = 0; item_ < function_.body.size(); ++item_) check(function_.body[item_]);
    while (blocks_.size() > 1) close();
    registers_.report_unwritten(report_, graph_);
    for (const std::uint32_t item : described_) check_descriptors(report_, function_, function_.body[item], registers_);
    if (has_wgmma_ && !access_.empty()) check_wgmma(report_, names_, budgets_, function_, graph_, access_);
    if (needs_registers_) budgets_.check(report_, function_);
  }

 private:
  // What stands at the top of the function, whether it is used there or not.
  void declare_all() {
    for (std::uint32_t i = 0; i < function_.reg_decls.size(); ++i)
      if (const ir::RegDecl& decl = function_.reg_decls[i]; !decl.block_local && !decl.is_param)
        declare_registers(report_, names_, function_, i, decl.where);
    if (function_.variables.empty()) return;
    std::vector<bool> placed(function_.variables.size());
    for (const ir::Inst& item : function_.body)
      if (item.kind == ir::ItemKind::variable) placed[item.payload] = true;
    for (std::uint32_t i = 0; i < function_.variables.size(); ++i)
      if (!placed[i]) declare_variable(report_, names_, function_.variables[i], i, Level::body, function_.variables[i].where);
  }

  void check(const ir::Inst& item) {
    switch (item.kind) {
      case ir::ItemKind::inst:
        instruction(item);
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
        if (!function_.reg_decls[item.payload].count) no_label(function_.reg_decls[item.payload].base, item);
        declare_registers(report_, names_, function_, item.payload, where_of(item));
        break;
      case ir::ItemKind::variable:
        no_label(function_.variables[item.payload].name, item);
        declare_variable(report_, names_, function_.variables[item.payload], item.payload, Level::body, where_of(item));
        break;
      case ir::ItemKind::raw:
        dead_ = reported_ = false;  // it may hold a label
        break;
      case ir::ItemKind::pragma:
        pragma(item);
        break;
      case ir::ItemKind::loc:
        debug_.loc(function_, item);
        break;
      case ir::ItemKind::prototype:
        if (item_ == 0 || function_.body[item_ - 1].kind != ir::ItemKind::label)
          report_.error(function_, item, Kind::bad_declaration, "this prototype has no label, so no call can name it")
              .hint("`name: .callprototype …;`");
        check_prototype(report_, function_.prototypes[item.payload], where_of(item));
        break;
      case ir::ItemKind::branch_targets:
        check_branch_targets(report_, function_, item);
        for (const ir::Operand& target : function_.target_lists[item.payload])
          if (target.kind == ir::OperandKind::label) labels_.use(item, ir::LabelId(target.payload), blocks_.back());
        break;
      case ir::ItemKind::call_targets:
        check_call_targets(report_, names_, function_, item);
        break;
      case ir::ItemKind::comment:
        break;
    }
  }

  void instruction(const ir::Inst& item) {
    if (dead_) unreachable(item);
    const auto [access, operands, plain] = instructions_.check(item, blocks_.back());
    matches_.set(item_, operands);
    registers_.touch(item_, item, instructions_.mentions(), access, !plain && is(item, isa::Trait::move));
    if (!access_.empty()) access_[item_] = access;
    if (plain) return;
    const isa::Form& form = isa::form(item.form);
    const isa::Effects& does = form.row->effects;
    if (leaves(item) && item.guard == ir::RegId::absent) dead_ = true;
    if (form.traits.has(isa::Trait::call) || (form.traits.has(isa::Trait::tcgen05) && form.slot("cta_group") >= 0))
      groups_.use(item);
    has_wgmma_ = has_wgmma_ || is_wgmma(does);
    needs_registers_ =
        needs_registers_ || is_wgmma(does) || moves_tensor_memory(does) || form.traits.has(isa::Trait::set_registers);
    if (is_wgmma(does) || form.traits.has(isa::Trait::tcgen05_mma)) described_.push_back(item_);
  }

  void pragma(const ir::Inst& item) {
    check_pragma(report_, report_.module().str(ir::StringId(item.payload)),
                 function_.is_entry ? PragmaLevel::entry_body : PragmaLevel::func_body, where_of(item));
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

  void no_label(ir::StringId name, const ir::Inst& item) {
    if (labels_.defined(name, blocks_.back(), item_))
      report_.error(function_, item, Kind::duplicate_symbol,
                    cat('`', report_.module().str(name), "` is the name of a label of this block"));
  }

  void unreachable(const ir::Inst& item) {
    // The `bra` or `ret` that ends a block of structured code, behind another: nothing is lost with it.
    if (leaves(item)) return;
    if (!reported_)
      report_.warning(function_, item, Kind::unreachable,
                      "nothing reaches this instruction: the one before it goes elsewhere, and there is no label here");
    reported_ = true;  // once for each stretch
  }

  Report& report_;
  Names& names_;
  Instructions& instructions_;
  DebugInfo& debug_;
  CtaGroups& groups_;
  const RegisterBudgets& budgets_;
  Matches& matches_;
  const ir::Function& function_;
  const flow::Graph& graph_;
  Labels labels_;
  Registers registers_;
  std::vector<std::uint32_t> described_;  // the items that have descriptors
  Store<Access> access_;                  // of each item, for targets that have wgmma
  std::uint32_t item_ = 0;                // the one in hand
  bool has_wgmma_ = false, needs_registers_ = false;
  std::vector<std::uint32_t> blocks_{0};  // the blocks that are open, numbered as Labels does
  std::uint32_t last_block_ = 0;
  bool dead_ = false, reported_ = false;
};

}  // namespace

void check_body(Report& report, Names& names, AcrossBodies across, const ir::Function& function, const flow::Graph& graph) {
  Body(report, names, across, function, graph).run();
}

}  // namespace ptx::check
