// Atomics of many threads at one place, on several workers too, and what is a fault.
#include <algorithm>
#include <numeric>
#include <set>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

constexpr std::string_view head = ".version 8.8\n.target sm_90a\n.address_size 64\n";

std::shared_ptr<const Program> text(std::string_view parameters, std::string_view body) {
  return testing::text_program(parameters, cat(".reg .b64 %x<8>; .reg .b32 %r<10>; .reg .pred %p<4>; .reg .f64 %d<4>;\n", body));
}

TEST(Atomics, AllLanesAtOnePlace) {
  const auto program = text(".param .u64 out",
                            ".shared .u32 count;\nld.param.u64 %x0, [out];\nmov.u32 %r0, %tid.x;\nst.shared.u32 [count], 7;\n"
                            "bar.sync 0;\nand.b32 %r1, %r0, 3;\nsetp.ne.u32 %p0, %r1, 0;\nmov.u32 %r2, -1;\n"
                            "@%p0 atom.shared.add.u32 %r2, [count], 2;\nmul.wide.u32 %x1, %r0, 4;\nadd.u64 %x1, %x1, %x0;\n"
                            "st.global.u32 [%x1], %r2;\nret;");
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(256)};
  testing::run(program, block(256), params({out.address()}), {out.region()});
  std::set<std::uint32_t> tickets;
  for (std::size_t i = 0; i < 256; ++i) {
    if (i % 4 == 0) {
      EXPECT_EQ(out.data[i], 0xFFFFFFFFu);
    } else {
      tickets.insert(out.data[i]);
    }
  }
  EXPECT_EQ(tickets.size(), 192u) << "each thread sees another count";
  EXPECT_EQ(*tickets.begin(), 7u);
  EXPECT_EQ(*tickets.rbegin(), 7u + 2 * 191);
}

TEST(Atomics, SeveralWorkersCountRight) {
  const auto program =
      text(".param .u64 bins, .param .u64 sums, .param .u64 tickets",
           "ld.param.u64 %x0, [bins];\nld.param.u64 %x1, [sums];\nld.param.u64 %x2, [tickets];\nmov.u32 %r0, %ctaid.x;\n"
           "mov.u32 %r1, %tid.x;\nmad.lo.u32 %r2, %r0, 128, %r1;\nmul.lo.u32 %r3, %r2, 2654435761;\nshr.u32 %r3, %r3, 28;\n"
           "mul.wide.u32 %x3, %r3, 4;\nadd.u64 %x3, %x3, %x0;\nred.global.add.u32 [%x3], 1;\ncvt.rn.f64.u32 %d0, %r2;\n"
           "red.global.add.f64 [%x1], %d0;\natom.global.max.u32 %r4, [%x1+8], %r2;\natom.global.add.u32 %r4, [%x1+12], 1;\n"
           "mul.wide.u32 %x4, %r4, 4;\nadd.u64 %x4, %x4, %x2;\nst.global.u32 [%x4], %r2;\nret;");
  constexpr std::uint32_t ctas = 40, threads = ctas * 128;
  for (const unsigned workers : {1u, 4u}) {
    struct Sums {
      double sum = 0;
      std::uint32_t most = 0, count = 0;
    };
    Buffer<std::uint32_t> bins{"bins", std::vector<std::uint32_t>(16)}, tickets{"tickets", std::vector<std::uint32_t>(threads)};
    Buffer<Sums> sums{"sums", {Sums{}}};
    LaunchConfig config = block(128);
    config.grid[0] = ctas;
    testing::run(program, config, params({bins.address(), sums.address(), tickets.address()}),
                 {bins.region(), sums.region(), tickets.region()}, {.workers = workers});
    std::vector<std::uint32_t> expected(16);
    for (std::uint32_t i = 0; i < threads; ++i) ++expected[i * 2654435761u >> 28];
    EXPECT_EQ(bins.data, expected);
    EXPECT_EQ(sums.data[0].sum, threads * (threads - 1.0) / 2);
    EXPECT_EQ(sums.data[0].most, threads - 1);
    std::sort(tickets.data.begin(), tickets.data.end());
    std::vector<std::uint32_t> all(threads);
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_EQ(tickets.data, all) << "each thread has a ticket of its own";
  }
}

TEST(Atomics, ALockKeepsOthersOut) {
  // every thread of every block adds to a plain word while it holds the lock
  const auto program = text(".param .u64 lock",
                            "ld.param.u64 %x0, [lock];\nTRY:\natom.acquire.gpu.global.cas.b32 %r0, [%x0], 0, 1;\n"
                            "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra TRY;\nld.global.u32 %r1, [%x0+4];\nadd.u32 %r1, %r1, 3;\n"
                            "st.global.u32 [%x0+4], %r1;\natom.release.gpu.global.exch.b32 %r2, [%x0], 0;\nret;");
  for (const unsigned workers : {1u, 4u}) {
    Buffer<std::uint32_t> lock{"lock", {0, 0}};
    LaunchConfig config = block(40);
    config.grid[0] = 6;
    testing::run(program, config, params({lock.address()}), {lock.region()}, {.workers = workers});
    EXPECT_EQ(lock.data[0], 0u);
    EXPECT_EQ(lock.data[1], 3u * 40 * 6);
  }
}

TEST(Atomics, SixteenBytesAreNeverTorn) {
  // each thread puts in (n, ~n), and must get such a pair out; others read it strongly meanwhile
  const auto program = testing::make_from_text(cat(
      head,
      ".visible .entry k(.param .u64 place, .param .u64 bad)\n{\n.reg .b128 %q<2>; .reg .b64 %x<8>; .reg .b32 %r<4>; .reg .pred "
      "%p<2>;\nld.param.u64 %x0, [place];\nld.param.u64 %x1, [bad];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\n"
      "mad.lo.u32 %r0, %r0, 64, %r1;\ncvt.u64.u32 %x2, %r0;\nnot.b64 %x3, %x2;\nmov.b128 %q0, {%x2, %x3};\n"
      "atom.relaxed.gpu.global.exch.b128 %q1, [%x0], %q0;\nmov.b128 {%x4, %x5}, %q1;\nxor.b64 %x4, %x4, %x5;\n"
      "setp.ne.s64 %p0, %x4, -1;\n@%p0 red.global.add.u32 [%x1], 1;\nld.relaxed.gpu.global.b128 %q1, [%x0];\n"
      "mov.b128 {%x4, %x5}, %q1;\nxor.b64 %x4, %x4, %x5;\nsetp.ne.s64 %p0, %x4, -1;\n@%p0 red.global.add.u32 [%x1], "
      "1;\nret;\n}\n"));
  ASSERT_TRUE(program) << render(program.error());
  for (const unsigned workers : {1u, 4u}) {
    struct alignas(16) Pair {
      std::uint64_t low = 5, high = ~std::uint64_t{5};
    };
    Buffer<Pair> place{"place", {Pair{}}};
    Buffer<std::uint32_t> bad{"bad", {0}};
    LaunchConfig config = block(64);
    config.grid[0] = 50;
    testing::run(*program, config, params({place.address(), bad.address()}), {place.region(), bad.region()},
                 {.workers = workers});
    EXPECT_EQ(bad.data[0], 0u);
    EXPECT_EQ(place.data[0].low, ~place.data[0].high);
  }
}

// ---- faults

Diagnostic faulty(std::string_view body, std::vector<Region> more = {}) {
  const auto program = text(".param .u64 y", cat(".shared .align 16 .b8 tile[64];\n.local .align 8 .b8 mine[16];\n.reg .b32 %u;\n"
                                                 "ld.param.u64 %x0, [y];\n",
                                                 body, "\nret;"));
  alignas(16) static std::array<std::uint32_t, 8> memory;
  memory.fill(0);
  more.push_back({reinterpret_cast<std::byte*>(memory.data()), 32, true, true, "Y"});
  return testing::fault(program, block(1), params({reinterpret_cast<std::uintptr_t>(memory.data())}), more);
}

TEST(Atomics, WhereThereIsNothing) {
  EXPECT_EQ(faulty("red.global.add.u32 [%x0+2], 1;").kind, Kind::misaligned);
  EXPECT_EQ(faulty("atom.global.cas.b64 %x1, [%x0+4], 1, 2;").kind, Kind::misaligned);
  const Diagnostic outside = faulty("atom.global.add.u32 %r0, [%x0+32], 1;");
  EXPECT_EQ(outside.kind, Kind::out_of_bounds);
  EXPECT_NE(outside.message.find("just past the end of `Y`"), std::string::npos) << outside.message;
  const Diagnostic local = faulty("mov.u64 %x1, mine;\ncvta.local.u64 %x1, %x1;\natom.add.u32 %r0, [%x1], 1;");
  EXPECT_EQ(local.kind, Kind::out_of_bounds);
  EXPECT_NE(local.message.find("in local memory, where there are no atomics"), std::string::npos) << local.message;
  const Diagnostic vector = faulty(
      "mov.u64 %x1, tile;\ncvta.shared.u64 %x1, %x1;\n.reg .f32 %f<2>;\nmov.f32 %f0, 0f00000000;\n"
      "mov.f32 %f1, %f0;\nred.add.v2.f32 [%x1], {%f0, %f1};");
  EXPECT_NE(vector.message.find("in shared memory, where there are no atomics of vectors"), std::string::npos) << vector.message;
  EXPECT_EQ(faulty("mov.u64 %x1, y;\ncvta.param.u64 %x1, %x1;\nred.add.u32 [%x1], 1;").kind, Kind::out_of_bounds);
  static std::uint32_t word = 1;
  const auto address = reinterpret_cast<std::uintptr_t>(&word);
  EXPECT_EQ(faulty(cat("mov.u64 %x1, ", address, ";\nred.global.add.u32 [%x1], 1;"),
                   {{reinterpret_cast<std::byte*>(&word), 4, false, true, "X"}})
                .kind,
            Kind::read_only);
}

TEST(Atomics, UnwrittenMemory) {
  const Diagnostic add = faulty("red.shared.add.u32 [tile+4], 1;");
  EXPECT_EQ(add.kind, Kind::uninitialised);
  EXPECT_NE(add.message.find("nothing has written byte 4 of shared memory"), std::string::npos) << add.message;
  EXPECT_EQ(faulty("atom.shared.cas.b32 %r0, [tile], 0, 1;").kind, Kind::uninitialised);
  EXPECT_EQ(faulty("red.shared.add.u32 [tile], %u;").kind, Kind::uninitialised) << "the operand";
  // an exchange hands on what it finds: nobody has to look at it
  EXPECT_EQ(faulty("atom.shared.exch.b32 %r0, [tile], 4;\nst.global.u32 [%x0], %r0;").kind, Kind::uninitialised);
  const auto program = text(".param .u64 y",
                            ".shared .align 16 .b8 tile[64];\nld.param.u64 %x0, [y];\natom.shared.exch.b32 %r0, [tile], 4;\n"
                            "atom.shared.add.u32 %r1, [tile], 1;\nst.global.u32 [%x0], %r1;\nret;");
  Buffer<std::uint32_t> y{"Y", {0}};
  testing::run(program, block(1), params({y.address()}), {y.region()});
  EXPECT_EQ(y.data[0], 4u);
  Options unchecked;
  unchecked.check_initialised = false;
  const auto plain = text(".param .u64 y", ".shared .u32 s;\nred.shared.add.u32 [s], 1;\nret;");
  testing::run(plain, block(1), params({y.address()}), {y.region()}, unchecked);
}

TEST(Atomics, ALockThatNobodyOpens) {
  const auto program = text(".param .u64 lock",
                            "ld.param.u64 %x0, [lock];\nTRY:\natom.global.cas.b32 %r0, [%x0], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n"
                            "@%p0 bra TRY;\nret;");
  Buffer<std::uint32_t> lock{"lock", {1}};
  LaunchConfig config = block(32);
  config.grid[0] = 3;
  for (const unsigned workers : {1u, 2u}) {
    const Diagnostic d = testing::fault(program, config, params({lock.address()}), {lock.region()}, {.workers = workers});
    EXPECT_EQ(d.kind, Kind::deadlock) << render(d);
    EXPECT_NE(d.message.find("polls memory that nobody can change any more"), std::string::npos) << d.message;
  }
}

}  // namespace
}  // namespace ptx::vgpu
