// What a report says of threads that cannot go on.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// How many threads a barrier instruction counts (its x[1]), as the lanes of the mask see it; 0: all of the CTA.
std::uint32_t barrier_threads(const Warp& warp, const Step& step, Mask mask);

/// "file.py:12, line 30: bar.sync 0;": where the threads at an instruction stand.
std::string say_place(const Code& code, std::uint32_t item);
/// "lane 3", "lanes 0-15, 20"
std::string say_lanes(Mask lanes);

/// Records kind divergent: lane groups of the warp wait for lanes that cannot come.
void fail_stuck(Warp& warp);
/// Records kind divergent when the lanes of `mask`, which exit at this step, went round an .aligned barrier that lanes of their
/// warp wait at. False: they did not.
bool fail_bypass(Warp& warp, const Step& step, Mask mask);
/// Records kind deadlock: every warp of the cluster waits at a barrier that cannot complete.
void fail_deadlock(Cluster& cluster);

/// `what` has run to its limit: the run, or the cluster alone.
Diagnostic report_stopped(const Cluster& cluster, std::uint64_t executed, std::string_view what, std::string done);
/// How many clusters a grid has, have begun, and run at a time.
struct Begun {
  std::uint64_t clusters = 0, begun = 0;
  std::size_t most = 0;
};
/// Where a cluster goes round in circles: the strong load that one of its warps executed last, or where that warp stands.
Diagnostic report_livelock(const Cluster& cluster, const Begun& of_grid);

}  // namespace ptx::vgpu
