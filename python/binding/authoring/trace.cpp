#include "python/binding/authoring/trace.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "ptx/text/text.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {
namespace {

thread_local Trace* active_trace = nullptr;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Diagnostic left_early(const char* what, SourceLocation where) {
  Diagnostic d;
  d.kind = Kind::bad_control_flow;
  d.message = cat('`', what, "` was left before its end, by `break`, `return` or an exception");
  d.where = where;
  return std::move(d).hint("its body is written once, and has to be gone through: leave with a branch, `ptx.bra(label, pred=p)`");
}

}  // namespace

Trace::Trace(write::KernelHeader header) : builder_(header), name_(std::move(header.name)), id_(next_id()) {}
Trace::~Trace() {
  if (active_trace == this) exit();
}

void Trace::enter() {
  if (tracing_ || spent_)
    raise(Kind::bad_control_flow, cat("the trace of `", name_, spent_ ? "` is finished" : "` is already being made"));
  outer_ = std::exchange(active_trace, this);
  tracing_.emplace(builder_);
  lines_.begin();
}

void Trace::exit() {
  if (active_trace != this)
    raise(Kind::bad_control_flow, cat("the trace of `", name_, "` is left while another one is being made"));
  tracing_.reset();
  active_trace = std::exchange(outer_, nullptr);
}

std::size_t Trace::open(const char* what, SourceLocation where) {
  opened_.push_back({what, where});
  return opened_.size() - 1;
}

void Trace::close(std::size_t depth) {
  const std::size_t last = opened_.size() - 1;
  if (depth == last) {
    opened_.pop_back();
    return;
  }
  const Opened left = opened_[last];
  abandon(depth);
  raise(left_early(left.what, left.where));
}

void Trace::begin_group(std::string name, std::string arguments) {
  groups_.push_back({std::move(name), std::move(arguments), written(), written(), true});
}

void Trace::end_group() {
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group)
    if (group->open) {
      group->open = false;
      group->end = written();
      return;
    }
}

std::string Trace::draft() const {
  // comments that _trace.py finds again
  constexpr std::string_view body_mark = "//\001body\n", end_mark = "//\001end\n";
  const ir::Module& module = builder_.module();
  const ir::Function& function = builder_.function();
  const auto print = [&](ir::ItemKind kind, std::size_t payload) {
    ir::Inst item;
    item.kind = kind;
    item.payload = static_cast<std::uint32_t>(payload);
    return cat(text::print(module, function, item), '\n');
  };
  std::string out = cat(".version ", to_string(module.version), "\n.target ", isa::name(module.target),
                        "\n.address_size 64\n.entry draft()\n{\n");
  const ir::Leading leading = ir::leading_declarations(module, function);
  for (const std::uint32_t decl : leading.reg_decls)
    if (function.reg_decls[decl].count != 0u) out += print(ir::ItemKind::reg_decl, decl);
  for (const std::uint32_t variable : leading.variables) out += print(ir::ItemKind::variable, variable);
  out += body_mark;
  const std::size_t prologue = builder_.prologue_items();
  int depth = 0;
  for (std::size_t i = 0; i <= function.body.size(); ++i) {
    const auto here = [&](std::size_t at) { return i >= prologue && at == i - prologue; };
    for (std::size_t g = groups_.size(); g-- > 0;)  // the innermost ends first, and an empty one behind its begin
      if (!groups_[g].open && here(groups_[g].end) && groups_[g].begin != groups_[g].end) out += end_mark;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!here(groups_[g].begin)) continue;
      out += cat("//\001begin ", g, '\n');
      if (!groups_[g].open && groups_[g].begin == groups_[g].end) out += end_mark;
    }
    if (i == function.body.size()) break;
    const ir::Inst& item = function.body[i];
    depth += item.kind == ir::ItemKind::open ? 1 : item.kind == ir::ItemKind::close ? -1 : 0;
    out += cat(text::print(module, function, item), '\n');
  }
  for (const Group& group : groups_)
    if (group.open) out += end_mark;
  for (; depth > 0; --depth) out += "}\n";
  return out += "}\n";
}

std::uint64_t Trace::made(const char* what, SourceLocation where) {
  made_.emplace(++next_made_, Opened{what, where});
  return next_made_;
}
void Trace::entered(std::uint64_t number) { made_.erase(number); }

Expected<void> Trace::all_ended() const {
  if (!opened_.empty()) return Unexpected{left_early(opened_.back().what, opened_.back().where)};
  if (made_.empty()) return {};
  const auto& [what, where] = made_.begin()->second;
  const bool iterated = std::string_view(what) == "ptx.range_";
  Diagnostic d{.kind = Kind::bad_control_flow,
               .message = cat('`', what, "` is called here and never ", iterated ? "iterated over" : "entered",
                              ": nothing is written for it"),
               .where = where};
  d.hint(cat(iterated ? "for i in " : "with ", what, "(…):"));
  return Unexpected{std::move(d)};
}

Expected<TracedModule> Trace::finish() {
  Expected<TracedModule> module = checked();
  if (module) return module;
  Diagnostic d = std::move(module).error();
  if (!d.where.known()) d.where = defined;
  for (const std::string& name : variables_) {
    if (d.kind != Kind::undefined_symbol || !d.message.starts_with(cat('`', name, "` is not declared"))) continue;
    d.message = cat("`", name, "` is a variable of another module than the kernel's");
    d.hint("a kernel has the variables of its own module: `@kernel(module=m, …)`");
  }
  return Unexpected{std::move(d)};
}

Expected<ir::Module> Trace::finish_function() {
  spent_ = true;
  if (auto ended = all_ended(); !ended) return Unexpected{std::move(ended).error()};
  Expected<ir::Module> module = builder_.finish();
  if (module || module.error().where.known()) return module;
  Diagnostic d = std::move(module).error();
  d.where = defined;
  return Unexpected{std::move(d)};
}

Expected<TracedModule> checked_module(ir::Module module, std::string entry, std::uint64_t dynamic_smem,
                                      std::vector<std::string> tma_tensors) {
  Expected<check::Accepted> accepted = check::accept(std::move(module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  auto listing = std::make_shared<const ir::Listing>(text::list(accepted->module()));
  return TracedModule{std::move(*accepted), std::move(listing), std::move(entry), dynamic_smem, std::move(tma_tensors)};
}

Expected<TracedModule> Trace::checked() {
  spent_ = true;
  if (auto ended = all_ended(); !ended) return Unexpected{std::move(ended).error()};
  const std::uint64_t dynamic_smem = builder_.has_dynamic_shared() ? builder_.shared_bytes() : 0;
  std::vector<std::string> tma_tensors(builder_.tma_tensors().begin(), builder_.tma_tensors().end());
  Expected<ir::Module> module = builder_.finish();
  if (!module) return Unexpected{std::move(module).error()};
  if (module_ != nullptr) {
    const std::array<const ir::Module*, 1> kernels{&*module};
    Expected<ir::Module> linked = module_->link(kernels);
    if (!linked) return Unexpected{std::move(linked).error()};
    module = std::move(linked);
  }
  return checked_module(std::move(*module), name_, dynamic_smem, std::move(tma_tensors));
}

Trace* Trace::active() { return active_trace; }

Trace& Trace::require(const char* what) {
  if (active_trace != nullptr) return *active_trace;
  raise(Kind::no_active_trace, cat("No active kernel trace: `", what, "` was called outside the body of a kernel"),
        authors_line(), "it writes PTX into the kernel being traced, so it belongs in a function under `@kernel`");
}

}  // namespace ptx::python
