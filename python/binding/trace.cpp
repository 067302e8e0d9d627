#include "trace.hpp"

#include <atomic>
#include <utility>

#include "errors.hpp"
#include "ptx/text/text.hpp"

namespace ptx::python {
namespace {

thread_local Trace* active_trace = nullptr;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

Diagnostic left_early(const char* what, Where where) {
  Diagnostic d;
  d.kind = Kind::bad_control_flow;
  d.message = cat('`', what, "` was left before its end, by `break`, `return` or an exception");
  d.where = where;
  return std::move(d).note(
      "hint: its body is written once, and has to be gone through: leave with a branch, `ptx.bra(label, pred=p)`");
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
}

void Trace::exit() {
  if (active_trace != this)
    raise(Kind::bad_control_flow, cat("the trace of `", name_, "` is left while another one is being made"));
  tracing_.reset();
  active_trace = std::exchange(outer_, nullptr);
}

std::size_t Trace::open(const char* what, Where where) {
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

Expected<TracedModule> Trace::finish() {
  Expected<TracedModule> module = checked();
  if (module || module.error().where.known()) return module;
  Diagnostic d = std::move(module).error();
  d.where = defined;
  return Unexpected{std::move(d)};
}

Expected<TracedModule> Trace::checked() {
  spent_ = true;
  if (!opened_.empty()) return Unexpected{left_early(opened_.back().what, opened_.back().where)};
  Expected<ir::Module> module = builder_.finish();
  if (!module) return Unexpected{std::move(module).error()};
  Expected<check::Accepted> accepted = check::accept(std::move(*module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  auto listing = std::make_shared<const ir::Listing>(text::list(accepted->module()));
  return TracedModule{std::move(*accepted), std::move(listing), name_};
}

Trace* Trace::active() { return active_trace; }

Trace& Trace::require(const char* what) {
  if (active_trace != nullptr) return *active_trace;
  Diagnostic d;
  d.kind = Kind::no_active_trace;
  d.message = cat("No active kernel trace: `", what, "` was called outside the body of a kernel");
  d.where = authors_line();
  d.note("hint: it writes PTX into the kernel being traced, so it belongs in a function under `@kernel`");
  raise(d);
}

}  // namespace ptx::python
