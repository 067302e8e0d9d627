#include "ptx/vgpu/session/session.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::chrono::milliseconds between_questions{20};  // to who may interrupt

// The last ones are kept: who goes back further goes on from there.
constexpr std::size_t most_remembered = 1 << 17;
void remember(std::vector<std::uint64_t>& positions, std::uint64_t position) {
  if (positions.size() == most_remembered)
    positions.erase(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(most_remembered / 2));
  positions.push_back(position);
}

bool is_at(const Breakpoint& point, const Code& code, std::uint32_t item) {
  if (point.ptx_line != 0 && code.ptx_line(item) != point.ptx_line) return false;
  if (point.line == 0) return point.ptx_line != 0;
  const auto fits = [&](const SourceLocation& where) {
    const std::string_view file = where.file;
    return where.line == point.line &&
           (point.file.empty() || file == point.file || file.ends_with(cat('/', point.file)) || file == point.file + " (text)");
  };
  for (SourceLocation where = authors_place(code, item); where.known();
       where = where.from->at) {  // and where helpers were called
    if (fits(where)) return true;
    if (where.from == nullptr) break;
  }
  return false;
}

}  // namespace

std::string_view name(Stop::Why why) {
  constexpr std::array<std::string_view, 7> names{"step", "breakpoint", "watch", "finding", "fault", "ended", "interrupted"};
  return names[static_cast<std::size_t>(why)];
}

Session::Session(Run run, GoesOn goes_on) : run_(std::move(run)), goes_on_(std::move(goes_on)) {}

Session::~Session() { finish(); }

// Ends the run that is under way.
void Session::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    aborts_ = true;
    runs_ = true;
  }
  changed_.notify_all();
  thread_.join();
  aborts_ = false;
  has_begun_ = false;
}

void Session::start() {
  finish();
  launch_ = nullptr;
  clusters_.clear();
  position_ = 0;
  seen_findings_ = 0;
  history_.clear();
  written_.clear();
  events_.clear();
  for (auto& [number, one] : watches_) one.last.clear();
  stopped_warp_ = nullptr;
  stopped_step_ = nullptr;
  is_over_ = false;
  runs_ = false;
  has_begun_ = true;
  thread_ = std::thread([this] {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return runs_; });
    }
    if (!aborts_) run_(*this);
    const std::lock_guard lock(mutex_);
    const bool failed = stop_.why == Stop::Why::fault && position_ == stop_.position;
    if (!aborts_ && !failed) stop_ = {.why = Stop::Why::ended, .position = position_, .kernel = stop_.kernel};
    is_over_ = true;
    runs_ = false;
    changed_.notify_all();
  });
}

Stop Session::go(const Goal& goal) {
  if (!has_begun_) start();
  if (is_over_) return stop_;
  goal_ = goal;
  pauses_ = false;
  {
    const std::lock_guard lock(mutex_);
    runs_ = true;
  }
  changed_.notify_all();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, between_questions, [this] { return !runs_; })) {
    if (!goes_on_) continue;
    lock.unlock();
    if (!goes_on_()) pauses_ = true;
    lock.lock();
  }
  return stop_;
}

bool Session::halt(Stop stop) {
  std::unique_lock lock(mutex_);
  stop_ = std::move(stop);
  runs_ = false;
  changed_.notify_all();
  changed_.wait(lock, [this] { return runs_; });
  return !aborts_;
}

// ---- breakpoints

std::size_t Session::break_at(Breakpoint breakpoint) {
  breakpoints_[++last_breakpoint_] = std::move(breakpoint);
  std::fill(looked_at_.begin(), looked_at_.end(), false);
  return last_breakpoint_;
}
bool Session::remove_breakpoint(std::size_t number) {
  std::fill(looked_at_.begin(), looked_at_.end(), false);
  return breakpoints_.erase(number) + watches_.erase(number) != 0;
}
std::vector<std::pair<std::size_t, Breakpoint>> Session::breakpoints() const {
  return {breakpoints_.begin(), breakpoints_.end()};
}

// The first breakpoint that the warp has come to; 0: none.
std::size_t Session::breakpoint_at(const Warp& warp, const Step& step, Mask mask) {
  if (breakpoints_.empty()) return 0;
  std::vector<std::size_t>& here = breaks_[step.item];
  if (!looked_at_[step.item]) {
    looked_at_[step.item] = true;
    here.clear();
    for (const auto& [number, point] : breakpoints_)
      if (is_at(point, launch_->code, step.item)) here.push_back(number);
  }
  for (const std::size_t number : here) {
    const Breakpoint& point = breakpoints_.at(number);
    if (point.block && *point.block != warp.cta->id) continue;
    if (point.warp && *point.warp != warp.index) continue;
    if (!point.condition || holds(*point.condition, warp, mask)) return number;
  }
  return 0;
}

// ---- going on

Stop Session::run() { return go({}); }

Stop Session::step(std::uint64_t instructions) {
  if (!has_begun_ || !focus_) return go({.position = position_ + (has_begun_ ? instructions : 0)});
  return go({.warp = focus_, .after = instructions});
}

Stop Session::step_block() {
  if (!has_begun_ || !focus_) return step();
  return go({.warp = focus_, .any_of_block = true, .after = 1});
}

Stop Session::go_to(std::uint64_t position) {
  start();
  focus_.reset();
  return go({.position = position, .breaks = false});
}

Stop Session::restart() { return go_to(0); }

Stop Session::back(std::uint64_t instructions) {
  if (!has_begun_ || instructions == 0) return has_begun_ ? stop_ : go({.position = 0});
  // Behind the end, and where nobody is looked at, the run's own last instruction counts.
  std::uint64_t to = position_ - std::min(position_, instructions);
  if (!is_over_ && focus_)
    if (const auto& past = history_[*focus_]; past.size() >= instructions) to = past[past.size() - instructions];
  return go_to(to);
}

Stop Session::back_to_event() {
  if (!has_begun_) return go({.position = 0});
  std::uint64_t to = 0;
  for (const std::uint64_t event : events_)
    if (event < position_) to = event;
  return go_to(to);
}

// ---- what the run tells

void Session::begin_launch(const Launch& launch) {
  launch_ = &launch;
  clusters_.clear();
  written_.clear();
  seen_findings_ = 0;
  breaks_.assign(launch.code.function->body.size(), {});
  looked_at_.assign(breaks_.size(), false);
}

void Session::end_launch(const Launch&) {
  launch_ = nullptr;
  clusters_.clear();
  stopped_warp_ = nullptr;
  stopped_step_ = nullptr;
}

void Session::begin_cluster(Cluster& cluster) {
  if (std::find(clusters_.begin(), clusters_.end(), &cluster) == clusters_.end()) clusters_.push_back(&cluster);
}

// The instruction that runs did it.
void Session::note_event() {
  const std::uint64_t at = position_ - std::min<std::uint64_t>(position_, 1);
  if (events_.empty() || events_.back() != at) remember(events_, at);
}

Stop Session::stop_at(const Warp& warp, const Step& step, Mask mask, Stop::Why why) const {
  const Code& code = launch_->code;
  return {.why = why,
          .position = position_,
          .kernel = code.name,
          .block = warp.cta->id,
          .warp = warp.index,
          .lanes = mask,
          .ptx_line = code.ptx_line(step.item),
          .instruction = code.line(step.item),
          .where = authors_place(code, step.item)};
}

bool Session::is_reached(const WarpKey& key) {
  if (goal_.position == position_) return true;
  if (!goal_.warp) return false;
  const bool counts = goal_.any_of_block ? goal_.warp->first == key.first : *goal_.warp == key;
  if (!counts) return false;
  if (goal_.after != 0) {
    --goal_.after;
    return false;
  }
  return true;
}

bool Session::before(Warp& warp, const Step& step, Mask mask) {
  if (aborts_) return false;
  const WarpKey key{warp.cta->index, warp.index};
  std::optional<Stop> stop;
  if (is_reached(key)) {
    stop = stop_at(warp, step, mask, Stop::Why::step);
  } else if (pauses_) {
    stop = stop_at(warp, step, mask, Stop::Why::interrupted);
  } else if (goal_.breaks) {
    if (const std::size_t number = breakpoint_at(warp, step, mask); number != 0) {
      stop = stop_at(warp, step, mask, Stop::Why::breakpoint);
      stop->breakpoint = number;
    }
  }
  if (stop) {
    stopped_warp_ = &warp, stopped_step_ = &step, stopped_mask_ = mask;
    focus_ = key;
    if (!halt(std::move(*stop))) return false;
    // What was asked for begins with this instruction.
    if (goal_.warp && (goal_.any_of_block ? goal_.warp->first == key.first : *goal_.warp == key) && goal_.after != 0)
      --goal_.after;
  }
  remember(history_[key], position_);
  ++position_;
  if (!watches_.empty() && position_ == 1)
    for (auto& [number, one] : watches_) look_again(one);
  return true;
}

void Session::after(Warp& warp, const Step& step, Mask mask, bool again) {
  if (again) {
    history_[{warp.cta->index, warp.index}].pop_back();
    --position_;
    return;
  }
  const Code& code = launch_->code;
  const Trace& trace = code.traces[step.item];
  std::vector<Mask>& written = written_[{warp.cta->index, warp.index}];
  written.resize(code.scalar_count());
  for (std::size_t i = 0; i < trace.results; ++i)
    if (const std::uint32_t scalar = code.traced[trace.first + trace.needs + trace.values + i]; scalar != no_scalar)
      written[scalar] |= mask;
  if (std::string how; !watches_.empty()) {
    const std::size_t number = changed_watch(how);
    if (number != 0 && goal_.breaks && !aborts_) {
      Stop stop = stop_at(warp, step, mask, Stop::Why::watch);
      stop.breakpoint = number;
      stop.changed = std::move(how);
      stopped_warp_ = &warp, stopped_step_ = &step, stopped_mask_ = mask;
      focus_ = {warp.cta->index, warp.index};
      if (!halt(std::move(stop))) return;
    }
  }
  races::Detector* const races = launch_->races;
  if (races == nullptr || races->findings().told() <= seen_findings_) return;
  const Diagnostic* found = nullptr;
  for (std::size_t i = seen_findings_; i < races->findings().told(); ++i)
    if (const Diagnostic& one = races->findings().told(i); stopping_rule_.empty() || one.execution.front().rule == stopping_rule_)
      found = &one;
  seen_findings_ = races->findings().told();
  if (found == nullptr || !stops_at_findings_ || !goal_.breaks || aborts_) return;
  Stop stop = stop_at(warp, step, mask, Stop::Why::finding);
  stop.diagnostic = *found;
  stopped_warp_ = &warp, stopped_step_ = &step, stopped_mask_ = mask;
  focus_ = {warp.cta->index, warp.index};
  halt(std::move(stop));
}

void Session::fault(Cluster& cluster, const Diagnostic& why) {
  if (aborts_) return;
  const Warp* warp = &cluster.blocks.front().warps.front();
  for (const Cta& cta : cluster.blocks)
    for (const Warp& one : cta.warps)
      if (one.fault) warp = &one;
  Stop stop{
      .why = Stop::Why::fault, .position = position_, .kernel = launch_->code.name, .block = warp->cta->id, .warp = warp->index};
  if (!why.execution.empty()) {
    const ExecutionPoint& at = why.execution.front();
    stop.block = at.block;
    stop.warp = at.warp;
    stop.ptx_line = at.ptx_line;
    stop.lanes = Mask{1} << at.lane;
    stop.instruction = at.instruction;
    for (const Cta& cta : cluster.blocks)
      if (cta.id == at.block) warp = &cta.warps[at.warp];
  }
  stop.where = why.where;
  stop.diagnostic = why;
  stopped_warp_ = warp;
  stopped_step_ = nullptr;
  focus_ = {warp->cta->index, warp->index};
  halt(std::move(stop));
}

}  // namespace ptx::vgpu
