// The executor reads and writes nothing outside the memory that it was given, whatever check accepts; and what a kernel declares
// is laid out as ptxas lays it out.
#include <filesystem>
#include <random>

#include "ptx/vgpu/memory/kernel_memory.hpp"
#include "ptx/vgpu/testing/kernel.hpp"
#include "tests/fuzz/contained.hpp"
#include "tests/fuzz/hostile.hpp"
#include "tests/support/golden.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

constexpr std::string_view header = ".version 8.5\n.target sm_90a\n.address_size 64\n";

ir::Module parsed(const std::string& body) {
  text::Parsed result = text::parse(cat(header, body), "module.ptx");
  for (const Diagnostic& d : result.findings) ADD_FAILURE() << render(d);
  return std::move(result.module);
}

std::shared_ptr<const Program> program_of(const std::string& body, std::string_view entry = "k") {
  auto accepted = check::accept(parsed(body));
  if (!accepted) {
    ADD_FAILURE() << render(accepted.error());
    return nullptr;
  }
  auto listing = std::make_shared<ir::Listing>(text::list(accepted->module()));
  auto made = Program::make(*accepted, std::move(listing), entry);
  if (!made) {
    ADD_FAILURE() << render(made.error());
    return nullptr;
  }
  return *made;
}

// A kernel of one thread that does `lines` with `%rd0` = out, and stores `%r0` there.
std::string one_thread(const std::string& lines, const std::string& module = "") {
  return cat(module, ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd0, [out];\n",
             lines, "\nst.global.u32 [%rd0], %r0;\nret;\n}\n");
}
std::uint32_t result_of(const std::string& lines, const std::string& module = "", std::size_t dynamic_smem = 0) {
  Buffer<std::uint32_t> out{"out", {0xDEADBEEF}};
  testing::run(program_of(one_thread(lines, module)), {.dynamic_smem_bytes = dynamic_smem}, params({out.address()}),
               {out.region()});
  return out.data[0];
}

// ---- sizes ------------------------------------------------------------------------------------------------------------

TEST(Containment, CheckRefusesSizesThatWrap) {
  for (const char* declaration :
       {".global .b8 g[18446744073709551615];", ".global .align 4096 .b8 g[18446744073709551600];",
        ".global .b64 g[2305843009213693953];", ".global .b32 g[4294967296][4294967296];", ".shared .b8 g[18446744073709551615];",
        ".shared .b8 a[8]; .shared .b8 g[18446744073709551612];", ".const .b8 g[18446744073709551615];"}) {
    text::Parsed result = text::parse(cat(header, declaration, one_thread("mov.u64 %rd1, g; mov.u32 %r0, 0;")), "module.ptx");
    ASSERT_TRUE(result.findings.empty()) << declaration;
    EXPECT_FALSE(check::accept(std::move(result.module))) << declaration;
  }
  for (const char* size : {"576460752303423496", "524289", "18446744073709551615"}) {
    text::Parsed result =
        text::parse(cat(header, one_thread(cat(".local .b8 b[", size, "];\nmov.u64 %rd1, b; mov.u32 %r0, 0;"))), "module.ptx");
    EXPECT_FALSE(check::accept(std::move(result.module))) << size;
  }
}

// The executor does not lean on check: the same sizes, which it has not seen.
TEST(Containment, DecodingRefusesSizesThatWrap) {
  auto instance = Instance::make(check::accept(parsed("")).value()).value();
  const auto refusal = [&](const std::string& body) {
    Code code;
    code.module = std::make_shared<const ir::Module>(parsed(body));
    code.function = code.module->find("k");
    code.name = "k";
    auto memory = KernelMemory::make(code, *instance);
    EXPECT_FALSE(memory) << body;
    return memory ? std::string() : memory.error().message;
  };
  EXPECT_EQ(refusal(".visible .entry k() { .local .b8 b[576460752303423496]; ret; }"),
            "kernel `k` takes 576460752303423496 bytes of .local memory; the executor gives 524288 at most");
  EXPECT_EQ(refusal(".visible .entry k() { .local .b8 a[8]; .local .align 16 .b8 b[18446744073709551615]; ret; }"),
            "kernel `k` takes 18446744073709551615 bytes of .local memory; the executor gives 524288 at most");
  EXPECT_EQ(refusal(".visible .entry k() { .shared .b8 a[8]; .shared .b64 b[2305843009213693953]; ret; }"),
            "kernel `k` takes 18446744073709551615 bytes of .shared memory; the executor gives 1073741824 at most");
  EXPECT_EQ(refusal(".visible .entry k(.param .b8 a[18446744073709551615], .param .u64 b) { ret; }"),
            "kernel `k` takes 18446744073709551615 bytes of .param memory; the executor gives 65536 at most");
}

TEST(Containment, ReachesNoByteBeyondAnyVariable) {
  const auto fault = [](const std::string& lines, const std::string& module = "") {
    Buffer<std::uint32_t> out{"out", {0}};
    return testing::fault(program_of(one_thread(lines, module)), {}, params({out.address()}), {out.region()}).message;
  };
  EXPECT_NE(
      fault("mov.u64 %rd1, g; ld.global.u32 %r0, [%rd1+16];", ".global .b32 g[4];").find("just past the end of `g` (16 bytes)"),
      std::string::npos);
  EXPECT_NE(fault("mov.u64 %rd1, g; ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1+16];", ".global .align 16 .b8 g[24];")
                .find("of which 8 bytes are past the end of `g` (24 bytes)"),
            std::string::npos);
  EXPECT_NE(fault(".local .align 16 .b8 b[32]; mov.u64 %rd1, b; st.local.v2.u64 [%rd1+32], {%rd0, %rd0}; mov.u32 %r0, 0;")
                .find("just past the end of local memory (32 bytes)"),
            std::string::npos);
  EXPECT_NE(fault(".local .b8 b[4]; mov.u64 %rd1, b; cvta.local.u64 %rd1, %rd1; st.u8 [%rd1+4], 1; mov.u32 %r0, 0;")
                .find("just past the end of local memory (4 bytes)"),
            std::string::npos);
  // sums that wrap around the end of the address space
  EXPECT_NE(fault("ld.global.u32 %r0, [%rd0+-9223372036854775808];").find("far from every allocation"), std::string::npos);
  EXPECT_NE(fault("mov.u64 %rd1, -8; ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1+-8];").find("address 0xfffffffffffffff0"),
            std::string::npos);
  EXPECT_NE(fault("mov.u64 %rd1, -8; ld.global.u64 %rd2, [%rd1]; mov.u32 %r0, 0;").find("address 0xfffffffffffffff8"),
            std::string::npos);
  EXPECT_NE(fault("mov.u32 %r1, -4; ld.shared.u32 %r0, [%r1];", "").find("shared address 0xfffffffc"), std::string::npos);
}

TEST(Containment, TheLastBytesOfEverySpaceAreTheKernels) {
  EXPECT_EQ(result_of(".local .align 16 .b8 b[524288]; mov.u64 %rd1, b; mov.u32 %r1, 7; st.local.u32 [%rd1+524284], %r1; "
                      "ld.local.u32 %r0, [%rd1+524284];"),
            7u);
  EXPECT_EQ(result_of("mov.u64 %rd1, g; mov.u32 %r1, 7; st.shared.u32 [%rd1+232444], %r1; ld.shared.u32 %r0, [%rd1+232444];",
                      ".shared .b8 g[232448];"),
            7u);
  EXPECT_EQ(
      result_of("mov.u64 %rd1, g; mov.u32 %r1, 7; st.global.u8 [%rd1+1073741823], %r1; ld.global.u8 %r0, [%rd1+1073741823];",
                ".global .b8 g[1073741824];"),
      7u);
}

TEST(Containment, MemoryThatTheMachineDoesNotGiveIsAnError) {
  // 1024 threads of 512 KiB take half a GiB and as much to track it; blocks of them are run one after the other.
  const std::string body =
      ".visible .entry k()\n{\n.reg .b64 %rd<2>;\n.local .b8 b[524288];\nmov.u64 %rd1, b;\nst.local.u8 [%rd1+9], 1;\nret;\n}\n";
  const auto program = program_of(body);
  const auto report = program->run({.grid = {2, 1, 1}, .block = {32, 1, 1}}, {}, {}, {.workers = 64});
  EXPECT_TRUE(report) << render(report.error());
  auto huge = Instance::make(check::accept(parsed(".global .b8 g[1099511627776];" + body)).value());
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().kind, Kind::out_of_memory);
  EXPECT_EQ(huge.error().message, "the .global variable `g` takes 1099511627776 bytes, which this machine cannot provide");
}

// ---- layout -----------------------------------------------------------------------------------------------------------

TEST(Layout, SharedMemoryIsThatOfTheKernelAlone) {
  const std::string module = R"(
.shared .b8 large[200000];
.shared .align 4 .b8 mine[64];
.visible .entry other() { .reg .b64 %rd0; mov.u64 %rd0, large; ret; }
)";
  // 64 bytes of its own, and nearly all that a block has as dynamic memory: with the other kernel's it would not fit
  EXPECT_EQ(result_of("mov.u64 %rd1, mine; mov.u32 %r1, 9; st.shared.u32 [%rd1+60], %r1; ld.shared.u32 %r0, [mine+60];", module,
                      200000),
            9u);
  Buffer<std::uint32_t> out{"out", {0}};
  const Diagnostic d = testing::fault(program_of(one_thread("mov.u64 %rd1, mine; ld.shared.u32 %r0, [%rd1+64];", module)), {},
                                      params({out.address()}), {out.region()});
  EXPECT_NE(d.message.find("just past the end of shared memory (64 bytes)"), std::string::npos) << d.message;
}

TEST(Layout, SameNamesInTwoBlocksAreTwoVariables) {
  for (const char* space : {"shared", "local"})
    EXPECT_EQ(result_of(cat("mov.u32 %r1, 1; mov.u32 %r2, 2;\n{ .", space, " .b32 s; mov.u64 %rd1, s; st.", space,
                            ".u32 [s], %r1; }\n{ .", space, " .b32 s; mov.u64 %rd2, s; st.", space, ".u32 [s], %r2; }\n", "ld.",
                            space, ".u32 %r3, [%rd1]; ld.", space, ".u32 %r4, [%rd2]; mad.lo.u32 %r0, %r3, 10, %r4;")),
              12u)
        << space;
}

TEST(Layout, ABlocksVariableHidesTheOneAround) {
  EXPECT_EQ(result_of("mov.u32 %r1, 1; mov.u32 %r2, 2; st.shared.u32 [s], %r1;\n"
                      "{ .shared .b32 s; st.shared.u32 [s], %r2; }\nld.shared.u32 %r0, [s];",
                      ".shared .b32 s;"),
            1u);
}

TEST(Layout, EveryDynamicArrayIsTheSamePlace) {
  EXPECT_EQ(result_of("mov.u32 %r1, 5; st.shared.u32 [a+4], %r1; ld.shared.u32 %r0, [b+4];",
                      ".extern .shared .align 4 .b8 a[];\n.extern .shared .align 128 .b32 b[];\n.shared .b8 c[3];", 64),
            5u);
}

// ---- constant expressions -----------------------------------------------------------------------------------------------

TEST(Expression, StandsForItsValueEverywhere) {
  EXPECT_EQ(
      result_of("mov.u64 %rd1, -1; and.b64 %rd2, %rd1, -9223372036854775808; shr.u64 %rd2, %rd2, 63; cvt.u32.u64 %r0, %rd2;"),
      1u);
  EXPECT_EQ(result_of("mov.u32 %r1, 3; mad.lo.u32 %r0, %r1, 4*25, 1 << 4;"), 316u);
  EXPECT_EQ(result_of("mov.u32 %r1, 8; st.shared.u32 [s+4*2], %r1; ld.shared.u32 %r0, [s+(16-8)];", ".shared .b32 s[4];"), 8u);
  EXPECT_EQ(result_of(".reg .pred %p; mov.u32 %r1, 7; setp.eq.u32 %p, %r1, 3+4; selp.u32 %r0, 10+1, 10+2, %p;"), 11u);
  EXPECT_EQ(result_of("mov.u32 %r1, %laneid; shfl.sync.idx.b32 %r0, %r1, 2-2, 32-1, 1;"), 0u);
}

// ---- at random ----------------------------------------------------------------------------------------------------------

TEST(Containment, HostileKernelsStayInTheirMemory) {
#if defined(__SANITIZE_THREAD__)
  // CTAs that race for a buffer are a race of the kernel. Two workers make it one of the host's threads, which ThreadSanitizer
  // reports; here it looks for races of the executor's own.
  constexpr unsigned max_workers = 1;
#else
  constexpr unsigned max_workers = 2;
#endif
  std::mt19937 random(11);
  std::size_t accepted = 0, runs = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<unsigned char> bytes(40 + random() % 400);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    fuzz::Bytes in(bytes.data(), bytes.size());
    const std::string text = fuzz::Hostile(in).module();
    const fuzz::Outcome outcome = fuzz::run_contained(text, {.threads = static_cast<std::uint32_t>(1 + random() % 40),
                                                             .dynamic_smem = random() % 300,
                                                             .check_initialised = round % 4 != 0,
                                                             .workers = static_cast<unsigned>(1 + random() % max_workers)});
    accepted += outcome.accepted;
    runs += outcome.runs;
    EXPECT_TRUE(outcome.contained) << text;
    for (const Diagnostic& d : outcome.errors) EXPECT_NE(d.kind, Kind::internal) << render(d) << text;
  }
  EXPECT_GT(accepted, 100u) << "the generator writes what check takes";
  EXPECT_GT(runs, 150u);
}

// Files that once broke it, and the corpus as it is.
TEST(Containment, FilesStayInTheirMemory) {
  std::size_t runs = 0;
  for (const char* folder : {"tests/corpus/run", "tests/corpus/hand"})
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() != ".ptx") continue;
      for (const std::uint32_t threads : {1u, 32u, 64u}) {
        const fuzz::Outcome outcome =
            fuzz::run_contained(ptx::testing::read_file(file.path().string()), {.threads = threads, .dynamic_smem = 512});
        EXPECT_TRUE(outcome.contained) << file.path();
        runs += outcome.runs;
      }
    }
  EXPECT_GT(runs, 20u);
}

}  // namespace
}  // namespace ptx::vgpu
