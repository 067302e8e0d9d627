// Generated kernels over launch bounds, setmaxnreg and the matrix pipelines: our warnings against what ptxas remarks (C75xx),
// which it does only where it makes code. One kernel a run: it does not always name the function.
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/ptxas.hpp"

namespace ptx {
namespace {

enum class Work { none, mma, two_mmas, load };

struct Kernel {
  std::string_view target, bounds;
  int dec, inc;  // 0: none
  Work work;
  int registers;         // accumulators, or registers of tensor memory
  bool consumer = true;  // the work stands behind .inc, else behind .dec
};

std::string registers(std::string_view prefix, int first, int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i) out += cat(i == 0 ? "" : ", ", prefix, first + i);
  return out + "}";
}

std::string mma(int first, int accumulators, std::string_view descriptor) {
  return cat("wgmma.mma_async.sync.aligned.m64n", accumulators * 2, "k16.f32.f16.f16 ", registers("f", first, accumulators), ", ",
             descriptor, ", ", descriptor, ", 0, 1, 1, 0, 0;\n");
}

std::string stores(std::string_view prefix, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += cat("st.global.b32 [p+", 4 * i, "], ", prefix, i, ";\n");
  return out;
}

std::string work(const Kernel& k) {
  constexpr std::string_view fence = "wgmma.fence.sync.aligned;\n",
                             wait = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  const int first = std::min(128, k.registers);
  switch (k.work) {
    case Work::none:
      return "";
    case Work::mma:
      return cat(fence, mma(0, k.registers, "d"), wait, stores("f", k.registers));
    case Work::two_mmas:  // all in flight at once
      return cat(fence, mma(0, first, "d"), mma(first, k.registers - first, "e"), wait, stores("f", k.registers));
    case Work::load:
      return cat("tcgen05.ld.sync.aligned.32x32b.x", k.registers, ".b32 ", registers("x", 0, k.registers),
                 ", [n];\ntcgen05.wait::ld.sync.aligned;\n", stores("x", k.registers));
  }
  return "";
}

std::string text_of(const Kernel& k) {
  const auto set = [](std::string_view action, int count) {
    return count == 0 ? std::string() : cat("setmaxnreg.", action, ".sync.aligned.u32 ", count, ";\n");
  };
  return cat(".version 9.0\n.target ", k.target, "\n.address_size 64\n.visible .entry k(.param .b64 a, .param .b32 b) ", k.bounds,
             "\n{\n.reg .b64 p, d, e; .reg .f32 f<256>; .reg .b32 x<128>; .reg .b32 n; .reg .pred q;\n"
             "ld.param.b64 p, [a]; ld.param.b32 n, [b]; ld.global.b64 d, [p]; ld.global.b64 e, [p+8]; setp.eq.b32 q, n, 0;\n@q "
             "bra CONSUMER;\n",
             set("dec", k.dec), k.consumer ? "" : work(k), "bra END;\nCONSUMER:\n", set("inc", k.inc), k.consumer ? work(k) : "",
             "END:\nret;\n}\n");
}

constexpr std::string_view one_cta = ".maxntid 384 .minnctapersm 1";

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = {
      // what tells ptxas the registers at the start
      {"sm_90a", "", 40, 232, Work::none, 0},
      {"sm_90a", ".maxntid 384", 40, 232, Work::none, 0},
      {"sm_90a", one_cta, 40, 232, Work::none, 0},
      {"sm_90a", ".maxnreg 256", 40, 232, Work::none, 0},
      {"sm_90a", ".maxntid 1024", 24, 232, Work::none, 0},
      {"sm_90a", ".maxntid 1025", 24, 232, Work::none, 0},
      {"sm_120a", ".maxntid 768", 24, 232, Work::none, 0},
      {"sm_120a", ".maxntid 769", 24, 232, Work::none, 0},
      {"sm_110a", ".maxntid 769", 24, 232, Work::none, 0},
      {"sm_103a", ".maxntid 769", 24, 232, Work::none, 0},
      {"sm_90a", ".maxntid 32 .minnctapersm 32", 24, 232, Work::none, 0},
      {"sm_90a", ".maxntid 32 .minnctapersm 33", 24, 232, Work::none, 0},
      {"sm_120a", ".maxntid 32 .minnctapersm 24", 24, 232, Work::none, 0},
      {"sm_120a", ".maxntid 32 .minnctapersm 25", 24, 232, Work::none, 0},
      {"sm_90a", ".maxntid 341 .minnctapersm 6", 24, 232, Work::none, 0},
      {"sm_90a", ".maxntid 33 .minnctapersm 31", 24, 232, Work::none, 0},
      // one instruction that two CTAs leave no room for, and the next smaller
      {"sm_90a", ".maxntid 256", 40, 240, Work::mma, 104},
      {"sm_90a", ".maxntid 256", 40, 240, Work::mma, 100},
      {"sm_90a", ".maxntid 320", 40, 232, Work::mma, 72},
      {"sm_90a", ".maxntid 257", 40, 232, Work::mma, 68},
      {"sm_90a", ".maxntid 384", 40, 232, Work::mma, 56},
      {"sm_90a", ".maxntid 384", 40, 232, Work::mma, 52},
      {"sm_90a", ".maxntid 512", 40, 160, Work::mma, 40},
      {"sm_90a", ".maxntid 640", 40, 120, Work::mma, 24},
      {"sm_90a", ".maxntid 128", 40, 240, Work::mma, 128},
      {"sm_100a", ".maxntid 896", 24, 96, Work::load, 16},
      {"sm_100a", ".maxntid 768", 24, 96, Work::load, 16},
      {"sm_100a", ".maxntid 640", 40, 120, Work::load, 32},
      {"sm_100a", ".maxntid 512", 40, 160, Work::load, 32},
      {"sm_100a", ".maxntid 384", 40, 232, Work::load, 64},
      {"sm_100a", ".maxntid 320", 40, 232, Work::load, 64},
      // what setmaxnreg leaves
      {"sm_90a", one_cta, 40, 240, Work::two_mmas, 212},
      {"sm_90a", one_cta, 40, 240, Work::two_mmas, 216},
      {"sm_90a", one_cta, 40, 200, Work::two_mmas, 172},
      {"sm_90a", one_cta, 40, 200, Work::two_mmas, 176},
      {"sm_90a", one_cta, 0, 0, Work::two_mmas, 140},
      {"sm_90a", one_cta, 0, 0, Work::two_mmas, 144},
      {"sm_90a", one_cta, 40, 96, Work::mma, 64},
      {"sm_90a", one_cta, 40, 88, Work::mma, 64},
      {"sm_90a", one_cta, 56, 232, Work::mma, 32, false},
      {"sm_90a", one_cta, 64, 232, Work::mma, 32, false},
      {"sm_100a", one_cta, 64, 232, Work::load, 64, false},
      {"sm_100a", one_cta, 72, 232, Work::load, 64, false},
      // what the launch bounds leave
      {"sm_90a", ".maxntid 512", 40, 240, Work::mma, 104},
      {"sm_90a", ".maxntid 512", 40, 240, Work::mma, 100},
      {"sm_90a", ".maxnreg 91", 0, 0, Work::mma, 64},
      {"sm_90a", ".maxnreg 89", 0, 0, Work::mma, 64},
      {"sm_100a", ".maxntid 768", 0, 0, Work::load, 64},
      {"sm_100a", ".maxntid 640", 0, 0, Work::load, 64},
      {"sm_100a", ".maxntid 512", 0, 0, Work::load, 128},
      // more than there are
      {"sm_90a", one_cta, 176, 0, Work::none, 0},
      {"sm_90a", one_cta, 168, 160, Work::none, 0},
      {"sm_90a", ".maxntid 640 .minnctapersm 1", 104, 160, Work::none, 0},
  };
  return all;
}

std::string shown(const Kernel& k) {
  return cat(k.target, ' ', k.bounds, ": dec ", k.dec, ", inc ", k.inc, ", ", k.registers, " registers of ",
             k.work == Work::none   ? "nothing"
             : k.work == Work::load ? "tcgen05.ld"
             : k.work == Work::mma  ? "an mma"
                                    : "two mmas");
}

bool remarks(const std::string& said, std::initializer_list<std::string_view> codes) {
  return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) { return said.find(code) != std::string::npos; });
}

TEST(Advisories, AreThoseOfPtxas) {
  const auto ptxas = testing::Ptxas::find();
  if (!ptxas) GTEST_SKIP() << "no ptxas here: what it would remark is not known";
  int ignored = 0, serialised = 0, refused = 0;
  for (const Kernel& k : kernels()) {
    const std::string text = text_of(k);
    const text::Parsed parsed = text::parse(text, "kernel.ptx");
    ASSERT_TRUE(parsed.findings.empty()) << shown(k) << ": " << render(parsed.findings.front());
    const Diagnostics found = check::check(parsed.module);
    const auto has = [&](Kind kind) {
      return std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) { return d.kind == kind; });
    };
    const auto verdict = ptxas->judge(text, std::string(k.target), "-O3");
    EXPECT_EQ(!has_errors(found), verdict.accepted) << shown(k) << '\n' << verdict.said;
    if (!verdict.accepted) {
      ++refused;
      continue;
    }
    const bool ignores = remarks(verdict.said, {"(C7505)", "(C7506)", "(C7507)", "(C7508)"});
    const bool serialises = remarks(verdict.said, {"(C7511)", "(C7512)"});
    ignored += ignores, serialised += serialises;
    EXPECT_EQ(has(Kind::setmaxnreg_ignored), ignores) << shown(k) << '\n' << verdict.said;
    EXPECT_EQ(has(Kind::wgmma_pipeline), serialises) << shown(k) << '\n' << verdict.said;
  }
  // The list shows all three.
  EXPECT_GE(ignored, 10);
  EXPECT_GE(serialised, 3);
  EXPECT_GE(refused, 6);
}

}  // namespace
}  // namespace ptx
