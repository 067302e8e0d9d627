// What a report says of threads that cannot go on.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/vgpu/code.hpp"

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
/// Records kind deadlock: every warp of the CTA waits at a barrier that cannot complete.
void fail_deadlock(Cta& cta);

}  // namespace ptx::vgpu
