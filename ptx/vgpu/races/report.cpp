// What is said of two accesses that nothing orders.
#include <algorithm>

#include "ptx/vgpu/cluster.hpp"
#include "ptx/vgpu/code.hpp"
#include "ptx/vgpu/races/detector.hpp"
#include "ptx/vgpu/report.hpp"
#include "ptx/vgpu/waiting.hpp"

namespace ptx::vgpu::races {
namespace {

constexpr std::size_t most_findings = 100;  // different ones

// "stores", "loads", as its instruction does it.
std::string_view verb(const Access& access) {
  if (access.of_mbarrier) return access.is_store ? "initialises" : "operates on";
  return access.is_store ? "stores" : "loads";
}

// Where the bytes are, as a reader finds them.
struct Spot {
  std::string memory;
  std::uint64_t offset = 0;
  std::string space;
};
Spot spot_of(const Warp& warp, const std::byte* at) {
  for (const Cta& block : warp.cta->cluster->blocks)
    if (at >= block.shared.data() && at < block.shared.data() + block.shared.size()) {
      const auto offset = static_cast<std::uint64_t>(at - block.shared.data()) + block.shared_region.begin % cluster_part;
      return {&block == warp.cta ? std::string("shared memory") : cat("the shared memory of ", say_block(block)), offset,
              "shared"};
    }
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const MemoryRegion* const region = warp.cta->launch->global.find(address, 1, false);
  if (region == nullptr) return {"memory", address, "global"};
  return {std::string(region->name), address - region->begin, "global"};
}

std::string say_bytes(const Spot& spot, const Access& access) {
  const std::uint64_t first = spot.offset / 4 * 4 + static_cast<std::uint64_t>(std::countr_zero(unsigned{access.bytes}));
  const auto count = static_cast<std::uint64_t>(std::popcount(unsigned{access.bytes}));
  if (spot.space == "shared") return cat("shared address 0x", hex(first));
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
  std::string_view rule;
  std::string message, hint;
};

Words words_of(Kind kind, const Warp& warp, const Access& before, const Access& now, const std::string& bytes,
               const std::string& other) {
  const std::string does = cat(now.through_async_proxy ? "asynchronously " : "", verb(now), " ", bytes);
  const std::string did = cat(say_threads(warp, before), " ", verb(before), before.through_async_proxy ? " asynchronously" : "",
                              " there by `", other, "`");
  if (kind == Kind::missing_proxy_fence)
    return {
        before.is_store ? "P-01" : "P-02", cat(does, ", which ", did, ": no fence.proxy.async stands between the two"),
        "fence.proxy.async in the threads of the first access before they arrive at the barrier, or in the thread of the second "
        "one behind it"};
  if (kind == Kind::missing_tensor_fence)
    return {"K-06",
            cat(does, ", which ", did, ": no tcgen05.fence::after_thread_sync stands between what orders the two and this"),
            "tcgen05.fence::after_thread_sync behind the wait"};
  if (kind == Kind::missing_tensor_map_fence)
    return {"P-03", cat("uses a tensor map at ", bytes, ", which ", did, ": no fence.proxy.tensormap stands between the two"),
            "fence.proxy.tensormap::generic.release behind the stores, and fence.proxy.tensormap::generic.acquire of the map's "
            "128 bytes before the copy; or tensormap.cp_fenceproxy for the first"};
  if (kind == Kind::unordered_mbarrier)
    return {"M-10", cat(does, ", and nothing orders that behind its initialisation: ", did),
            "a barrier (bar.sync; of the cluster, behind fence.mbarrier_init, where other blocks use it) behind mbarrier.init"};
  const std::string_view order = before.is_store ? (now.is_store ? "R-ww" : "R-wr") : "R-rw";
  if (kind == Kind::race_of_lanes)
    return {"W-01", cat(does, ", and nothing orders that behind what ", did),
            "bar.warp.sync between the two: lanes of a warp need not run in step"};
  std::string hint = "bar.sync, or an arrival and a wait at an mbarrier, between the two";
  if (before.agent.cluster != now.agent.cluster)
    hint = "blocks are ordered by .release and .acquire at scope gpu alone, or by the end of a grid";
  else if (before.agent.number != before.warp)
    hint = "a wait for the operation: for its group (wait_group), or at its mbarrier, before the second access";
  return {order, cat(does, ", and nothing orders that behind what ", did), hint};
}

}  // namespace

void Detector::found(Warp& warp, const Step& step, Kind kind, Severity severity, const Access& before, const Access& now,
                     const std::byte* at) {
  const Key key(kind, before.item, now.item);
  if (!is_new(key)) return;
  const Spot spot = spot_of(warp, at);
  Access both = now;
  both.bytes &= before.bytes;
  const Words words = words_of(kind, warp, before, now, say_bytes(spot, both), code_.spell(before.item));
  Fault fault;
  fault.kind = kind;
  fault.message = words.message;
  fault.item = step.item;
  fault.lane = lowest_lane(now.lanes);
  fault.access = {now.is_store, spot.offset, static_cast<std::uint64_t>(std::popcount(unsigned{both.bytes})), spot.space,
                  spot.memory};
  Diagnostic d = report(warp, fault);
  d.severity = severity;
  if (const SourceLocation where = code_.where(before.item); where.line != 0) d.place("first", where);
  d.note(cat("first: ", say_place(code_, before.item)));
  add_debug_places(code_, before.item, d);
  d.note(cat("rule: ", words.rule));
  d.hint(words.hint);
  findings_.at(key).diagnostic = std::move(d);
}

bool Detector::is_new(const Key& key) {
  const auto known = findings_.find(key);
  if (known != findings_.end()) {
    ++known->second.count;
    return false;
  }
  if (findings_.size() >= most_findings) return false;
  findings_[key].count = 1;
  in_order_.push_back(key);
  return true;
}

void Detector::end_block(Cta& cta) {
  for (Warp& warp : cta.warps) {
    const auto bulk = state(warp).streams.find(async::Group::bulk);
    if (bulk == state(warp).streams.end()) continue;
    const Stream& of = bulk->second;
    const Mask unfinished =
        lanes_where([&](int l) { return of.last[static_cast<std::size_t>(l)] > of.waited_for[static_cast<std::size_t>(l)]; });
    const Key key(Kind::unfinished_copy, of.item, of.item);
    if (unfinished == 0 || !is_new(key)) continue;
    Fault fault;
    fault.kind = Kind::unfinished_copy;
    fault.message = "may still read the block's shared memory when the block ends: its thread has not waited for it";
    fault.item = of.item;
    fault.lane = lowest_lane(unfinished);
    Diagnostic d = report(warp, fault);
    d.severity = Severity::warning;
    d.note("rule: Y-03");
    d.hint("cp.async.bulk.commit_group behind the copy, and cp.async.bulk.wait_group.read 0 before its thread ends");
    findings_.at(key).diagnostic = std::move(d);
  }
}

Diagnostics Detector::findings() const {
  Diagnostics all;
  for (const auto& key : in_order_) {
    const Finding& one = findings_.at(key);
    all.push_back(one.diagnostic);
    if (one.count > 1) all.back().note(cat("seen ", one.count, " times"));
  }
  return all;
}

}  // namespace ptx::vgpu::races
