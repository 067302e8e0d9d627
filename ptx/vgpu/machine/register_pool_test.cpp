// Registers that setmaxnreg moves between warpgroups: who waits, who waits for ever, and who does not do as its warpgroup does.
#include "ptx/vgpu/machine/register_pool.hpp"

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::register_pool_tests {
namespace {

using testing::block;

void says(const std::string& report, std::string_view part) { EXPECT_NE(report.find(part), std::string::npos) << report; }

// What a block of so many warps says; nothing: it ran to its end. `bounds` come behind the entry's parameters.
std::string said(std::string_view body, std::uint32_t warps = 12,
                 std::string_view bounds = ".maxntid 384, 1, 1\n.minnctapersm 1\n") {
  const std::string text = cat(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n", bounds,
                               "{\n.reg .b32 %r<8>;\n.reg .pred %p<4>;\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\n"
                               "setp.lt.u32 %p0, %r1, 4;\nsetp.eq.u32 %p1, %r1, 0;\n",
                               body, "\nret;\n}\n");
  const auto program = testing::make_from_text(text);
  if (!program) return render(program.error());
  const auto report = (*program)->run(block(warps * 32), std::vector<std::byte>{}, {}, {});
  return report ? std::string() : render(report.error());
}

// The first warpgroup gives back, the others take: 12 warps begin with 168 registers a thread each.
std::string moved(int down, int up) {
  return said(cat("@%p0 bra PRODUCER;\nsetmaxnreg.inc.sync.aligned.u32 ", up,
                  ";\nbra MEET;\nPRODUCER:\nsetmaxnreg.dec.sync.aligned.u32 ", down, ";\nMEET:\nbar.sync 0;\n"));
}

TEST(RegisterPool, TakesWhatOthersGiveBack) {
  EXPECT_EQ(moved(40, 232), "");
  EXPECT_EQ(moved(24, 240), "");
  EXPECT_EQ(moved(168, 168), "");
  EXPECT_EQ(said("setmaxnreg.inc.sync.aligned.u32 168;"), "");  // what it has already
  // Whoever ends gives back all of them.
  EXPECT_EQ(said("@%p0 bra END;\nsetmaxnreg.inc.sync.aligned.u32 248;\nEND:\n"), "");
}

TEST(RegisterPool, WaitsForEverForWhatIsNotThere) {
  const std::string report = moved(40, 240);
  says(report, "error: `setmaxnreg.inc.sync.aligned.u32` waits for 240 registers a thread: it has 168, and its block has ");
  says(report, "every thread that runs is back where it was, and nobody gives any back any more  [deadlock]");
  says(report, "rule: D-02");
  says(moved(48, 232), "[deadlock]");  // 8 too few for the last warp
  says(said("setmaxnreg.inc.sync.aligned.u32 176;\n"), "and its block has 0 to spare");
}

TEST(RegisterPool, AWarpgroupDoesTheSame) {
  says(said("@%p1 bra OTHER;\nsetmaxnreg.dec.sync.aligned.u32 72;\nret;\nOTHER:\nsetmaxnreg.dec.sync.aligned.u32 24;\n", 4),
       "sets 72 registers where another warp of its warpgroup sets 24: all four do the same  [divergent]");
  EXPECT_EQ(said("@%p1 bra OTHER;\nsetmaxnreg.dec.sync.aligned.u32 72;\nret;\nOTHER:\nsetmaxnreg.dec.sync.aligned.u32 72;\n", 4),
            "");
  says(said("@!%p1 ret;\nsetmaxnreg.dec.sync.aligned.u32 24;\n", 4),
       "is not executed by warp 1, as it is by others of its warpgroup");
  EXPECT_EQ(said("setmaxnreg.dec.sync.aligned.u32 72;\nbar.sync 0;\nsetmaxnreg.inc.sync.aligned.u32 96;\n", 4), "");
}

TEST(RegisterPool, IsPassedOverWherePtxasDoes) {
  EXPECT_EQ(said("setmaxnreg.inc.sync.aligned.u32 240;", 12, ""), "");  // nothing says what a thread starts with
}

}  // namespace
}  // namespace ptx::vgpu::register_pool_tests
