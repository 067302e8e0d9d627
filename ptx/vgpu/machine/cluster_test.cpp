// Clusters of several blocks: their shape, their barrier, each other's shared memory, and what is wrong with them.
#include <algorithm>
#include <numeric>
#include <set>

#include "ptx/vgpu/testing/clusters.hpp"

namespace ptx::vgpu::clusters {
namespace {

using testing::Buffer;
using testing::make_body;
using testing::params;
using testing::cluster::expect_fault;
using testing::cluster::fault;
using testing::cluster::grid_of;
using testing::cluster::meet;
using testing::cluster::out_param;
using testing::cluster::run;
using testing::cluster::volume_of;
using Dims = std::array<std::uint32_t, 3>;

// ---- the shape

TEST(Clusters, EveryBlockKnowsItsPlace) {
  constexpr std::uint32_t words = 14;
  for (const auto& [grid, cluster] : {std::pair{Dims{4, 6, 4}, Dims{2, 3, 2}},
                                      {Dims{8, 1, 1}, Dims{8, 1, 1}},
                                      {Dims{16, 2, 1}, Dims{16, 1, 1}},
                                      {Dims{3, 4, 1}, Dims{1, 4, 1}},
                                      {Dims{2, 1, 2}, Dims{1, 1, 1}}}) {
    std::string body;
    std::uint32_t n = 0;
    for (const std::string_view special : {"cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid"})
      for (const std::string_view axis : {"x", "y", "z"})
        body += cat("mov.u32 %r5, %", special, '.', axis, ";\nst.global.u32 [%rd0+", 4 * n++, "], %r5;\n");
    body +=
        cat("mov.u32 %r5, %cluster_nctarank;\nmov.pred %p0, %is_explicit_cluster;\nselp.u32 %r6, 100, 0, %p0;\n"
            "add.u32 %r5, %r5, %r6;\nst.global.v2.u32 [%rd0+48], {%r0, %r5};\n");
    const auto out = run(body, grid_of(grid, cluster, 1), words);
    std::uint32_t block = 0;
    for (std::uint32_t z = 0; z < grid[2]; ++z)
      for (std::uint32_t y = 0; y < grid[1]; ++y)
        for (std::uint32_t x = 0; x < grid[0]; ++x, ++block) {
          std::vector<std::uint32_t> expected;
          const Dims id{x, y, z};
          for (std::size_t i = 0; i < 3; ++i) expected.push_back(id[i] % cluster[i]);
          for (std::size_t i = 0; i < 3; ++i) expected.push_back(cluster[i]);
          for (std::size_t i = 0; i < 3; ++i) expected.push_back(id[i] / cluster[i]);
          for (std::size_t i = 0; i < 3; ++i) expected.push_back(grid[i] / cluster[i]);
          expected.push_back((id[2] % cluster[2] * cluster[1] + id[1] % cluster[1]) * cluster[0] + id[0] % cluster[0]);
          expected.push_back(volume_of(cluster) + (volume_of(cluster) > 1 ? 100 : 0));
          EXPECT_EQ(std::vector(out.begin() + block * words, out.begin() + (block + 1) * words), expected) << to_string(id);
        }
  }
}

std::string directed(std::string_view directives) {
  return cat(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n", directives,
      "\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p0;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %cluster_ctarank;\n"
      "mov.u32 %r1, %cluster_nctarank;\nmov.u32 %r2, %ctaid.x;\nmov.pred %p0, %is_explicit_cluster;\nselp.u32 %r3, 1, 0, %p0;\n"
      "mul.wide.u32 %rd1, %r2, 16;\nadd.u64 %rd0, %rd0, %rd1;\nst.global.v4.u32 [%rd0], {%r0, %r1, %r2, %r3};\nret;\n}\n");
}

TEST(Clusters, WhatTheKernelSays) {
  const auto ran = [](std::string_view directives, const LaunchConfig& config) -> Expected<std::vector<std::uint32_t>> {
    auto made = testing::make_from_text(directed(directives));
    if (!made) return Unexpected{made.error()};
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
    auto report = (*made)->run(config, params({out.address()}), std::vector{out.region()});
    if (!report) return Unexpected{report.error()};
    out.data.resize(report->ctas * 4);
    return out.data;
  };
  using Words = std::vector<std::uint32_t>;
  const auto message = [&](std::string_view directives, const LaunchConfig& config) {
    const auto result = ran(directives, config);
    return result                                       ? std::string("ran")
           : result.error().kind == Kind::launch_config ? result.error().message
                                                        : render(result.error());
  };
  EXPECT_EQ(*ran(".reqnctapercluster 2", grid_of({2, 1, 1}, {1, 1, 1}, 1)), (Words{0, 2, 0, 1, 1, 2, 1, 1}));
  EXPECT_EQ(*ran(".reqnctapercluster 2, 1, 1", grid_of({2, 1, 1}, {2, 1, 1}, 1)), (Words{0, 2, 0, 1, 1, 2, 1, 1}));
  EXPECT_EQ(*ran(".explicitcluster", grid_of({2, 1, 1}, {2, 1, 1}, 1)), (Words{0, 2, 0, 1, 1, 2, 1, 1}));
  EXPECT_EQ(*ran(".maxclusterrank 2", grid_of({2, 1, 1}, {1, 1, 1}, 1)), (Words{0, 1, 0, 0, 0, 1, 1, 0}));
  // a grid of clusters: 2 of them are 4 blocks
  EXPECT_EQ(*ran(".reqntid 1 .reqnctapercluster 2 .blocksareclusters", grid_of({2, 1, 1}, {1, 1, 1}, 1)),
            (Words{0, 2, 0, 1, 1, 2, 1, 1, 0, 2, 2, 1, 1, 2, 3, 1}));
  EXPECT_EQ(message(".reqnctapercluster 2", grid_of({3, 1, 1}, {1, 1, 1}, 1)),
            "kernel `k`: grid (3, 1, 1) is not a whole number of clusters (2, 1, 1) in x");
  EXPECT_EQ(message("", grid_of({4, 3, 1}, {2, 2, 1}, 1)),
            "kernel `k`: grid (4, 3, 1) is not a whole number of clusters (2, 2, 1) in y");
  EXPECT_EQ(message(".reqnctapercluster 2", grid_of({4, 1, 1}, {4, 1, 1}, 1)),
            "kernel `k`: cluster (4, 1, 1) is not the kernel's `.reqnctapercluster` (2, 1, 1)");
  EXPECT_EQ(message(".maxclusterrank 2", grid_of({4, 1, 1}, {4, 1, 1}, 1)),
            "kernel `k`: cluster (4, 1, 1) has 4 blocks; the kernel's `.maxclusterrank` is 2");
  EXPECT_EQ(message("", grid_of({32, 1, 4}, {8, 1, 4}, 1)), "kernel `k`: cluster (8, 1, 4) has 32 blocks; at most 16 fit");
  const auto old = make_body(out_param, "mov.u32 %r0, 1;", {"7.8", "sm_80"});
  ASSERT_TRUE(old);
  Buffer<std::uint32_t> out{"out", {0}};
  const auto refused = (*old)->run(grid_of({2, 1, 1}, {2, 1, 1}), params({out.address()}), std::vector{out.region()});
  EXPECT_EQ(refused.error().message, "kernel `k`: cluster (2, 1, 1) needs sm_90 or later; the kernel is for sm_80");
}

// ---- each other's shared memory

// Every thread gives a word to the block behind its own and takes the one that the block before it gave, in every spelling.
TEST(Clusters, BlocksReachEachOther) {
  constexpr std::array spellings = {
      "mapa.shared::cluster.u32 %r6, %r5, %r4;\nst.shared::cluster.u32 [%r6], %r7;\n",
      "mapa.shared::cluster.u32 %r6, tile, %r4;\nmad.lo.u32 %r6, %r1, 4, %r6;\nst.relaxed.cluster.shared::cluster.u32 [%r6], "
      "%r7;\n",
      "cvt.u64.u32 %rd2, %r5;\ncvta.shared.u64 %rd2, %rd2;\nmapa.u64 %rd3, %rd2, %r4;\nst.u32 [%rd3], %r7;\n",
      "cvt.u64.u32 %rd2, %r5;\nmapa.shared::cluster.u64 %rd3, %rd2, %r4;\nst.release.cluster.shared::cluster.u32 [%rd3], %r7;\n",
      "mapa.shared::cluster.u32 %r6, %r5, %r4;\ncvt.u64.u32 %rd2, %r6;\ncvta.shared::cluster.u64 %rd2, %rd2;\n"
      "st.volatile.u32 [%rd2], %r7;\n",
      "cvta.shared.u64 %rd2, tile;\nmapa.u64 %rd2, %rd2, %r4;\nmad.wide.u32 %rd2, %r1, 4, %rd2;\nst.u32 [%rd2], %r7;\n",
      "mapa.shared::cluster.u64 %rd2, tile, %r4;\nmad.wide.u32 %rd2, %r1, 4, %rd2;\nst.shared::cluster.u32 [%rd2], %r7;\n"};
  for (const std::string_view spelling : spellings)
    for (const auto& [grid, cluster] : {std::pair{Dims{2, 1, 1}, Dims{1, 1, 1}},
                                        {Dims{4, 1, 1}, Dims{2, 1, 1}},
                                        {Dims{2, 2, 2}, Dims{1, 2, 2}},
                                        {Dims{8, 2, 1}, Dims{8, 1, 1}},
                                        {Dims{4, 4, 1}, Dims{4, 4, 1}},
                                        {Dims{2, 6, 2}, Dims{2, 3, 2}}}) {
      const std::uint32_t blocks = volume_of(cluster), threads = 64;
      const auto out = run(cat(".shared .align 4 .b32 tile[64];\nmov.u32 %r5, tile;\nmad.lo.u32 %r5, %r1, 4, %r5;\n"
                               "add.u32 %r4, %r0, 1;\nmov.u32 %r3, %cluster_nctarank;\nrem.u32 %r4, %r4, %r3;\n"
                               "mad.lo.u32 %r7, %r0, 1000, %r1;\n",
                               meet, spelling, meet, "ld.shared.u32 %r8, [%r5];\nst.global.u32 [%rd0], %r8;\n"),
                           grid_of(grid, cluster, threads));
      std::size_t at = 0;
      for (std::uint32_t z = 0; z < grid[2]; ++z)
        for (std::uint32_t y = 0; y < grid[1]; ++y)
          for (std::uint32_t x = 0; x < grid[0]; ++x) {
            const std::uint32_t rank = (z % cluster[2] * cluster[1] + y % cluster[1]) * cluster[0] + x % cluster[0];
            for (std::uint32_t t = 0; t < threads; ++t, ++at)
              ASSERT_EQ(out[at], (rank + blocks - 1) % blocks * 1000 + t) << spelling << to_string(grid) << to_string(cluster);
          }
    }
}

// Rank 0 adds up what all blocks have, and hands the sum back: loads, atomics and reductions, and several workers.
TEST(Clusters, SumsOverBlocks) {
  const std::string body =
      cat(".shared .align 8 .b64 sums[4];\nmov.u32 %r5, sums;\nsetp.ne.u32 %p0, %r1, 0;\n"
          "mov.u64 %rd2, 0;\n@!%p0 st.shared.v2.b64 [%r5], {%rd2, %rd2};\n@!%p0 st.shared.v2.b64 [%r5+16], {%rd2, %rd2};\n",
          meet,
          "mov.u32 %r4, 0;\nmapa.shared::cluster.u32 %r6, %r5, %r4;\nadd.u32 %r7, %r0, %r1;\n"
          "red.relaxed.cluster.shared::cluster.add.u32 [%r6], %r7;\n"
          "atom.shared::cluster.add.u32 %r8, [%r6+4], 1;\ncvt.u64.u32 %rd2, %r6;\ncvta.shared::cluster.u64 %rd2, %rd2;\n"
          "atom.add.u64 %rd3, [%rd2+8], 3;\nred.shared::cluster.max.u32 [%r6+16], %r7;\n"
          "atom.cas.shared::cluster.b32 %r8, [%r6+20], 0, 77;\n",
          meet,
          "ld.shared::cluster.v2.u32 {%r7, %r8}, [%r6];\nld.u64 %rd4, [%rd2+8];\ncvt.u32.u64 %r9, %rd4;\n"
          "ld.acquire.cluster.shared::cluster.u32 %r10, [%r6+16];\nld.shared::cluster.u32 %r11, [%r6+20];\nadd.u32 %r10, %r10, "
          "%r11;\n"
          "st.global.v4.u32 [%rd0], {%r7, %r8, %r9, %r10};\n",
          meet);
  for (const std::uint32_t blocks : {1u, 2u, 4u, 8u, 16u})
    for (const unsigned workers : {1u, 3u}) {
      const std::uint32_t threads = 96, all = blocks * threads;
      Options options;
      options.workers = workers;
      const auto out = run(body, grid_of({blocks * 3, 2, 1}, {blocks, 1, 1}, threads), 4, options);
      const std::uint32_t sum = blocks * (threads * (threads - 1) / 2) + threads * (blocks * (blocks - 1) / 2);
      for (std::size_t i = 0; i < out.size(); i += 4) {
        ASSERT_EQ(out[i], sum) << blocks << ' ' << i;
        ASSERT_EQ(out[i + 1], all);
        ASSERT_EQ(out[i + 2], 3 * all);
        ASSERT_EQ(out[i + 3], blocks - 1 + threads - 1 + 77);
      }
    }
}

// A token goes from block to block, each waiting in a loop for its flag, many times around.
TEST(Clusters, PingPongThroughFlags) {
  const std::string body = cat(
      ".shared .align 4 .b32 flag;\nmov.u32 %r5, flag;\nmov.u32 %r6, 0;\nst.shared.u32 [%r5], %r6;\n", meet,
      "mov.u32 %r3, %cluster_nctarank;\nadd.u32 %r4, %r0, 1;\nrem.u32 %r4, %r4, %r3;\nmapa.shared::cluster.u32 %r8, %r5, %r4;\n"
      "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r6, 1;\n@%p0 bra GIVE;\n"
      "TAKE:\nld.acquire.cluster.shared::cta.u32 %r7, [%r5];\nsetp.lt.u32 %p1, %r7, %r6;\n@%p1 bra TAKE;\n"
      "GIVE:\nmad.lo.u32 %r9, %r6, 1, 0;\nselp.u32 %r10, 1, 0, %p0;\n"
      "st.release.cluster.shared::cluster.u32 [%r8], %r9;\nadd.u32 %r6, %r6, 1;\nsetp.le.u32 %p2, %r6, 50;\n@%p2 bra TAKE0;\nbra "
      "DONE;\n"
      "TAKE0:\n@!%p0 bra TAKE;\nsub.u32 %r11, %r6, 1;\nWAIT:\nld.acquire.cluster.shared::cta.u32 %r7, [%r5];\n"
      "setp.lt.u32 %p1, %r7, %r11;\n@%p1 bra WAIT;\nbra GIVE;\nDONE:\n",
      meet, "ld.shared.u32 %r7, [%r5];\nst.global.u32 [%rd0], %r7;\n");
  for (const std::uint32_t blocks : {2u, 5u, 16u})
    for (const std::uint32_t value : run(body, grid_of({blocks, 2, 1}, {blocks, 1, 1}, 1))) EXPECT_EQ(value, 50u);
}

TEST(Clusters, AddressesSayWhose) {
  // the rank of every mapped address, and which spaces its generic one is in: own block, cluster, global
  const std::string body = cat(
      ".shared .align 4 .b32 pad[4];\n.shared .align 4 .b32 tile[4];\nmov.u32 %r5, tile;\nmapa.shared::cluster.u32 %r6, %r5, "
      "%r1;\n"
      "getctarank.shared::cluster.u32 %r7, %r6;\ncvt.u64.u32 %rd2, %r6;\ncvta.shared::cluster.u64 %rd2, %rd2;\n"
      "getctarank.u64 %r8, %rd2;\nisspacep.shared::cta %p0, %rd2;\nisspacep.shared::cluster %p1, %rd2;\nisspacep.global %p2, "
      "%rd2;\n"
      "selp.u32 %r9, 1, 0, %p0;\nselp.u32 %r10, 2, 0, %p1;\nselp.u32 %r11, 4, 0, %p2;\nadd.u32 %r9, %r9, %r10;\nadd.u32 %r9, "
      "%r9, "
      "%r11;\nmad.lo.u32 %r9, %r8, 8, %r9;\nsetp.eq.u32 %p0, %r6, %r5;\nselp.u32 %r10, 1, 0, %p0;\n"
      "getctarank.shared::cluster.u32 %r11, tile;\nshl.b32 %r11, %r11, 1;\nadd.u32 %r10, %r10, %r11;\n"
      "mapa.shared::cluster.u32 %r12, %r6, %r0;\nsub.u32 %r12, %r12, %r5;\nst.global.v4.u32 [%rd0], {%r7, %r9, %r10, %r12};\n");
  const auto out = run(body, grid_of({4, 1, 1}, {4, 1, 1}, 4), 4);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    for (std::uint32_t to = 0; to < 4; ++to) {
      const auto* words = &out[(rank * 4 + to) * 4];
      EXPECT_EQ(words[0], to);
      EXPECT_EQ(words[1], to * 8 + (rank == to ? 3 : 2));
      EXPECT_EQ(words[2], rank * 2 + (rank == to ? 1 : 0)) << "a block's own address is its address in the cluster";
      EXPECT_EQ(words[3], 0u) << "and back";
    }
}

TEST(Clusters, ElementsAndMatricesOfTheOwnBlock) {
  // a name with an index, ldmatrix from a register and from a generic address
  const std::string body =
      cat(".shared .align 16 .b8 pad[64];\n.shared .align 16 .b32 tile[256];\nmov.u32 %r5, tile;\nmad.lo.u32 %r6, %r1, 4, %r5;\n"
          "mad.lo.u32 %r7, %r0, 100, %r1;\nst.shared.u32 [%r6], %r7;\nbar.sync 0;\nld.shared.u32 %r8, [tile+8];\n"
          "mad.lo.u32 %r6, %r1, 16, %r5;\nand.b32 %r6, %r6, 0xFFFFFF7F;\nmov.u32 %r6, tile;\nand.b32 %r9, %r1, 7;\nmad.lo.u32 "
          "%r6, %r9, 16, %r6;\n"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r6];\ncvt.u64.u32 %rd2, %r6;\ncvta.shared.u64 %rd2, %rd2;\n"
          "ldmatrix.sync.aligned.m8n8.x1.b16 {%r11}, [%rd2];\nst.global.v4.u32 [%rd0], {%r8, %r10, %r11, %r7};\n");
  const auto out = run(body, grid_of({3, 1, 1}, {3, 1, 1}), 4);
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    for (std::uint32_t t = 0; t < 32; ++t) {
      const auto* words = &out[(rank * 32 + t) * 4];
      EXPECT_EQ(words[0], rank * 100 + 2);
      EXPECT_EQ(words[1], rank * 100 + t);  // row t / 4, pair t % 4: word t
      EXPECT_EQ(words[2], rank * 100 + t);
    }
}

// ---- what is wrong

TEST(Clusters, AddressesThatNobodyHas) {
  const LaunchConfig pair = grid_of({2, 1, 1}, {2, 1, 1}, 1);
  const std::string tile = ".shared .align 4 .b32 tile[4];\nmov.u32 %r5, tile;\nmov.u32 %r4, 1;\nsub.u32 %r4, %r4, %r0;\n";
  expect_fault(".shared .b32 v;\nmapa.u64 %rd2, v, %r1;", pair, Kind::out_of_bounds,
               "takes address 0x400 for one in shared memory");
  for (const char* rank : {"2", "255", "4294967295"})
    for (const char* use : {"ld.shared::cluster.u32 %r7, [%r6];", "mbarrier.arrive.shared::cluster.b64 _, [%r6];",
                            "atom.shared::cluster.add.u32 %r7, [%r6], 1;"})
      expect_fault(cat(tile, "mapa.shared::cluster.u32 %r6, %r5, ", rank, ";\n", use), pair, Kind::out_of_bounds,
                   "which is in no block's shared memory: the cluster has 2 blocks");
  expect_fault(cat(tile, "mapa.shared::cluster.u32 %r6, %r5, %r4;\nld.shared.u32 %r7, [%r6];"), pair, Kind::out_of_bounds,
               "in the shared memory of block (1, 0, 0), rank 1 of the cluster: .shared is the block's own");
  expect_fault(cat(tile, meet, "mapa.shared::cluster.u32 %r6, %r5, %r4;\nst.shared::cluster.u32 [%r6+16], %r4;\n", meet), pair,
               Kind::out_of_bounds, "just past the end of shared memory (16 bytes)");
  expect_fault(cat(tile, "mov.u32 %r6, 0x2000404;\nld.shared::cluster.u32 %r7, [%r6];"), pair, Kind::out_of_bounds,
               "which is in no block's shared memory: the cluster has 2 blocks");
  expect_fault(cat(tile, "getctarank.shared::cluster.u32 %r6, 0x5000000;"), pair, Kind::out_of_bounds,
               "takes address 0x5000000 for one in shared memory, where it is not");
  expect_fault(
      cat(tile, meet, "mapa.shared::cluster.u32 %r6, %r5, %r4;\nld.shared::cluster.u32 %r7, [%r6];\nst.global.u32 [%rd0], %r7;\n",
          meet),
      pair, Kind::uninitialised, "nothing has written byte 0 of shared memory");
}

TEST(Clusters, AddressesOfBlocksThatAreNotThereMayGoUnused) {
  const auto out = run(cat(".shared .align 4 .b32 tile[4];\nmov.u32 %r5, tile;\nmov.u32 %r4, %laneid;\n"
                           "mapa.shared::cluster.u32 %r6, %r5, %r4;\nst.global.u32 [%rd0], 7;\n"),
                       grid_of({2, 1, 1}, {2, 1, 1}, 32), 1);
  EXPECT_EQ(out[0], 7U);
}

TEST(Clusters, ABlockThatIsGone) {
  // block 1 leaves at once; block 0 waits for its flag in global memory, and then reaches for its shared memory
  const std::string body =
      cat(".shared .align 8 .b64 tile[2];\nmov.u32 %r5, tile;\nmov.u32 %r6, 0;\nst.shared.u32 [%r5], %r6;\n", meet,
          "setp.eq.u32 %p0, %r0, 1;\n@%p0 bra DONE;\nmov.u32 %r7, 0;\nWAIT:\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, "
          "5000;\n@%p1 bra WAIT;\n"
          "mapa.shared::cluster.u32 %r6, %r5, 1;\nld.shared::cluster.u32 %r7, [%r6];\nDONE:");
  const Diagnostic d = fault(body, grid_of({2, 1, 1}, {2, 1, 1}, 1));
  EXPECT_EQ(d.kind, Kind::out_of_bounds);
  EXPECT_EQ(
      d.message,
      "`ld.shared::cluster.u32` loads 4 bytes at shared::cluster address 0x1000400, in the shared memory of block (1, 0, 0), "
      "rank 1 of the cluster, which has exited");
  EXPECT_TRUE(
      testing::has_note(d, "thread: (0, 0, 0) of block (0, 0, 0), rank 0 of cluster (0, 0, 0) in kernel `k` (warp 0, lane 0)"))
      << render(d);
  EXPECT_TRUE(testing::has_note(
      d, "replay: kernel `k`, grid (2, 1, 1), block (1, 1, 1), cluster (2, 1, 1), 0 bytes of dynamic shared memory"))
      << render(d);
}

TEST(Clusters, Deadlocks) {
  // rank 0 waits for the cluster, rank 1 at a barrier to which warp 1 of it does not come
  const Diagnostic stuck = fault(
      "setp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %r1, 32;\n@%p0 bra MEET;\n@%p1 bra ALONE;\nbra MEET;\nALONE:\nbar.sync "
      "3;\nMEET:\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;",
      grid_of({4, 1, 1}, {2, 1, 1}, 64));
  EXPECT_EQ(stuck.kind, Kind::deadlock);
  const std::string text = render(stuck);
  for (const std::string_view part :
       {"waits at the cluster's barrier, which cannot complete: no warp of the cluster can continue",
        "warp 0 of block (0, 0, 0), rank 0, waits at the cluster's barrier, to which 3 of 4 warps have come",
        "warp 0 of block (1, 0, 0), rank 1, waits at barrier 3, where 32 of 64 threads have come"})
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  // a flag that nobody sets, in the other block's memory: nothing changes any more
  const Diagnostic spins =
      fault(cat(".shared .align 4 .b32 flag;\nmov.u32 %r5, flag;\nmov.u32 %r6, 0;\nst.shared.u32 [%r5], %r6;\n", meet,
                "mov.u32 %r4, 1;\nsub.u32 %r4, %r4, %r0;\nmapa.shared::cluster.u32 %r6, %r5, %r4;\n"
                "WAIT:\nld.acquire.cluster.shared::cluster.u32 %r7, [%r6];\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra WAIT;"),
            grid_of({2, 1, 1}, {2, 1, 1}, 1));
  EXPECT_EQ(spins.kind, Kind::deadlock);
  EXPECT_NE(render(spins).find("warp 0 of block (1, 0, 0), rank 1, is at kernel.ptx:34:1"), std::string::npos) << render(spins);
  // a second arrival, and one that exits instead of coming is not waited for
  expect_fault(
      "barrier.cluster.arrive;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 bra WAIT;\nbarrier.cluster.arrive;\nWAIT:\nbarrier.cluster.wait;",
      grid_of({2, 1, 1}, {2, 1, 1}), Kind::barrier_misuse, "comes to the cluster's barrier a second time");
  const auto out = run(
      "mov.u32 %r5, 1;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 bra DONE;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 %r5, "
      "2;\nDONE:\nst.global.u32 [%rd0], %r5;",
      grid_of({2, 1, 1}, {2, 1, 1}));
  EXPECT_EQ(out.front(), 2u);
  EXPECT_EQ(out.back(), 1u);
}

TEST(Clusters, TheFirstFaultOfTheGridWithEveryNumberOfWorkers) {
  // clusters 2 and 5 go wrong
  const std::string body = cat(meet,
                               "mov.u32 %r5, %clusterid.x;\nrem.u32 %r6, %r5, 3;\nsetp.eq.u32 %p0, %r6, 2;\n@!%p0 bra DONE;\n"
                               "setp.eq.u32 %p1, %r0, 1;\n@%p1 trap;\nDONE:");
  std::set<std::string> reports;
  for (const unsigned workers : {1u, 2u, 4u}) {
    Options options;
    options.workers = workers;
    reports.insert(render(fault(body, grid_of({16, 1, 1}, {2, 1, 1}), options)));
  }
  EXPECT_EQ(reports.size(), 1u);
  EXPECT_NE(reports.begin()->find("of block (5, 0, 0), rank 1 of cluster (2, 0, 0)"), std::string::npos) << *reports.begin();
}

}  // namespace
}  // namespace ptx::vgpu::clusters
