#include "ptx/vgpu/timeline/model.hpp"

#include <algorithm>
#include <bit>

#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/timeline/access_counts.hpp"

namespace ptx::vgpu {

using timeline::Moment;
using timeline::none;
using timeline::SliceKind;
using timeline::Work;

namespace timeline {

std::uint64_t Engine::begin(std::uint64_t ready, std::uint64_t length) {
  std::uint64_t start = ready;
  auto next = busy_.upper_bound(start);
  if (next != busy_.begin()) start = std::max(start, std::prev(next)->second);
  for (; next != busy_.end() && next->first < start + length; ++next) start = std::max(start, next->second);
  // one piece with what it touches
  std::uint64_t from = start, to = start + length;
  next = busy_.lower_bound(from);
  if (next != busy_.begin() && std::prev(next)->second == from) from = std::prev(next)->first;
  if (next != busy_.end() && next->first == to) {
    to = next->second;
    busy_.erase(next);
  }
  busy_[from] = to;
  return start;
}

void Groups::close() {
  Moment done = closed.empty() ? Moment{} : closed.back();
  done.join(open);
  closed.push_back(done);
  open = {};
}
Moment Groups::done(std::uint32_t left) const { return closed.size() > left ? closed[closed.size() - 1 - left] : Moment{}; }
Moment Groups::all() const {
  Moment done = closed.empty() ? Moment{} : closed.back();
  done.join(open);
  return done;
}

}  // namespace timeline

namespace {

constexpr std::uint32_t longest_poll = 64;  // instructions from one question to the next
constexpr std::uint32_t sectors_a_cycle = 4;
constexpr std::uint32_t order_of_engines = 1000;

std::string short_place(const SourceLocation& where) {
  std::string_view file = where.file;
  if (const std::size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return cat(file, ':', where.line);
}

}  // namespace

// ---- launches, clusters, blocks

void Timeline::Model::begin_launch(const Launch& launch) {
  code = &launch.code;
  launch_start_ = end_;
  items_.assign(code->function->body.size(), {});
  first_row_ = rows_.size();
  rows_.resize(first_row_ + items_.size());
  texts_.resize(rows_.size());
  kernels_.push_back(cat(code->name, ", grid ", to_string(launch.config.grid), ", block ", to_string(launch.config.block)));
  clusters.clear();
  operations.clear();
  begun_ = 0;
  slots_ = std::max<std::uint64_t>(1, multiprocessors / volume(launch.config.cluster));
  free_.clear();
}

void Timeline::Model::end_launch() {
  for (auto& [cluster, time] : clusters)
    for (timeline::BlockTime& block : time.blocks)
      for (timeline::WarpTime& warp : block.warps) {
        flush(warp);
        end_ = std::max({end_, warp.clock, warp.accessed});
      }
  clusters.clear();
  performs.reset();
}

void Timeline::Model::begin_cluster(Cluster& cluster) {
  std::uint64_t start = launch_start_;
  if (begun_++ >= slots_ && !free_.empty()) {
    start = *free_.begin();
    free_.erase(free_.begin());
  }
  timeline::ClusterTime& time = clusters[&cluster];
  time = {};
  const bool alone = cluster.blocks.size() == 1;
  for (const Cta& cta : cluster.blocks) {
    timeline::BlockTime& block = time.blocks.emplace_back();
    block.process =
        recorder.add_process(cat(kernels_.size() > 1 ? cat(code->name, ' ') : std::string(), "block ", to_string(cta.id),
                                 alone ? std::string() : cat(" of cluster ", to_string(cluster.id), ", rank ", cta.rank)));
    block.warps.resize(cta.warps.size());
    for (std::uint32_t i = 0; i < block.warps.size(); ++i) {
      block.warps[i].clock = start;
      block.warps[i].row = recorder.add_row(block.process, cat("warp ", i), i);
    }
  }
}

void Timeline::Model::end_block(Cta& cta) {
  for (timeline::WarpTime& warp : block(cta).warps) flush(warp);
  timeline::ClusterTime& time = clusters.at(cta.cluster);
  if (++time.ended < time.blocks.size()) return;
  std::uint64_t end = 0;
  for (const timeline::BlockTime& one : time.blocks)
    for (const timeline::WarpTime& warp : one.warps) end = std::max({end, warp.clock, warp.accessed});
  free_.insert(end);
  end_ = std::max(end_, end);
}

timeline::BlockTime& Timeline::Model::block(const Cta& cta) { return clusters.at(cta.cluster).blocks[cta.rank]; }

// ---- instructions

timeline::Item& Timeline::Model::item(std::uint32_t number) {
  timeline::Item& item = items_[number];
  if (item.known) return item;
  item.known = true;
  const std::string spelled = code->spell(number);
  item.cost = timeline::cost_of(spelled);
  item.by_itself = item.cost.work >= Work::wgmma;
  item.text = code->line(number);
  ProfileRow& of = row(number);
  of.kernel = code->name;
  of.instruction = spelled;
  of.ptx_line = code->ptx_line(number);
  of.where = authors_place(*code, number);
  item.of_text = of.where.column != 0 || !of.where.known();
  texts_[first_row_ + number] = item.text;
  const Trace& trace = code->traces[number];
  const auto registers = std::span(code->traced).subspan(trace.first);
  const std::size_t read = std::size_t{trace.needs} + trace.values;
  const auto is_register = [](std::uint32_t scalar) { return scalar != no_scalar; };
  std::copy_if(registers.begin(), registers.begin() + static_cast<std::ptrdiff_t>(read), std::back_inserter(item.reads),
               is_register);
  std::copy_if(registers.begin() + static_cast<std::ptrdiff_t>(read),
               registers.begin() + static_cast<std::ptrdiff_t>(read + trace.results), std::back_inserter(item.writes),
               is_register);
  if (const ir::Inst& inst = code->function->body[number]; inst.guard != ir::RegId::absent)
    item.reads.push_back(code->first_scalar[inst.guard]);
  return item;
}

void Timeline::Model::flush(timeline::WarpTime& warp) {
  const auto stretch = std::exchange(warp.stretch, {});
  if (stretch.instructions == 0) return;
  const ProfileRow& first = row(stretch.first);
  const ProfileRow& last = row(stretch.last);
  std::string name = items_[stretch.first].cost.name;
  if (!items_[stretch.first].by_itself || name.empty()) {
    if (first.where.known())
      name = short_place(first.where);
    else if (first.ptx_line != 0)
      name = cat("line ", first.ptx_line);
    else
      name = first.instruction;
    if (first.where.known() && last.where.line != first.where.line) name += cat('-', last.where.line);
  }
  recorder.add({.row = warp.row,
                .name = recorder.name(name),
                .start = stretch.start,
                .end = stretch.end,
                .kind = SliceKind::issue,
                .instruction = static_cast<std::uint32_t>(first_row_ + stretch.first),
                .instructions = stretch.instructions});
}

void Timeline::Model::add_to_stretch(timeline::WarpTime& warp, std::uint32_t number, std::uint64_t start) {
  auto& stretch = warp.stretch;
  if (stretch.instructions != 0) {
    const SourceLocation &before = row(stretch.last).where, &now = row(number).where;
    const bool same = before.line == now.line && std::string_view(before.file) == now.file;
    const bool follows = items_[stretch.last].of_text && items_[number].of_text && number > stretch.last;
    if (!same && !follows) flush(warp);
  }
  if (stretch.instructions++ == 0) stretch.start = start, stretch.first = number;
  stretch.last = number;
  stretch.end = warp.clock;
}

// The clock goes on to when all registers are there that the instruction reads; returns for how long.
std::uint64_t Timeline::Model::wait_for_registers(timeline::WarpTime& warp, const timeline::Item& item) {
  if (warp.ready.empty()) warp.ready.resize(code->scalar_count());
  std::uint64_t latest = warp.clock;
  std::uint32_t last = 0;
  for (const std::uint32_t scalar : item.reads)
    if (warp.ready[scalar] > latest) latest = warp.ready[scalar], last = scalar;
  const std::uint64_t stall = latest - warp.clock;
  if (stall >= timeline::shown_stall) {
    flush(warp);
    recorder.add({.row = warp.row,
                  .name = recorder.name(cat("wait for ", code->scalar_name(last))),
                  .start = warp.clock,
                  .end = latest,
                  .kind = SliceKind::registers,
                  .instruction = static_cast<std::uint32_t>(first_row_ + warp.current.item)});
  }
  warp.clock = latest;
  return stall;
}

namespace {

// The host puts memory at any address, a GPU's allocators at multiples of 256 bytes: what a buffer's begin is no multiple of is
// taken off.
void as_on_a_gpu(const Warp& warp, Mask lanes, std::uint32_t bytes, std::array<std::uint64_t, lane_count>& address) {
  constexpr std::uint64_t alignment = 256;
  const MemoryRegion* region = nullptr;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    std::uint64_t& at = address[static_cast<std::size_t>(lowest_lane(left))];
    if (region == nullptr || !region->contains(at, bytes)) region = warp.cta->launch->global.find(at, bytes, false);
    if (region != nullptr) at -= region->begin % alignment;
  }
}

}  // namespace

// Counts what an access of memory touches; returns the cycles that it takes there.
std::uint64_t Timeline::Model::count_access(Warp& warp, const Step& step, Mask mask, const timeline::Item& item,
                                            ProfileRow& row) {
  if (mask == 0 || item.cost.bytes == 0 || step.space == Space::param || step.space == Space::local) return 0;
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  Mask shared = 0;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(lowest_lane(left));
    const bool is_shared = step.space == Space::shared || step.space == Space::cluster || item.cost.work == Work::matrix ||
                           (step.space == Space::generic && space_of(address[lane]) == Space::shared);
    if (is_shared) shared |= Mask{1} << lane;
  }
  if (item.cost.work == Work::matrix)  // the addresses of the rows come from the first lanes
    shared = item.cost.cycles >= 4 ? all_lanes : (Mask{1} << (8 * item.cost.cycles)) - 1;
  std::uint64_t cycles = 0;
  if (shared != 0) {
    const auto count = timeline::count_wavefronts(shared, address, item.cost.bytes);
    row.wavefronts += count.taken, row.needed_wavefronts += count.needed;
    cycles += count.taken;
  }
  if (const Mask global = item.cost.work == Work::matrix ? 0 : mask & ~shared; global != 0) {
    as_on_a_gpu(warp, global, item.cost.bytes, address);
    const auto count = timeline::count_sectors(global, address, item.cost.bytes);
    row.sectors += count.taken, row.needed_sectors += count.needed;
    cycles += (count.taken + sectors_a_cycle - 1) / sectors_a_cycle;
  }
  return cycles;
}

void Timeline::Model::before(Warp& warp, const Step& step, Mask mask) {
  timeline::WarpTime& time = this->warp(warp);
  const timeline::Item& item = this->item(step.item);
  ProfileRow& of = row(step.item);
  ++of.executions;
  of.lanes += static_cast<std::uint64_t>(std::popcount(mask));
  time.current = {.item = step.item, .before = time.clock, .lanes = mask};
  const bool by_itself = item.by_itself && mask != 0;
  if (time.polls) {
    if (by_itself ? item.cost.asks : ++time.polled <= longest_poll) return;
    time.polls = false;
  }
  of.stalls += wait_for_registers(time, item);
  const bool accesses = item.cost.work == Work::load || item.cost.work == Work::store || item.cost.work == Work::update ||
                        item.cost.work == Work::matrix;
  const std::uint64_t in_memory = accesses ? count_access(warp, step, mask, item, of) : 0;
  of.cycles += std::max<std::uint64_t>(item.cost.issue, in_memory);
  if (by_itself) flush(time);
  issue(warp, step, time, item, in_memory);
}

void Timeline::Model::issue(Warp& warp, const Step& step, timeline::WarpTime& time, const timeline::Item& item,
                            std::uint64_t in_memory) {
  const std::uint64_t start = time.clock;
  time.clock += item.cost.issue;
  std::uint64_t ready = time.clock - 1 + item.cost.latency;
  if (in_memory != 0) {
    time.accessed = block(*warp.cta).memory.begin(start, in_memory) + in_memory;
    ready = time.accessed - 1 + item.cost.latency;
  }
  const bool multiplies = item.cost.work == Work::mma || item.cost.work == Work::wgmma;
  if (time.current.lanes != 0 && item.by_itself)
    time.current.slice =
        recorder.add({.row = time.row,
                      .name = recorder.name(item.cost.name.empty() ? row(step.item).instruction : item.cost.name),
                      .start = start,
                      .end = time.clock,
                      .kind = SliceKind::signal,
                      .instruction = static_cast<std::uint32_t>(first_row_ + step.item)});
  else
    add_to_stretch(time, step.item, start);
  if (multiplies && time.current.lanes != 0) {
    timeline::BlockTime& block = this->block(*warp.cta);
    const std::uint32_t which = warp.index % block.cores.size();
    timeline::Engine& core = block.cores[which];
    const std::uint64_t begins = core.begin(time.clock, item.cost.cycles), ends = begins + item.cost.cycles;
    const std::uint32_t slice = recorder.add({.row = engine_row(block, core, cat("tensor core ", which), 100 + which),
                                              .name = recorder.name(item.cost.name),
                                              .start = begins,
                                              .end = ends,
                                              .kind = SliceKind::product,
                                              .instruction = static_cast<std::uint32_t>(first_row_ + step.item)});
    if (item.cost.work == Work::wgmma)
      time.wgmma.open.join({ends, slice}), ready = time.clock;
    else
      ready = ends + item.cost.latency;
  }
  for (const std::uint32_t scalar : item.writes) time.ready[scalar] = ready;
  if (item.cost.work == Work::wgmma_commit) time.wgmma.close();
  if (item.cost.work == Work::wgmma_wait) wait(warp, time.wgmma.done(step.x[2]), "wait for wgmma");
}

std::uint32_t Timeline::Model::engine_row(timeline::BlockTime& block, timeline::Engine& engine, const std::string& name,
                                          std::uint32_t order) {
  if (engine.row == none) engine.row = recorder.add_row(block.process, name, order_of_engines + order);
  return engine.row;
}

void Timeline::Model::again(Warp& warp, const Step& step, Mask mask) {
  timeline::WarpTime& time = this->warp(warp);
  ProfileRow& of = row(step.item);
  --of.executions;
  of.lanes -= static_cast<std::uint64_t>(std::popcount(mask));
  if (time.current.slice == none || time.current.slice != recorder.last()) return;
  recorder.drop_last();
  of.cycles -= items_[step.item].cost.issue;
  time.clock -= items_[step.item].cost.issue;
}

// ---- waits

void Timeline::Model::wait(Warp& warp, const Moment& until, const std::string& what) {
  timeline::WarpTime& time = this->warp(warp);
  time.polls = false;
  const std::uint64_t end = until.time + timeline::wake_latency;
  if (until.time <= time.clock) return;
  flush(time);
  const std::uint32_t slice = recorder.add({.row = time.row,
                                            .name = recorder.name(what),
                                            .start = time.clock,
                                            .end = end,
                                            .kind = SliceKind::wait,
                                            .instruction = static_cast<std::uint32_t>(first_row_ + time.current.item)});
  recorder.add_arrow(until.slice, slice);
  row(time.current.item).stalls += end - time.clock;
  time.clock = end;
}

Moment Timeline::Model::teller(Warp& warp) {
  if (performs) return operations[*performs].done;
  timeline::WarpTime& time = this->warp(warp);
  Moment moment = now(time);
  if (items_[time.current.item].cost.work == Work::tensor_commit) moment.join(time.tensor);
  return moment;
}

// "full+16 phase 3": an mbarrier by the variable in which it lies.
std::string Timeline::Model::say_mbarrier(std::uint64_t address, std::uint64_t phase) const {
  return cat("wait for ", name_of_shared(*code, address), " phase ", phase);
}

// ---- asynchronous operations

namespace {

std::uint64_t bytes_of(const async::Operation& operation, Mask lanes) {
  const auto each = static_cast<std::uint64_t>(std::popcount(lanes));
  if (const auto* const copy = std::get_if<async::Copy>(&operation.what)) return copy->bytes * each;
  if (const auto* const store = std::get_if<async::Store>(&operation.what)) return store->bytes * each;
  if (const auto* const copy = std::get_if<async::TensorCopy>(&operation.what))
    return copy->tensor.map.box_bytes() * (copy->mode == async::BoxMode::rows ? 4 : 1) * each;
  return 0;
}

}  // namespace

// The lanes of one instruction begin one operation together.
std::uint64_t Timeline::Model::begin_operation(Warp& warp, const Step& step, int lane, const async::Operation& operation) {
  timeline::WarpTime& time = this->warp(warp);
  if (const auto* const copy = std::get_if<async::Copy>(&operation.what);
      copy != nullptr && operation.group == async::Group::copies) {
    time.current.copying |= Mask{1} << lane;
    time.current.copied = copy->bytes;
    time.current.from[static_cast<std::size_t>(lane)] = copy->from.address;
    time.current.to[static_cast<std::size_t>(lane)] = copy->to.address;
  }
  if (time.current.operation != 0) return time.current.operation - 1;
  time.current.operation = operations.size() + 1;
  operations.push_back({{}, step.item});
  Moment& done = operations.back().done;
  if (std::holds_alternative<async::Arrive>(operation.what)) {
    done = now(time);
    done.join(time.copies[async::Group::copies].all());
    return operations.size() - 1;
  }
  const ProfileRow& of = row(step.item);
  const std::string& engine_name = items_[step.item].cost.engine;
  const std::string name = engine_name.empty() ? std::string("other copies") : engine_name;
  timeline::BlockTime& block = this->block(*warp.cta);
  timeline::Engine& engine = block.copies[name];
  const std::uint64_t bytes = bytes_of(operation, time.current.lanes);
  const std::uint64_t length = std::max<std::uint64_t>(1, bytes / timeline::copy_bytes_a_cycle);
  const std::uint64_t begins = engine.begin(time.clock + timeline::copy_latency, length);
  const bool tensor = std::holds_alternative<async::TensorCopy>(operation.what);
  const std::uint32_t slice = recorder.add(
      {.row = engine_row(block, engine, name, static_cast<std::uint32_t>(block.copies.size())),
       .name = recorder.name(tensor ? cat(of.instruction, ' ', to_string(std::get<async::TensorCopy>(operation.what).tensor.map))
                                    : of.instruction),
       .start = begins,
       .end = begins + length,
       .kind = SliceKind::copy,
       .instruction = static_cast<std::uint32_t>(first_row_ + step.item)});
  done = {begins + length, slice};
  recorder.add_arrow(time.current.slice, slice);
  if (operation.group != async::Group::none) time.copies[operation.group].open.join(done);
  return operations.size() - 1;
}

void Timeline::Model::add_bytes(std::uint64_t operation, std::uint64_t bytes) {
  const Operation& of = operations[operation];
  row(of.row).copied_bytes += bytes;
  if (of.done.slice != none && recorder.slice(of.done.slice).kind == SliceKind::copy)
    recorder.slice(of.done.slice).bytes += bytes;
}

void Timeline::Model::count_copies(Warp& warp) {
  timeline::WarpTime::Current& current = this->warp(warp).current;
  const Mask lanes = std::exchange(current.copying, 0);
  if (lanes == 0) return;
  ProfileRow& of = row(current.item);
  const auto stored = timeline::count_wavefronts(lanes, current.to, current.copied);
  of.wavefronts += stored.taken, of.needed_wavefronts += stored.needed;
  as_on_a_gpu(warp, lanes, current.copied, current.from);
  const auto loaded = timeline::count_sectors(lanes, current.from, current.copied);
  of.sectors += loaded.taken, of.needed_sectors += loaded.needed;
}

void Timeline::Model::multiply(Warp& warp, const TensorProduct& product) {
  timeline::WarpTime& time = this->warp(warp);
  timeline::BlockTime& block = this->block(*warp.cta);
  const std::uint64_t products = static_cast<std::uint64_t>(product.m) * static_cast<std::uint64_t>(product.n) *
                                 static_cast<std::uint64_t>(product.k) * static_cast<std::uint64_t>(product.bits) / 16;
  const std::uint64_t length = std::max<std::uint64_t>(
      1, products / timeline::tensor_memory_mma_a_cycle / static_cast<std::uint64_t>(std::max(1, product.blocks)));
  const std::uint64_t begins = block.tensor.begin(time.clock, length);
  const std::uint32_t slice =
      recorder.add({.row = engine_row(block, block.tensor, items_[time.current.item].cost.engine, 200),
                    .name = recorder.name(cat("tcgen05.mma m", product.m, 'n', product.n, 'k', product.k)),
                    .start = begins,
                    .end = begins + length,
                    .kind = SliceKind::product,
                    .instruction = static_cast<std::uint32_t>(first_row_ + time.current.item)});
  time.tensor.join({begins + length, slice});
}

// ---- what comes out

std::string Timeline::Model::trace() const {
  std::string head = "\"clock\": \"cycles of a model: a microsecond stands for one; order is meant, not speed\", \"assumes\": [";
  for (std::size_t i = 0; i < timeline::assumptions().size(); ++i)
    head += cat(i == 0 ? "" : ", ", quote(timeline::assumptions()[i]));
  head += "], \"launches\": [";
  for (std::size_t i = 0; i < kernels_.size(); ++i) head += cat(i == 0 ? "" : ", ", quote(kernels_[i]));
  head += cat("], \"cycles\": ", end_);
  return recorder.trace(head, [&](std::uint32_t instruction) -> timeline::Recorder::InstructionText {
    const ProfileRow& row = rows_[instruction];
    return {to_string(row.where), texts_[instruction]};
  });
}

Profile Timeline::Model::profile() const {
  Profile profile;
  profile.cycles = end_;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(profile.rows),
               [](const ProfileRow& row) { return row.executions != 0; });
  return profile;
}

}  // namespace ptx::vgpu
