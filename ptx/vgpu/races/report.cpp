// What is said of two accesses that nothing orders.
#include <algorithm>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/cluster.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu::races {
namespace {

// "stores", "loads", as its instruction does it.
std::string_view verb(const Access& access) {
  if (access.invalidates) return "invalidates";
  if (access.of_mbarrier) return access.is_store ? "initialises" : "operates on";
  return access.is_store ? "stores" : "loads";
}

// Where the bytes are, as a reader finds them.
struct Spot {
  std::string memory;
  std::uint64_t offset = 0;  // of shared memory the address
  std::string space;
  std::string element;  // "x[3, 17]", "tile + 0x10"; empty where the region has no such names
};
Spot spot_of(const Warp& warp, const std::byte* at) {
  for (const Cta& block : warp.cta->cluster->blocks)
    if (at >= block.shared.data() && at < block.shared.data() + block.shared.size()) {
      const auto offset = static_cast<std::uint64_t>(at - block.shared.data()) + block.shared_region.begin % cluster_part;
      return {&block == warp.cta ? std::string("shared memory") : cat("the shared memory of ", say_block(block)), offset,
              "shared", offset < shared_base ? std::string() : element_of_shared(warp.cta->launch->code, offset - shared_base)};
    }
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const MemoryRegion* const region = warp.cta->launch->global.find(address, 1, false);
  if (region == nullptr) return {"memory", address, "global", {}};
  return {std::string(region->name), address - region->begin, "global", element_of(*region, address)};
}

std::string say_bytes(const Spot& spot, const Access& access) {
  const std::uint64_t first = spot.offset / 4 * 4 + static_cast<std::uint64_t>(std::countr_zero(unsigned{access.bytes}));
  const auto count = static_cast<std::uint64_t>(std::popcount(unsigned{access.bytes}));
  const std::string which = spot.element.empty() ? std::string() : cat(" (`", spot.element, "`)");
  if (spot.space == "shared") return cat("shared address 0x", hex(first), which);
  if (!which.empty()) return cat('`', spot.element, '`');
  return count == 1 ? cat("byte ", first, " of ", spot.memory)
                    : cat("bytes ", first, " to ", first + count - 1, " of ", spot.memory);
}

// "lane 3 of warp 1", "warp 1", and whose block that is where it is another one's.
std::string say_threads(const Warp& warp, const Access& access) {
  const std::size_t warps = warp.cta->cluster->blocks.front().warps.size();
  const std::size_t rank = access.warp / warps, index = access.warp % warps;
  std::string who = (access.lanes & (access.lanes - 1)) == 0 ? cat("lane ", lowest_lane(access.lanes), " of warp ", index)
                                                             : cat("warp ", index);
  if (access.agent.cluster != warp.knowledge->agent.cluster) return cat(who, " of another block");
  return rank == warp.cta->rank ? who : cat(who, " of ", say_block(warp.cta->cluster->blocks[rank]));
}

struct Words {
  std::string message, hint;
};

Words words_of(Rule rule, const Warp& warp, const Access& before, const Access& now, const std::string& bytes,
               const std::string& other) {
  const std::string does = cat(now.through_async_proxy ? "asynchronously " : "", verb(now), " ", bytes);
  const std::string did = cat(say_threads(warp, before), " ", verb(before), before.through_async_proxy ? " asynchronously" : "",
                              " there by `", other, "`");
  const Kind kind = row(rule).kind;
  if (kind == Kind::missing_proxy_fence)
    return {
        cat(does, ", which ", did, ": no fence.proxy.async stands between the two"),
        "fence.proxy.async in the threads of the first access before they arrive at the barrier, or in the thread of the second "
        "one behind it"};
  if (kind == Kind::missing_tensor_fence)
    return {cat(does, ", which ", did, ": no tcgen05.fence::after_thread_sync stands between what orders the two and this"),
            "tcgen05.fence::after_thread_sync behind the wait"};
  if (kind == Kind::missing_tensor_map_fence)
    return {cat("uses a tensor map at ", bytes, ", which ", did, ": no fence.proxy.tensormap stands between the two"),
            std::string(row(rule).mend)};
  std::string hint(row(rule).mend);
  if (kind == Kind::stale_load) return {cat(does, " through the read-only cache, which may not have what ", did), hint};
  if (rule == Rule::M_03) return {cat(does, ", where an mbarrier is in use, which ", did), hint};
  const bool has_way = rule == Rule::S_01 || rule == Rule::S_02;
  if (kind == Kind::unordered_mbarrier) return {cat(does, ", and nothing orders that behind its initialisation: ", did), hint};
  if (kind == Kind::race_of_lanes) return {cat(does, ", and nothing orders that behind what ", did), hint};
  if (has_way) return {cat(does, ", and nothing orders that behind what ", did), hint};
  if (before.agent.cluster != now.agent.cluster)
    hint = "blocks are ordered by .release and .acquire at scope gpu alone, or by the end of a grid";
  else if (before.agent.number != before.warp)
    hint = "a wait for the operation: for its group (wait_group), or at its mbarrier, before the second access";
  return {cat(does, ", and nothing orders that behind what ", did), hint};
}

Rule rule_of(Kind kind, const Access& before, const Access& now, const std::optional<Gap>& gap) {
  if (kind == Kind::missing_proxy_fence) return before.is_store ? Rule::P_01 : Rule::P_02;
  if (kind == Kind::barrier_misuse) return Rule::M_03;
  if (gap) return (gap->lacks & Gap::scope) != 0 ? Rule::S_02 : Rule::S_01;
  if (kind == Kind::race) return before.is_store ? (now.is_store ? Rule::R_ww : Rule::R_wr) : Rule::R_rw;
  return *usual_rule(kind);
}

std::string_view proxy_of(const Access& access) { return access.through_async_proxy ? "async" : "generic"; }

ExecutionPoint::Access access_at(const Access& access, const Spot& spot) {
  return {.is_store = access.is_store,
          .address = spot.offset,
          .bytes = static_cast<std::uint64_t>(std::popcount(unsigned{access.bytes})),
          .space = spot.space,
          .region = spot.memory,
          .element = spot.element,
          .proxy = std::string(proxy_of(access))};
}

// What is missing between the two, of the ways in which the threads have met since.
std::string say_order(Rule rule, const Warp& warp, const Access& before, const Access& now) {
  if (row(rule).kind == Kind::missing_proxy_fence || row(rule).kind == Kind::missing_tensor_map_fence)
    return "order: the second access is behind the first, by a barrier or a wait; what is missing on that path is a fence of the "
           "proxy of the second";
  if (are_mixed(before, now))
    return cat("order: both are strong, but of ", before.width, " and of ", now.width,
               " bytes: only accesses of one size may meet without an order");
  if (before.agent.cluster != now.agent.cluster)
    return "order: none: the two are in different clusters, and no release and acquire leads from one to the other";
  const Knowledge& known = warp.knowledge->known;
  const bool met =
      known.happened.reaches(before.agent, 1, before.lanes) || known.mbarriers.reaches(before.agent, 1, before.lanes);
  if (before.agent.number != before.warp)
    return met ? "order: a wait has seen operations of the same kind complete, and not this one; what is missing is a wait for it"
               : "order: none: no wait has seen the operation of the first access complete";
  return met ? "order: the two have met by a barrier or a wait before the first access; what is missing is one behind it"
             : "order: none: no barrier and no wait leads from the first access to the second";
}

}  // namespace

std::optional<Gap> Detector::gap_between(const Warp& warp, const Judge& judge, const Access& before, const Access& now) {
  if (are_mixed(before, now)) return std::nullopt;
  if (before.strong && now.strong) return Gap{Gap::scope, before.item, now.item};
  for (const Knowledge* const known : {judge.known, judge.told})
    if (known != nullptr)
      if (const Gap* const gap = known->gap_before(before.agent, before.clock, before.lanes)) return *gap;
  for (const Told& told : state(warp).heard)
    if (told.known.happened.reaches(before.agent, before.clock, before.lanes)) return Gap{Gap::acquire, told.item, told.item};
  return std::nullopt;
}

// Which way it is, and what is missing on it.
std::string Detector::say_gap(const Warp& warp, const Gap& gap, const Access& before, const Access& now) const {
  const std::size_t warps = warp.cta->cluster->blocks.front().warps.size();
  const bool same_cluster = before.agent.cluster == now.agent.cluster;
  const std::string_view scope = !same_cluster ? ".gpu" : before.warp / warps == now.warp / warps ? ".cta" : ".cluster";
  const auto end = [&](std::uint32_t item) {
    const std::uint32_t line = code_.ptx_line(item);
    return cat('`', code_.spell(item), '`', line == 0 ? std::string() : cat(" (line ", line, ')'));
  };
  if (gap.from == before.item && gap.to == now.item && before.strong && now.strong)
    return cat(
        "order: both are strong, and the scope of one does not include the other's thread; what is missing is a scope of at "
        "least ",
        scope, " at both");
  const std::string from = end(gap.from), to = end(gap.to);
  std::string missing;
  const auto lacks = [&](Gap::Lack what, const std::string& words) {
    if ((gap.lacks & what) != 0) missing += cat(missing.empty() ? "" : "; ", words);
  };
  lacks(Gap::release, cat(".release at ", from, ", or a fence of scope ", scope, " before it"));
  lacks(Gap::acquire, gap.from == gap.to ? cat(".acquire where it is read, or a fence of scope ", scope, " behind that")
                                         : cat(".acquire at ", to, ", or a fence of scope ", scope, " behind it"));
  lacks(Gap::scope, cat("a scope of at least ", scope, gap.from == gap.to ? "" : " at both"));
  return cat("order: a way leads from the first access to the second by ", from, gap.from == gap.to ? "" : cat(" and ", to),
             "; what is missing on it is ", missing);
}

ExecutionPoint Detector::point_before(const Warp& warp, const Access& access, ExecutionPoint::Access what) const {
  const auto& blocks = warp.cta->cluster->blocks;
  const std::size_t warps = blocks.front().warps.size();
  ExecutionPoint point{.kernel = code_.name,
                       .instruction = code_.spell(access.item),
                       .ptx_line = code_.ptx_line(access.item),
                       .warp = static_cast<std::uint32_t>(access.warp % warps),
                       .lane = static_cast<std::uint32_t>(lowest_lane(access.lanes)),
                       .lanes = access.lanes,
                       .where = code_.where(access.item),
                       .access = std::move(what)};
  const std::uint32_t thread = point.warp * lane_count + point.lane;
  const auto& shape = warp.cta->launch->config.block;
  point.thread = {thread % shape[0], thread / shape[0] % shape[1], thread / shape[0] / shape[1]};
  if (access.agent.cluster != warp.knowledge->agent.cluster) return point;
  const Cta& block = blocks[access.warp / warps];
  point.block = block.id;
  if (blocks.size() > 1) point.rank = block.rank;
  return point;
}

Diagnostic Detector::report_both(const Warp& warp, const Fault& fault, Severity severity, const Access& before,
                                 ExecutionPoint::Access was) const {
  Diagnostic d = report(warp, fault);
  d.severity = severity;
  if (const SourceLocation where = code_.where(before.item); where.line != 0) d.place("first", where);
  d.note(cat("first: ", code_.line(before.item)));
  add_debug_places(code_, before.item, d);
  d.execution.push_back(point_before(warp, before, std::move(was)));
  return d;
}

void Detector::found(Warp& warp, const Step& step, const Judge& judge, Kind kind, Severity severity, const Access& before,
                     const Access& now, const std::byte* at) {
  const std::optional<Gap> gap = kind == Kind::race ? gap_between(warp, judge, before, now) : std::nullopt;
  const Rule rule = rule_of(kind, before, now, gap);
  const Findings::Key key(rule, before.item, now.item);
  const bool changes_nothing = before.of_what_is_there || now.of_what_is_there;
  if (!findings_.is_new(key, changes_nothing)) return;
  const Spot spot = spot_of(warp, at);
  Access both = now;
  both.bytes &= before.bytes;
  const Words words = words_of(rule, warp, before, now, say_bytes(spot, both), code_.spell(before.item));
  Fault fault;
  fault.kind = kind;
  fault.rule = rule;
  fault.message = words.message;
  fault.item = step.item;
  fault.lane = lowest_lane(now.lanes);
  fault.access = access_at(both, spot);
  Diagnostic d = report_both(warp, fault, changes_nothing ? Severity::warning : severity, before, access_at(before, spot));
  if (changes_nothing) d.note("value: what is stored is there already; that it is so in this run is all that hides this");
  if (kind != Kind::stale_load && kind != Kind::barrier_misuse)
    d.note(gap ? say_gap(warp, *gap, before, now) : say_order(rule, warp, before, now));
  d.hint(words.hint);
  d.execution.front().lanes = now.lanes;
  findings_.add(key, std::move(d));
}

void Detector::store_unlike(Warp& warp, const Step& step, Mask lanes, std::uint32_t bytes, const Place& place) {
  if (!is_looked_at(warp, place.data, bytes)) return;
  const Findings::Key key(Rule::W_02, step.item, step.item);
  if (!findings_.is_new(key)) return;
  const Spot spot = spot_of(warp, place.data);
  Access access;
  access.is_store = true;
  access.bytes = (1u << granule_bytes) - 1;
  Fault fault = fault_of(Rule::W_02, step.item, lowest_lane(lanes));
  fault.message = cat("stores different values to ", spot.element.empty() ? say_bytes(spot, access) : cat('`', spot.element, '`'),
                      " in ", std::popcount(lanes), " lanes: which of them stays is not defined");
  fault.access = access_at(access, spot);
  fault.access->bytes = bytes;
  Diagnostic d = report(warp, fault);
  d.severity = row(Rule::W_02).severity;
  d.hint(row(Rule::W_02).mend);
  d.execution.front().lanes = lanes;
  findings_.add(key, std::move(d));
}

void Detector::suspect(Warp& warp, const Step& step, Rule rule, int lane, std::string message) {
  const Findings::Key key(rule, step.item, step.item);
  if (!findings_.is_new(key)) return;
  Fault fault = fault_of(rule, step.item, lane);
  fault.message = std::move(message);
  Diagnostic d = report(warp, fault);
  d.severity = Severity::warning;
  d.hint(row(rule).mend);
  findings_.add(key, std::move(d));
}

// All warps of a warpgroup have met between one of their setmaxnreg and the next (manual: "setmaxnreg").
void Detector::set_registers(Warp& warp, const Step& step) {
  constexpr std::size_t warps_of_group = 4;
  WarpState& mine = state(warp);
  const std::size_t number = mine.registers_set.size(), first = warp.index / warps_of_group * warps_of_group;
  mine.registers_set.push_back(access_by(warp, step, warp.live, true));
  const std::vector<Warp>& warps = warp.cta->warps;
  for (std::size_t w = first; w < std::min(first + warps_of_group, warps.size()); ++w) {
    const std::vector<Access>& others = state(warps[w]).registers_set;
    const bool went_on = others.size() > number + 1;  // without this one
    const bool is_unknown = number != 0 && w != warp.index && others.size() >= number &&
                            !reaches(judge_of(mine, warp.live), others[number - 1], &Knowledge::happened);
    if (!went_on && !is_unknown) continue;
    const Access apart = others[went_on ? number + 1 : number - 1];
    const Findings::Key key(Rule::V_07, std::min(apart.item, step.item), std::max(apart.item, step.item));
    if (!findings_.is_new(key)) return;
    Fault fault = fault_of(Rule::V_07, step.item);
    fault.message = cat("sets the registers of its warpgroup, and nothing orders that ", went_on ? "before" : "behind",
                        " what warp ", w, " sets by `", code_.spell(apart.item), "`");
    Diagnostic d = report_both(warp, fault, row(Rule::V_07).severity, apart, {.is_store = true, .space = "registers"});
    d.hint(row(Rule::V_07).mend);
    findings_.add(key, std::move(d));
    return;
  }
}

// ---- what must have happened before a block ends

void Detector::note_reach(const Cta& block, const Access& now) {
  constexpr std::size_t most = 256;
  std::vector<Access>& all = state(*block.cluster).reaches[block.rank];
  // Who knows of the later one knows of what the same lanes have done before.
  const auto same = std::find_if(all.rbegin(), all.rend(), [&](const Access& other) {
    return other.agent == now.agent && (other.clock == now.clock || (other.lanes & ~now.lanes) == 0);
  });
  if (same == all.rend()) {
    if (all.size() < most) all.push_back(now);
    return;
  }
  const Mask lanes = same->clock == now.clock ? same->lanes | now.lanes : now.lanes;
  *same = now;
  same->lanes = lanes;
}

// A product of a pair reads the other block's matrices.
void Detector::note_read_of_pair(const Warp& warp, const Issue& issue, const std::byte* at) {
  if (!issue.of_tensor_cores) return;
  if (const Cta* const block = block_at(warp, at); block != nullptr && block != warp.cta)
    note_reach(*block, access_by(issue, false));
}

// A block is there while any of its threads is: one that knows of the access, however weak what told it is.
void Detector::end_before(const Cta& block, const Access& reach) {
  const auto knows = [&](const Knowledge& known) {
    return known.happened.reaches(reach.agent, reach.clock, reach.lanes) ||
           known.gap_before(reach.agent, reach.clock, reach.lanes) != nullptr;
  };
  const auto has_seen = [&](const Warp& warp) {
    const WarpState& mine = state(warp);
    return reach.agent == mine.agent || knows(mine.known) || (mine.told != nullptr && knows(*mine.told)) ||
           std::any_of(mine.heard.begin(), mine.heard.end(), [&](const Told& told) { return knows(told.known); });
  };
  if (std::any_of(block.warps.begin(), block.warps.end(), has_seen)) return;
  const std::size_t warps = block.warps.size();
  Cta& by = block.cluster->blocks[reach.warp / warps];
  const bool is_own = by.rank == block.rank, copies = reach.agent.number != reach.warp;
  const Rule rule = is_own ? Rule::Y_04 : Rule::C_03;
  const Findings::Key key(rule, reach.item, reach.item);
  if (!findings_.is_new(key)) return;
  Fault fault = fault_of(rule, reach.item, lowest_lane(reach.lanes));
  const std::string whose = is_own ? std::string("the block") : say_block(block);
  const bool of_pair = copies && !reach.is_store && !is_own && !reach.of_mbarrier;
  fault.message = of_pair ? cat("may still read the shared memory of ", whose, " when it ends: nobody there has waited for it")
                  : copies
                      ? cat("may still store to the shared memory of ", whose, " when it ends: nobody there has waited for it")
                      : cat("accesses the shared memory of ", whose, ", and nothing orders that before it ends");
  Diagnostic d = report(by.warps[reach.warp % warps], fault);
  d.severity = row(rule).severity;
  d.hint(is_own ? row(rule).mend
                : std::string_view("barrier.cluster.arrive and barrier.cluster.wait of both behind it, or a wait at an mbarrier "
                                   "that it is told to, before the block ends"));
  findings_.add(key, std::move(d));
}

void Detector::end_block(Cta& cta) {
  for (const Access& reach : state(*cta.cluster).reaches[cta.rank]) end_before(cta, reach);
  for (const Warp& warp : cta.warps) {
    const WarpState& mine = state(warp);
    const auto copies = mine.streams.find(async::Group::copies);
    if (copies == mine.streams.end()) continue;
    const Stream& of = copies->second;
    const std::uint32_t last = *std::max_element(of.last.begin(), of.last.end());
    Access one;
    one.agent = of.agent, one.warp = mine.agent.number, one.item = of.item, one.clock = last;
    one.lanes = lanes_where([&](int l) { return last != 0 && of.last[static_cast<std::size_t>(l)] == last; });
    if (one.lanes != 0) end_before(cta, one);
  }
  for (Warp& warp : cta.warps) {
    const auto bulk = state(warp).streams.find(async::Group::bulk);
    if (bulk == state(warp).streams.end()) continue;
    const Stream& of = bulk->second;
    const Mask unfinished =
        lanes_where([&](int l) { return of.last[static_cast<std::size_t>(l)] > of.waited_for[static_cast<std::size_t>(l)]; });
    const Findings::Key key(Rule::Y_03, of.item, of.item);
    if (unfinished == 0 || !findings_.is_new(key)) continue;
    Fault fault;
    fault.kind = Kind::unfinished_copy;
    fault.message = "may still read the block's shared memory when the block ends: its thread has not waited for it";
    fault.item = of.item;
    fault.lane = lowest_lane(unfinished);
    Diagnostic d = report(warp, fault);
    d.severity = Severity::warning;
    d.hint(row(Rule::Y_03).mend);
    findings_.add(key, std::move(d));
  }
}

}  // namespace ptx::vgpu::races
