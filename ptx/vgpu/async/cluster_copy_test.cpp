// What blocks of a cluster send each other: arrivals, stores, copies into other blocks, copies into many.
#include <numeric>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/clusters.hpp"

namespace ptx::vgpu::cluster_copies {
namespace {

using testing::body_program;
using testing::Buffer;
using testing::params;
using testing::TextOptions;
using testing::cluster::begin_kernel;
using testing::cluster::Dims;
using testing::cluster::expect_fault;
using testing::cluster::fault;
using testing::cluster::grid_of;
using testing::cluster::meet;
using testing::cluster::run;
using testing::cluster::volume_of;

/// Thread 0 makes `bar`, which expects so many arrivals; then all meet.
std::string with_mbarrier(std::uint32_t arrivals) {
  return cat(".shared .align 8 .b64 bar;\nsetp.ne.u32 %p15, %r1, 0;\n@!%p15 mbarrier.init.shared::cta.b64 [bar], ", arrivals,
             ";\nfence.mbarrier_init.release.cluster;\n", meet);
}
std::string wait_for(std::string_view parity, std::string_view label) {
  return cat(label, ":\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p14, [bar], ", parity, ";\n@!%p14 bra ", label,
             ";\n");
}

// ---- arrivals

// A token goes round the cluster: each block waits for a phase of its own mbarrier and completes one of the next block's.
TEST(ClusterMbarriers, PingPong) {
  constexpr std::array arrivals = {
      "mbarrier.arrive.shared::cluster.b64 _, [%r6];\n",
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6], 1;\n",
      "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r6], 48;\n"
      "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r6], 48;\n",
      "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r6], 16;\nmbarrier.arrive.shared::cluster.b64 _, [%r6];\n"
      "mbarrier.complete_tx.shared::cluster.b64 [%r6], 16;\n",
      "cvt.u64.u32 %rd2, %r6;\ncvta.shared::cluster.u64 %rd2, %rd2;\nmbarrier.arrive.b64 _, [%rd2];\n",
      "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r6];\n"};
  for (const std::string_view arrive : arrivals)
    for (const std::uint32_t blocks : {2u, 3u, 16u}) {
      // the last spelling leaves nobody who is expected
      const std::uint32_t rounds = arrive.find("drop") == std::string_view::npos ? 20 : 1;
      const auto out =
          run(cat(with_mbarrier(1),
                  "mov.u32 %r3, %cluster_nctarank;\nadd.u32 %r4, %r0, 1;\nrem.u32 %r4, %r4, %r3;\n"
                  "mapa.shared::cluster.u32 %r6, bar, %r4;\nmov.u32 %r7, 0;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra GIVE;\n"
                  "TAKE:\nand.b32 %r8, %r7, 1;\n",
                  wait_for("%r8", "WAIT"), "@%p0 bra TAKEN;\nGIVE:\n", arrive, "@!%p0 bra TAKEN;\nbra TAKE;\nTAKEN:\n",
                  "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, ", rounds,
                  ";\n@!%p1 bra DONE;\n@%p0 bra GIVE;\nbra TAKE;\nDONE:\nst.global.u32 [%rd0], %r7;\n", meet),
              grid_of({blocks, 2, 1}, {blocks, 1, 1}, 1));
      for (const std::uint32_t word : out) EXPECT_EQ(word, rounds) << arrive << blocks;
    }
}

TEST(ClusterMbarriers, WhatIsMisuse) {
  const LaunchConfig pair = grid_of({2, 1, 1}, {2, 1, 1}, 1);  // block 1 is the last to come, and goes on first
  const std::string other = cat(with_mbarrier(1),
                                "xor.b32 %r4, %r0, 1;\nmapa.shared::cluster.u32 %r6, bar, %r4;\ncvt.u64.u32 %rd2, %r6;\n"
                                "cvta.shared::cluster.u64 %rd2, %rd2;\n");
  for (const std::string_view own_alone :
       {"mbarrier.try_wait.parity.b64 %p0, [%rd2], 0;\n", "mbarrier.arrive.b64 %rd3, [%rd2];\n", "mbarrier.inval.b64 [%rd2];\n",
        "mbarrier.init.b64 [%rd2], 1;\n", "mov.u64 %rd3, 0;\nmbarrier.test_wait.b64 %p0, [%rd2], %rd3;\n"})
    expect_fault(cat(other, own_alone), pair, Kind::barrier_misuse,
                 "in block (0, 0, 0), rank 0 of cluster (0, 0, 0): of another block's, only arrivals without a result");
  expect_fault(cat(other, "mbarrier.arrive.shared::cluster.b64 _, [%r6], 2;\n"), pair, Kind::barrier_misuse,
               "whose phase 0 lacks 1 of 1 arrivals");
  expect_fault(cat(other, "mbarrier.arrive.shared::cta.b64 %rd3, [%r6];\n"), pair, Kind::out_of_bounds,
               ".shared is the block's own");
  // nobody has made one there
  expect_fault(cat(".shared .align 8 .b64 bar;\nxor.b32 %r4, %r0, 1;\nmapa.shared::cluster.u32 %r6, bar, %r4;\n", meet,
                   "mbarrier.arrive.shared::cluster.b64 _, [%r6];\n"),
               pair, Kind::barrier_misuse, "where none is: nothing has initialised one");
  // block 1 has gone when block 0 arrives
  expect_fault(cat(other,
                   "setp.eq.u32 %p0, %r0, 1;\n@%p0 bra DONE;\nmov.u32 %r7, 0;\nSPIN:\nadd.u32 %r7, %r7, 1;\n"
                   "setp.lt.u32 %p1, %r7, 5000;\n@%p1 bra SPIN;\nmbarrier.arrive.shared::cluster.b64 _, [%r6];\nDONE:\n"),
               pair, Kind::out_of_bounds, "rank 1 of the cluster, which has exited");
}

TEST(ClusterMbarriers, ADeadlockSaysWhoWaitsForWhat) {
  // each block expects two arrivals, and the other one sends one
  const Diagnostic d = fault(cat(with_mbarrier(2),
                                 "xor.b32 %r4, %r0, 1;\nmapa.shared::cluster.u32 %r6, bar, %r4;\n"
                                 "mbarrier.arrive.shared::cluster.b64 _, [%r6];\n",
                                 wait_for("0", "WAIT")),
                             grid_of({4, 1, 1}, {2, 1, 1}, 1));
  EXPECT_EQ(d.kind, Kind::deadlock);
  const std::string text = render(d);
  for (const std::string_view part :
       {"waits for phase 0 of the mbarrier at shared address 0x400, which lacks 1 of 2 arrivals",
        "warp 0 of block (0, 0, 0), rank 0, waits for phase 0 of the mbarrier at shared address 0x400, which lacks 1 of 2 "
        "arrivals",
        "warp 0 of block (1, 0, 0), rank 1, waits for phase 0 of the mbarrier at shared address 0x1000400, which lacks 1 of 2"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
}

// ---- stores and reductions that an mbarrier counts

TEST(ClusterCopies, StoresIntoEveryBlock) {
  // each block stores 16 bytes into every block, itself too: word 4 r + i of block b is 1000 r + 10 b + i
  for (const bool whole : {false, true})
    for (const std::uint32_t blocks : {2u, 4u, 8u}) {
      const auto out =
          run(cat(".shared .align 16 .b8 tile[128];\n", with_mbarrier(1),
                  "mov.u32 %r3, %cluster_nctarank;\nsetp.ge.u32 %p0, %r1, %r3;\n"
                  "shl.b32 %r4, %r3, 4;\n@!%p15 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r4;\n@%p0 bra SENT;\n"
                  "mov.u32 %r5, tile;\nmad.lo.u32 %r5, %r0, 16, %r5;\nmapa.shared::cluster.u32 %r5, %r5, %r1;\n"
                  "mapa.shared::cluster.u32 %r6, bar, %r1;\nmul.lo.u32 %r7, %r0, 1000;\nmad.lo.u32 %r7, %r1, 10, %r7;\n"
                  "add.u32 %r8, %r7, 1;\nadd.u32 %r9, %r7, 2;\nadd.u32 %r10, %r7, 3;\n",
                  whole ? "mov.b64 %rd2, {%r7, %r8};\nmov.b64 %rd3, {%r9, %r10};\n"
                          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%r5], {%rd2, %rd3}, [%r6];\n"
                        : "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r5], {%r7, %r8, %r9, %r10}, [%r6];\n",
                  "SENT:\n", wait_for("0", "WAIT"),
                  "shl.b32 %r3, %r3, 2;\nsetp.ge.u32 %p0, %r1, %r3;\n@%p0 bra DONE;\nmov.u32 %r5, tile;\nmad.lo.u32 %r5, %r1, 4, "
                  "%r5;\n"
                  "ld.shared.u32 %r7, [%r5];\nst.global.u32 [%rd0], %r7;\nDONE:\n",
                  meet),
              grid_of({blocks, 1, 1}, {blocks, 1, 1}), 1);
      for (std::uint32_t b = 0; b < blocks; ++b)
        for (std::uint32_t w = 0; w < 4 * blocks; ++w) ASSERT_EQ(out[b * 32 + w], w / 4 * 1000 + b * 10 + w % 4) << blocks;
    }
}

TEST(ClusterCopies, ReductionsIntoABlock) {
  // every thread of every block reduces the words of block 0
  constexpr std::uint32_t blocks = 4, threads = 8;
  const std::string red = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
  const auto out = run(
      cat(".shared .align 8 .b32 sums[8];\nmov.u32 %r5, sums;\nmov.u32 %r7, 0;\nmov.u32 %r8, -1;\n"
          "st.shared.v4.u32 [%r5], {%r7, %r7, %r8, %r7};\nst.shared.v4.u32 [%r5+16], {%r7, %r7, %r7, %r7};\n",
          with_mbarrier(1),
          "setp.eq.u32 %p0, %r0, 0;\n@!%p0 bra SEND;\n@!%p15 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], ",
          blocks * threads * (4 * 5 + 8),
          ";\nSEND:\nmapa.shared::cluster.u32 %r6, %r5, 0;\nmapa.shared::cluster.u32 %r9, bar, 0;\nmad.lo.u32 %r10, %r0, 8, "
          "%r1;\n"
          "mov.u32 %r11, 1;\nshl.b32 %r11, %r11, %r10;\nadd.u32 %r12, %r10, 5;\n",
          red, ".add.u32 [%r6], %r10, [%r9];\n", red, ".max.s32 [%r6+4], %r12, [%r9];\n", red, ".min.u32 [%r6+8], %r12, [%r9];\n",
          red, ".or.b32 [%r6+12], %r11, [%r9];\n", red, ".inc.u32 [%r6+16], 9, [%r9];\ncvt.u64.u32 %rd2, %r10;\n", red,
          ".add.u64 [%r6+24], %rd2, [%r9];\n@!%p0 bra DONE;\n", wait_for("0", "WAIT"),
          "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r5];\nst.global.v4.u32 [%rd0], {%r7, %r8, %r9, %r10};\n"
          "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r5+16];\nst.global.v4.u32 [%rd0+16], {%r7, %r8, %r9, %r10};\nDONE:\n",
          meet),
      grid_of({blocks, 1, 1}, {blocks, 1, 1}, threads), 8);
  const std::vector<std::uint32_t> expected{31 * 32 / 2, 36, 5, 0xFFFFFFFF, 32 % 10, 0, 31 * 32 / 2, 0};
  for (std::uint32_t t = 0; t < threads; ++t) EXPECT_EQ(std::vector(out.begin() + t * 8, out.begin() + t * 8 + 8), expected);
}

// ---- bulk copies

constexpr std::string_view in_and_out = ".param .u64 out, .param .u64 in";

/// What every thread leaves in the output of a kernel that has an input.
std::vector<std::uint32_t> run_with(std::vector<std::uint32_t> input, std::string_view body, const LaunchConfig& config,
                                    std::uint32_t words, const Options& options = {}) {
  Buffer<std::uint32_t> in{"in", std::move(input), false};
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(std::size_t{volume_of(config.grid)} * config.block[0] * words)};
  testing::run(body_program(in_and_out, cat(begin_kernel(words), "ld.param.u64 %rd9, [in];\n", body)), config,
               params({out.address(), in.address()}), {out.region(), in.region()}, options);
  return out.data;
}
std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

TEST(ClusterCopies, FromBlockToBlock) {
  // each block sends 128 bytes to the next one, or adds them there to what the next one has
  constexpr std::uint32_t blocks = 4, threads = 32;
  for (const std::string_view how : {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
                                     "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"}) {
    const bool adds = how.starts_with("cp.reduce");
    const auto out =
        run(cat(".shared .align 16 .b32 mine[32];\n.shared .align 16 .b32 theirs[32];\nmov.u32 %r5, mine;\nmad.lo.u32 %r6, %r1, "
                "4, %r5;\n"
                "mad.lo.u32 %r7, %r0, 100, %r1;\nst.shared.u32 [%r6], %r7;\nmov.u32 %r8, theirs;\nmad.lo.u32 %r9, %r1, 4, %r8;\n"
                "mov.u32 %r10, 7;\nst.shared.u32 [%r9], %r10;\nfence.proxy.async;\n",
                with_mbarrier(1),
                "@%p15 bra SENT;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\nadd.u32 %r4, %r0, 1;\nrem.u32 %r4, "
                "%r4, 4;\n"
                "mapa.shared::cluster.u32 %r11, %r8, %r4;\nmapa.shared::cluster.u32 %r12, bar, %r4;\n",
                how, " [%r11], [%r5], 128, [%r12];\nSENT:\n", wait_for("0", "WAIT"),
                "ld.shared.u32 %r7, [%r9];\nst.global.u32 [%rd0], %r7;\n", meet),
            grid_of({blocks, 2, 1}, {blocks, 1, 1}, threads));
    for (std::uint32_t b = 0; b < 2 * blocks; ++b)
      for (std::uint32_t t = 0; t < threads; ++t)
        ASSERT_EQ(out[b * threads + t], (b % blocks + blocks - 1) % blocks * 100 + t + (adds ? 7 : 0));
  }
}

// Each block of a cluster of 2 x 1 x 3 copies the 16 bytes of its rank to all, or to all but some: bit i of the mask is rank i.
TEST(ClusterCopies, IntoManyBlocks) {
  const Dims shape{2, 1, 3};
  constexpr std::uint32_t blocks = 6;
  for (const std::uint32_t left_out : {0u, 0b000100u, 0b101010u}) {
    const std::uint32_t mask = 0b111111 & ~left_out;
    for (const unsigned workers : {1u, 2u}) {
      Options options;
      options.workers = workers;
      const auto out = run_with(
          numbers(4 * blocks),
          cat(".shared .align 128 .b8 tile[96];\nmov.u32 %r5, tile;\nmad.lo.u32 %r6, %r1, 4, %r5;\nmov.u32 %r7, 99;\n"
              "st.shared.u32 [%r6], %r7;\nfence.proxy.async;\n",
              with_mbarrier(1), "@%p15 bra SENT;\nmov.u32 %r8, 96;\nmov.u32 %r9, ", mask,
              ";\nshr.u32 %r9, %r9, %r0;\nand.b32 %r9, %r9, 1;\nmul.lo.u32 %r8, %r8, %r9;\n"
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r8;\nmul.wide.u32 %rd2, %r0, 16;\nadd.u64 %rd2, %rd2, %rd9;\n"
              "mad.lo.u32 %r8, %r0, 16, %r5;\nmov.u16 %h1, ",
              mask,
              ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r8], [%rd2], 16, [bar], "
              "%h1;\n"
              "SENT:\n",
              wait_for("0", "WAIT"), "ld.shared.u32 %r7, [%r6];\nst.global.u32 [%rd0], %r7;\n", meet),
          grid_of({4, 2, 3}, shape, 24), 1, options);
      for (std::uint32_t z = 0; z < 3; ++z)
        for (std::uint32_t y = 0; y < 2; ++y)
          for (std::uint32_t x = 0; x < 4; ++x) {
            const std::uint32_t rank = z * 2 + x % 2;
            for (std::uint32_t w = 0; w < 24; ++w)
              ASSERT_EQ(out[((z * 2 + y) * 4 + x) * 24 + w], (mask >> rank & 1) != 0 ? w : 99u) << mask << ' ' << rank;
          }
    }
  }
}

// ---- tensors

// A cluster of two blocks wants all of a matrix of 64 x 32 words: each copies half of its rows into both. The copy goes through
// `copy`: the tile's place in %r8, the map in %rd8, coordinates %r10, %r11; %r12 is the mbarrier's address.
std::vector<std::uint32_t> share_matrix(std::string_view copy, std::string_view mbarrier_of, const TextOptions& text,
                                        std::uint32_t bytes_of_leader, std::uint32_t bytes_of_other) {
  using layout::TensorMap;
  constexpr std::uint32_t rows = 64, columns = 32, words = rows * columns, threads = 64;
  TensorMap map{.type = layout::TensorMapType::u32, .rank = 2, .swizzle = layout::Swizzle::b128};
  map.sizes = {columns, rows};
  map.strides = {columns * 4};
  map.box = {columns, rows / 2};
  Buffer<std::uint32_t> x{"X", numbers(words + 8), false}, out{"out", std::vector<std::uint32_t>(std::size_t{4} * words)};
  const std::uint64_t begin = (x.address() + 15) / 16 * 16, first = (begin - x.address()) / 4;
  std::vector<std::byte> block(136);
  const layout::TensorMapWords encoded = layout::encode(map, begin);
  const std::uint64_t to = out.address();
  std::memcpy(block.data(), encoded.word.data(), 128);
  std::memcpy(&block[128], &to, 8);
  const std::string body =
      cat("ld.param.u64 %rd0, [out];\nmov.u32 %r0, %cluster_ctarank;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
          "mul.wide.u32 %rd1, %r2, 8192;\nadd.u64 %rd0, %rd0, %rd1;\nmov.b64 %rd8, map;\ncvta.param.u64 %rd8, %rd8;\n"
          ".shared .align 1024 .b8 tile[8192];\nmov.u32 %r5, tile;\n",
          with_mbarrier(1), "@%p15 bra SENT;\nsetp.eq.u32 %p0, %r0, 0;\nselp.u32 %r9, ", bytes_of_leader, ", ", bytes_of_other,
          ", %p0;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r9;\n"
          "mad.lo.u32 %r8, %r0, 4096, %r5;\nmov.u32 %r10, 0;\nmul.lo.u32 %r11, %r0, 32;\nmov.u16 %h1, 3;\nmov.u32 %r12, bar;\n",
          mbarrier_of, copy, "SENT:\n", wait_for("0", "WAIT"), meet,
          // word i of the tile, unswizzled: pieces of 16 bytes change places by the row's number
          "mov.u32 %r4, %r1;\nDUMP:\nshr.u32 %r6, %r4, 5;\nand.b32 %r6, %r6, 7;\nshl.b32 %r6, %r6, 2;\nxor.b32 %r6, %r6, %r4;\n"
          "mad.lo.u32 %r6, %r6, 4, %r5;\nld.shared.u32 %r7, [%r6];\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd2, %rd2, %rd0;\n"
          "st.global.u32 [%rd2], %r7;\nadd.u32 %r4, %r4, 64;\nsetp.lt.u32 %p1, %r4, 2048;\n@%p1 bra DUMP;\n");
  const auto program = body_program(".param .align 64 .b8 map[128], .param .u64 out", body, text);
  testing::run(program, grid_of({4, 1, 1}, {2, 1, 1}, threads), block, {x.region(), out.region()});
  for (std::size_t i = 0; i < out.data.size(); ++i)
    if (out.data[i] != first + i % words) ADD_FAILURE() << copy << i << ": " << out.data[i], i = out.data.size();
  return out.data;
}

TEST(ClusterCopies, TensorsIntoBothBlocks) {
  share_matrix(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r8], [%rd8, {%r10, "
      "%r11}], [%r12], %h1;\n",
      "", {}, 8192, 8192);
}

// On Blackwell a pair of blocks may wait at one mbarrier: rank 0's hears of the bytes of both. So far this has run in the
// executor alone.
TEST(ClusterCopies, PairsTellOneMbarrier) {
  const std::string copy =
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%r8], "
      "[%rd8, "
      "{%r10, %r11}], [%r12], %h1;\n";
  const TextOptions blackwell{"8.7", "sm_100a"};
  share_matrix(copy, "and.b32 %r12, %r12, 0xFEFFFFFF;\n", blackwell, 16384, 0);
  share_matrix(copy, "", blackwell, 8192, 8192);
}

TEST(ClusterCopies, WhatIsWrong) {
  const LaunchConfig pair = grid_of({2, 1, 1}, {2, 1, 1}, 1);
  const std::string start =
      cat(".shared .align 16 .b8 tile[64];\nmov.u32 %r5, tile;\nmov.u32 %r7, 1;\nst.shared.v4.u32 [%r5], {%r7, %r7, %r7, "
          "%r7};\n",
          with_mbarrier(1),
          "xor.b32 %r4, %r0, 1;\nmapa.shared::cluster.u32 %r6, %r5, %r4;\n"
          "mapa.shared::cluster.u32 %r8, bar, %r4;\nmov.u16 %h1, 5;\nmov.u32 %r9, bar;\n");
  expect_fault(cat(start,
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r5], [%rd0], 16, "
                   "[bar], %h1;\n"),
               pair, Kind::out_of_bounds, "copies to the blocks in mask 0x5; the cluster has blocks 0 to 1");
  expect_fault(
      cat(start, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r5], 16, [%r9];\n"), pair,
      Kind::barrier_misuse,
      "brings bytes to block 0 of the cluster and tells an mbarrier of block 1: it has to be one of the block that they come to");
  expect_fault(cat(start, "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r7, [%r8];\n"), pair,
               Kind::barrier_misuse, "brings bytes to block 1 of the cluster and tells an mbarrier of block 0");
  expect_fault(cat(start,
                   "add.u32 %r6, %r6, 0x2000000;\nadd.u32 %r8, %r8, 0x2000000;\n"
                   "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r6], %r7, [%r8];\n"),
               pair, Kind::out_of_bounds, "which is in no block's shared memory: the cluster has 2 blocks");
  // bytes that come to a block which has gone
  expect_fault(cat(start,
                   "setp.eq.u32 %p0, %r0, 1;\n@%p0 bra DONE;\nmov.u32 %r7, 0;\nSPIN:\nadd.u32 %r7, %r7, 1;\n"
                   "setp.lt.u32 %p1, %r7, 5000;\n@%p1 bra SPIN;\n"
                   "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r6], %r7, [%r8];\nDONE:\n"),
               pair, Kind::out_of_bounds, "rank 1 of the cluster, which has exited");
}

}  // namespace
}  // namespace ptx::vgpu::cluster_copies
