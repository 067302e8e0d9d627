#include "ptx/vgpu/races/detector.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu::races {
namespace {

// Clusters are numbered through all runs of the process, so that what one run leaves in memory is not taken for another's.
std::atomic<std::uint32_t> next_cluster{1};

template <class Is>
bool any_instruction(const Code& code, Is is) {
  const auto& body = code.function->body;
  return std::any_of(body.begin(), body.end(), [&](const ir::Inst& inst) { return inst.kind == ir::ItemKind::inst && is(inst); });
}

}  // namespace

Detector::Detector(const Code& code, const Options& options)
    : code_(code),
      first_cluster_(next_cluster),
      fences_tensor_memory_(any_instruction(
          code, [](const ir::Inst& inst) { return isa::form(inst.form).row->effects.sync == isa::Sync::tensor_fence; })),
      writes_cluster_scope_(any_instruction(code,
                                            [](const ir::Inst& inst) {
                                              const isa::Form& form = isa::form(inst.form);
                                              if (form.row->effects.sync != isa::Sync::mbarrier) return false;
                                              const isa::Ordering order = isa::ordering(form, inst.choices);
                                              return order.scope_is_written && order.scope == isa::Scope::cluster &&
                                                     (order.releases || order.acquires);
                                            })),
      findings_(options) {}

void Detector::begin_cluster(Cluster& cluster) {
  std::unique_ptr<ClusterKnowledge>& knowledge = states_[&cluster];
  knowledge = std::make_unique<ClusterKnowledge>();
  knowledge->number = next_cluster.fetch_add(1);
  const std::size_t warps = cluster.blocks.front().warps.size();
  knowledge->warps.resize(cluster.blocks.size() * warps);
  knowledge->barriers.resize(cluster.blocks.size());
  knowledge->tensor.resize(cluster.blocks.size());
  knowledge->pair_allocations.resize(cluster.blocks.size());
  knowledge->reaches.resize(cluster.blocks.size());
  for (WarpState& warp : knowledge->warps) warp.agent = {knowledge->number, knowledge->agents++};
  for (Cta& block : cluster.blocks)
    for (Warp& warp : block.warps) {
      WarpState& mine = knowledge->warps[block.rank * warps + warp.index];
      const bool first_of_group = warp.index % 4 == 0;
      mine.wgmma = first_of_group ? Agent{knowledge->number, knowledge->agents++} : (&mine - 1)->wgmma;
      mine.tensor = {knowledge->number, knowledge->agents++};
      warp.races = this;
      warp.knowledge = &mine;
    }
}

const Detector::AccessWords& Detector::words(std::uint32_t item) {
  if (words_.size() <= item) words_.resize(code_.function->body.size());
  std::optional<AccessWords>& known = words_[item];
  if (!known) {
    const ir::Inst& inst = code_.function->body[item];
    const isa::Form& form = isa::form(inst.form);
    const isa::Effects& does = form.row->effects;
    known = AccessWords{.order = isa::ordering(form, inst.choices)};
    known->by_read_only_cache = form.traits.has(isa::Trait::load_read_only);
    if (known->order.strong) {
      known->is_volatile = does.volatile_ && does.sync != isa::Sync::access;
      known->updates = form.traits.has_any(isa::Trait::atomic | isa::Trait::reduction);
      known->width = static_cast<std::uint8_t>(isa::bits(form.type("type", inst.choices)) / 8);
    }
  }
  return *known;
}

const Cta* Detector::block_at(const Warp& warp, const std::byte* at) {
  const auto is_of = [&](const Cta& block) {
    return at >= block.shared.data() && at < block.shared.data() + block.shared.size();
  };
  if (is_of(*warp.cta)) return warp.cta;
  const std::vector<Cta>& blocks = warp.cta->cluster->blocks;
  const auto found = std::find_if(blocks.begin(), blocks.end(), is_of);
  return found == blocks.end() ? nullptr : &*found;
}

// A thread's own memory is nobody else's, and what nobody may store to cannot be raced for.
bool Detector::is_looked_at(const Warp& warp, const std::byte* at, std::uint64_t bytes) {
  if (at >= warp.cta->shared.data() && at < warp.cta->shared.data() + warp.cta->shared.size()) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (last_region_ == nullptr || !last_region_->contains(address, bytes))
    if (const MemoryRegion* found = warp.cta->launch->global.find(address, bytes, true)) last_region_ = found;
  if (last_region_ != nullptr && last_region_->contains(address, bytes)) return last_region_->writable;
  return is_shared(warp, at);
}

// ---- one access after the other

bool Detector::reaches(const Judge& judge, const Access& before, Clock Knowledge::* of) {
  const auto reached = [&](const Knowledge& knowledge) {
    return (knowledge.*of).reaches(before.agent, before.clock, before.lanes);
  };
  if (reached(*judge.known) || (judge.told != nullptr && reached(*judge.told))) return true;
  return judge.issue != nullptr && of == &Knowledge::happened && before.agent == judge.issue->owner &&
         judge.issue->own.reaches(before.clock, before.lanes);
}

bool Detector::in_order_of_warp(const Judge& judge, const Access& before, const Access& now) {
  const WarpState& warp = *judge.warp;
  if (before.clock < warp.together) return true;
  if ((now.lanes & ~warp.returned_to) == 0 && warp.returned.reaches(before.clock, before.lanes)) return true;
  // One lane has released, and the other acquired: a lock that lanes have in turn.
  if (reaches(judge, before, &Knowledge::happened)) return true;
  const bool shared = (before.lanes & now.lanes) != 0;
  // What a converged warp has loaded, it has: CUTLASS's stmatrix stores where its ldmatrix has loaded.
  const bool by_all = before.is_store && (before.by_all || now.by_all);
  const bool by_parts = (before.of_parts || now.of_parts) && !by_all;
  if (by_parts ? shared : before.lanes == now.lanes && (now.lanes & (now.lanes - 1)) == 0) return true;
  if (warp.have_met(before.lanes | now.lanes) && before.clock < warp.met_at[static_cast<std::size_t>(lowest_lane(now.lanes))])
    return true;
  // What lanes do at once to the same bytes is one instruction's doing (manual: "st": one of the values stays).
  return same_instruction(before, now);
}

bool Detector::among_strong(const Cluster& cluster, const Access& before, const Access& now) const {
  if (before.of_mbarrier && now.of_mbarrier && !before.is_store && (!now.invalidates || before.of_operation)) return true;
  if (!before.strong || !now.strong || are_mixed(before, now)) return false;
  // Lanes of a warp that rely on how it happens to run them.
  if (before.is_volatile && now.is_volatile && before.agent == now.agent) return false;
  const std::size_t warps = cluster.blocks.front().warps.size();
  const auto includes = [&](isa::Scope scope) {
    switch (scope) {
      case isa::Scope::cta:
        return before.agent.cluster == now.agent.cluster && before.warp / warps == now.warp / warps;
      case isa::Scope::cluster:
        return before.agent.cluster == now.agent.cluster;
      default:
        return true;
    }
  };
  return includes(before.scope) && includes(now.scope);
}

std::optional<Detector::Wrong> Detector::wrong(Warp& warp, const Judge& judge, const Access& before, const Access& now) const {
  if (!before.is_store && !now.is_store) return std::nullopt;
  if (before.is_store && now.is_store && !before.of_mbarrier && (before.of_what_is_there || now.of_what_is_there))
    return std::nullopt;  // they agree
  if (before.of_mbarrier && before.is_store && !before.invalidates && !now.of_mbarrier) return Wrong{Kind::barrier_misuse};
  if (among_strong(*warp.cta->cluster, before, now)) return std::nullopt;
  const bool unready = before.of_mbarrier && before.is_store && now.of_mbarrier;
  // Who ends an mbarrier may do so for its warp: libcu++ elects a lane by match.any.sync, which orders no memory.
  if (now.invalidates && before.of_mbarrier && !before.is_store) {
    const auto knows_of_warp = [&](const Knowledge* known) {
      const Extent* const extent = known == nullptr ? nullptr : known->happened.extent_of(before.agent);
      return extent != nullptr && before.clock <= std::max(extent->all, extent->some);
    };
    if (before.agent == now.agent || knows_of_warp(judge.known) || knows_of_warp(judge.told)) return std::nullopt;
    return Wrong{Kind::race};
  }
  if (judge.warp != nullptr && before.agent == now.agent) {
    if (in_order_of_warp(judge, before, now))
      return now.by_read_only_cache ? std::optional(Wrong{Kind::stale_load}) : std::nullopt;
    return Wrong{unready ? Kind::unordered_mbarrier : Kind::race_of_lanes};
  }
  // All lanes of a warp may begin one and the same copy, as CUTLASS has them do.
  if (judge.warp == nullptr && same_instruction(before, now) && before.warp == now.warp) return std::nullopt;
  if (!reaches(judge, before, &Knowledge::happened) && !(unready && reaches(judge, before, &Knowledge::mbarriers)))
    return Wrong{unready ? Kind::unordered_mbarrier : Kind::race};
  if (now.by_read_only_cache) return Wrong{Kind::stale_load};
  if (!before.through_async_proxy && now.through_async_proxy &&
      !reaches(judge, before, now.of_shared ? &Knowledge::through_proxy : &Knowledge::through_proxy_of_global))
    return Wrong{Kind::missing_proxy_fence, before.is_store ? Severity::error : Severity::warning};
  if (now.of_tensor_map) {
    const WarpState& mine = state(warp);
    const auto covered = [&](const Clock& by) { return by.reaches(before.agent, before.clock, before.lanes); };
    if (!covered(mine.behind_map_fence) && !(before.agent.cluster == now.agent.cluster && covered(mine.behind_near_map_fence)))
      return Wrong{Kind::missing_tensor_map_fence};
  }
  // An asynchronous operation may begin before what its thread has waited for, but for such a fence between the two.
  if (judge.behind_fence != nullptr && before.agent.number != now.warp &&
      !judge.behind_fence->reaches(before.agent, before.clock, before.lanes))
    return Wrong{Kind::missing_tensor_fence, Severity::warning};
  return std::nullopt;
}

void Detector::hold_against(Warp& warp, const Step& step, const Judge& judge, const Access& before, const Access& now,
                            const std::byte* at) {
  if ((before.bytes & now.bytes) == 0) return;
  if (const auto what = wrong(warp, judge, before, now)) found(warp, step, judge, what->kind, what->severity, before, now, at);
}

// ---- what accesses there are

Access Detector::access_by(Warp& warp, const Step& step, Mask lanes, bool is_store) {
  WarpState& mine = state(warp);
  if (std::exchange(mine.released, false)) ++mine.now;
  const AccessWords& says = words(step.item);
  Access access;
  access.agent = mine.agent;
  access.warp = mine.agent.number;
  access.clock = mine.now;
  access.item = step.item;
  access.lanes = lanes;
  access.is_store = is_store;
  access.strong = says.order.strong;
  access.scope = says.order.scope;
  access.is_volatile = says.is_volatile;
  access.updates = says.updates;
  access.width = says.width;
  access.by_read_only_cache = !is_store && says.by_read_only_cache;
  return access;
}

Detector::Judge Detector::judge_of(const WarpState& warp, Mask lanes) {
  const bool told = warp.told != nullptr && (lanes & ~warp.informed) == 0;
  return {&warp, &warp.known, told ? warp.told.get() : nullptr};
}

namespace {

// Lanes that lie in one line as by a swizzle, from `first` on: as many as n, and all of n places; 1 where they do not.
template <class At>
int exchanged_lanes(Mask left, int first, std::uint32_t bytes, At at) {
  const auto address = [&](int lane) { return reinterpret_cast<std::uintptr_t>(at(lane)); };
  if (!std::has_single_bit(bytes) || bytes < granule_bytes || bytes > line_bytes / 2 || address(first) % bytes != 0) return 1;
  const int most = std::min(static_cast<int>(line_bytes / bytes), lane_count - first);
  int count = 1;
  while (count < most && has_lane(left, first + count) &&
         (address(first + count) ^ address(first)) == static_cast<std::uintptr_t>(count) * bytes)
    ++count;
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(count)));
}

constexpr Mask lanes_from(int first, int count) { return (all_lanes >> (lane_count - count)) << first; }

}  // namespace

template <class At, class Look>
void Detector::touch_lanes(Warp& warp, const Step& step, Access access, Mask left, std::uint32_t bytes, At at, Look look) {
  while (left != 0) {
    const int first = lowest_lane(left);
    int end = first + 1;  // of the lanes that lie one behind the other
    while (end < lane_count && has_lane(left, end) && at(end) == at(end - 1) + bytes) ++end;
    if (const int count = exchanged_lanes(left, first, bytes, at); count > end - first) {
      const auto offset = reinterpret_cast<std::uintptr_t>(at(first)) % line_bytes;
      const std::size_t begin = offset - offset % (bytes * static_cast<std::size_t>(count));
      const std::byte* const line = at(first) - offset;
      const Cta* const block = block_at(warp, line + begin);
      if ((block == nullptr || block == warp.cta) &&
          is_looked_at(warp, line + begin, bytes * static_cast<std::uint64_t>(count))) {
        const std::uint32_t granules = bytes / granule_bytes;
        access.lanes = lanes_from(first, count);
        left &= ~access.lanes;
        const Spread spread{.first_lane = first,
                            .shift = static_cast<std::uint8_t>(std::countr_zero(granules)),
                            .flip = static_cast<std::uint8_t>(offset / bytes),
                            .by_lane = true};
        const std::uint32_t all = granules * static_cast<std::uint32_t>(count);
        const std::uint32_t where = (all == line_granules ? ~0u : (1u << all) - 1) << (begin / granule_bytes);
        touch_line(warp, step, look(access.lanes), access, line, where, spread);
        continue;
      }
    }
    const bool looked_at = is_looked_at(warp, at(first), bytes);
    while (end > first + 1 && is_looked_at(warp, at(end - 1), bytes) != looked_at) --end;  // another tensor begins there
    access.lanes = lanes_from(first, end - first);
    left &= ~access.lanes;
    if (!looked_at) continue;
    const std::uint64_t all = std::uint64_t{bytes} * static_cast<std::uint64_t>(end - first);
    if (end == first + 1)
      touch(warp, step, look(access.lanes), access, at(first), bytes);
    else
      touch(warp, step, look(access.lanes), access, at(first), all,
            {at(first) - static_cast<std::ptrdiff_t>(bytes) * first, bytes});
  }
}

void Detector::access(Warp& warp, const Step& step, Mask lanes, bool is_store, std::uint32_t bytes,
                      const std::array<Place, lane_count>& places, Mask same) {
  const auto at = [&](int lane) { return places[static_cast<std::size_t>(lane)].data; };
  if (!is_store && lanes == all_lanes &&
      std::all_of(places.begin(), places.end(), [&](const Place& place) { return place.data == at(0); })) {
    return load_together(warp, step, at(0), bytes);
  }
  Access access = access_by(warp, step, lanes, is_store);
  const auto look = [&](Mask some) { return judge_of(state(warp), some); };
  const auto touch_of = [&](Mask some) { touch_lanes(warp, step, access, some, bytes, at, look); };
  touch_of(lanes & ~same);  // what is told of these counts for the others, too
  access.of_what_is_there = true;
  touch_of(lanes & same);
}

void Detector::access_in_order(Warp& warp, const Step& step, bool is_store, std::uint32_t bytes, const std::byte* first) {
  const std::uint64_t all = std::uint64_t{bytes} * lane_count;
  if (!is_looked_at(warp, first, all)) return;
  touch(warp, step, judge_of(state(warp), all_lanes), access_by(warp, step, all_lanes, is_store), first, all, {first, bytes});
}

void Detector::access_together(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint32_t bytes) {
  if (!is_looked_at(warp, at, bytes)) return;
  Access access = access_by(warp, step, warp.live, is_store);
  access.of_parts = true;
  touch(warp, step, judge_of(state(warp), warp.live), access, at, bytes);
}

void Detector::access_rows(Warp& warp, const Step& step, bool is_store, Mask lanes, const std::array<Place, lane_count>& places) {
  constexpr std::size_t row_bytes = 16;
  constexpr std::uint32_t row = (1u << (row_bytes / granule_bytes)) - 1;
  struct Part {
    const std::byte* line = nullptr;
    std::uint32_t where = 0;
  };
  std::array<Part, lane_count> parts;  // several rows lie in one line
  std::size_t count = 0;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const std::byte* const at = places[static_cast<std::size_t>(lowest_lane(left))].data;
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % line_bytes;
    const std::byte* const line = at - offset;
    auto* const end = parts.begin() + count;
    auto* const known = std::find_if(parts.begin(), end, [&](const Part& part) { return part.line == line; });
    if (known == end) parts[count++].line = line;
    known->where |= row << (offset / granule_bytes);
  }
  Access access = access_by(warp, step, warp.live, is_store);
  access.of_parts = access.by_all = true;
  const Judge judge = judge_of(state(warp), warp.live);
  for (std::size_t i = 0; i < count; ++i) touch_line(warp, step, judge, access, parts[i].line, parts[i].where);
}

void Detector::access_by_all(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint32_t bytes) {
  if (!is_looked_at(warp, at, bytes)) return;
  Access access = access_by(warp, step, warp.live, is_store);
  access.of_parts = access.by_all = true;
  touch(warp, step, judge_of(state(warp), warp.live), access, at, bytes);
}

void Detector::access_of_tensor_map(Warp& warp, const Step& step, int lane, const std::byte* at) {
  constexpr std::uint64_t map_bytes = 128;
  if (!is_looked_at(warp, at, map_bytes)) return;
  const Mask lanes = Mask{1} << lane;
  Access access = access_by(warp, step, lanes, false);
  access.strong = false;
  access.of_tensor_map = true;
  Knowledge known;
  publish(warp, state(warp), lanes, known);
  touch(warp, step, {nullptr, &known, nullptr}, access, at, map_bytes);
}

Access Detector::access_by(const Issue& issue, bool is_store) {
  Access access;
  access.agent = is_store || issue.reading.cluster == 0 ? issue.agent : issue.reading;
  access.warp = issue.warp;
  access.clock = issue.clock;
  access.item = issue.item;
  access.lanes = issue.lanes;
  access.is_store = is_store;
  access.through_async_proxy = issue.through_async_proxy;
  access.strong = access.updates = issue.reduces;
  access.scope = isa::Scope::gpu;  // manual: "cp.reduce.async.bulk": each reduction is relaxed at this scope
  return access;
}

Detector::Judge Detector::judge_of(const WarpState& warp, const Issue& issue) const {
  const Clock* const behind = issue.of_tensor_cores && fences_tensor_memory_ ? &warp.before_tensor_fence : nullptr;
  return {nullptr, issue.known.get(), nullptr, behind, &issue};
}

void Detector::collect(bool is_store, const std::byte* at, std::uint64_t bytes) {
  Collected& all = collected_[is_store ? 1 : 0];
  all.at[static_cast<std::size_t>(collecting_)] = at;
  all.bytes[static_cast<std::size_t>(collecting_)] = static_cast<std::uint32_t>(bytes);
  all.lanes |= Mask{1} << collecting_;
}

void Detector::look_at_collected(Warp& warp, const Step& step) {
  collecting_ = -1;
  const Issue& issue = *state(warp).operation;
  for (const bool is_store : {true, false}) {
    const Collected all = std::exchange(collected_[is_store ? 1 : 0], {});
    const auto at = [&](int lane) { return all.at[static_cast<std::size_t>(lane)]; };
    Issue one = issue;
    // Of several lanes what each of them did before is known to it alone: such an access is looked at lane by lane.
    const auto look = [&](Mask lanes) {
      seen_in_order_ = 0;
      const bool alone = (lanes & (lanes - 1)) == 0;
      if (alone) one.own = own_extent(state(warp), warp.live, lanes);
      return judge_of(state(warp), alone ? one : issue);
    };
    for (Mask left = all.lanes; left != 0;) {
      const std::uint32_t bytes = all.bytes[static_cast<std::size_t>(lowest_lane(left))];
      const Mask alike = left & lanes_where([&](int lane) { return all.bytes[static_cast<std::size_t>(lane)] == bytes; });
      left &= ~alike;
      Access access = access_by(issue, is_store);
      access.of_shared = is_shared(warp, at(lowest_lane(alike)));
      touch_lanes(warp, step, access, alike, bytes, at, look);
    }
  }
}

void Detector::access_of_operation(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint64_t bytes) {
  const Issue* const issue = state(warp).operation;
  if (issue == nullptr || !is_looked_at(warp, at, bytes)) return;
  if (collecting_ >= 0) return collect(is_store, at, bytes);
  if (!is_store) note_read_of_pair(warp, *issue, at);
  if (bytes >= sheet_bytes && is_shared(warp, at)) {
    flush_operation();
    Access access = access_by(*issue, is_store);
    access.of_shared = true;
    const Judge judge = judge_of(state(warp), *issue);
    const std::uint64_t before = (sheet_bytes - reinterpret_cast<std::uintptr_t>(at) % sheet_bytes) % sheet_bytes;
    if (before != 0) touch(warp, step, judge, access, at, before);
    at += before, bytes -= before;
    const std::size_t sheets = bytes / sheet_bytes, all = sheets * sheet_bytes;
    if (is_last_word(access))
      store_sheets(warp, step, judge, access, at, sheets);
    else
      for (std::size_t i = 0; i < sheets; ++i) touch_sheet(warp, step, judge, access, at + i * sheet_bytes, whole_sheet);
    at += all, bytes -= all;
    if (bytes != 0) touch(warp, step, judge, access, at, bytes);
    return;
  }
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(at) % line_bytes;
  if (offset % granule_bytes != 0 || bytes % granule_bytes != 0 || bytes == 0 || offset + bytes > line_bytes) {
    flush_operation();
    Access access = access_by(*issue, is_store);
    access.of_shared = is_shared(warp, at);
    touch(warp, step, judge_of(state(warp), *issue), access, at, bytes);
    return;
  }
  const std::uint32_t where = bytes == line_bytes ? ~0u : ((1u << (bytes / granule_bytes)) - 1) << (offset / granule_bytes);
  const bool goes_on = pending_.issue == issue && pending_.step == &step && pending_.warp == &warp &&
                       pending_.line == at - offset && pending_.is_store == is_store;
  if (!goes_on) {
    flush_operation();
    pending_ = {&warp, &step, issue, at - offset, 0, is_store};
  }
  pending_.where |= where;
}

void Detector::flush_operation() {
  if (pending_.issue == nullptr) return;
  const Pending now = std::exchange(pending_, {});
  Access access = access_by(*now.issue, now.is_store);
  // (the line may begin before the block's memory does)
  access.of_shared = is_shared(*now.warp, now.line + granule_bytes * static_cast<std::size_t>(std::countr_zero(now.where)));
  touch_line(*now.warp, *now.step, judge_of(state(*now.warp), *now.issue), access, now.line, now.where);
}

void Detector::access_line_of_operation(Warp& warp, const Step& step, const std::byte* line, std::uint32_t where) {
  const Issue* const issue = state(warp).operation;
  flush_operation();
  if (issue == nullptr) return;
  Access access = access_by(*issue, false);
  access.of_shared = true;
  note_read_of_pair(warp, *issue, line + granule_bytes * static_cast<std::size_t>(std::countr_zero(where)));
  touch_line(warp, step, judge_of(state(warp), *issue), access, line, where);
}

void Detector::access_sheets_of_operation(Warp& warp, const Step& step, const std::byte* pattern,
                                          std::span<const PartOfSheet> parts, std::uint64_t number) {
  constexpr std::size_t few = 4;  // sheets, of which nobody need remember anything
  const Issue* const issue = state(warp).operation;
  flush_operation();
  if (issue == nullptr) return;
  Access access = access_by(*issue, false);
  access.of_shared = true;
  note_read_of_pair(warp, *issue, pattern + parts.front().sheet * sheet_bytes);
  const Judge judge = judge_of(state(warp), *issue);
  ReadSheets* const before =
      parts.size() < few
          ? nullptr
          : &read_sheets_[(reinterpret_cast<std::uintptr_t>(pattern) / sheet_bytes + number * 5 + access.agent.number) %
                          read_sheets_.size()];
  if (before != nullptr && before->pattern == pattern && before->number == number && reads_again(warp, judge, *before, access))
    return;
  std::vector<Access> found;
  finds_stores_ = before == nullptr ? nullptr : &found;
  const std::vector<PartOfSheet>* const kept = kept_parts(parts, number);
  for (std::size_t i = 0; i < parts.size();) {
    const std::size_t taken = read_as_blanket(warp, judge, access, pattern, parts.subspan(i), kept);
    if (taken == 0) touch_sheet(warp, step, judge, access, pattern + parts[i].sheet * sheet_bytes, parts[i].where);
    i += std::max<std::size_t>(taken, 1);
  }
  if (before != nullptr && finds_stores_ != nullptr) *before = {pattern, number, stores_, access, std::move(found)};
  finds_stores_ = nullptr;
}

// Whether an operation reads what another warp of its group has noted already, and is behind all that was stored there.
bool Detector::reads_again(Warp& warp, const Judge& judge, const ReadSheets& before, const Access& now) {
  return before.stores == stores_ && same_instruction(before.access, now) && before.access.lanes == now.lanes &&
         std::none_of(before.found.begin(), before.found.end(),
                      [&](const Access& store) { return is_wrong(warp, judge, store, now); });
}

}  // namespace ptx::vgpu::races
