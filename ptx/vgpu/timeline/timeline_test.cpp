// What a timeline shows of small kernels whose times are worked out by hand, and that its trace is sound.
#include "ptx/vgpu/timeline/timeline.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

// An event of a trace, each of which stands on a line of its own.
struct Event {
  std::string phase, name, category, args;
  std::uint64_t pid = 0, tid = 0, ts = 0, dur = 0, id = 0;
  [[nodiscard]] std::uint64_t end() const { return ts + dur; }
};

std::string word(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(cat('"', key, "\": \""));
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 5;
  return line.substr(begin, line.find('"', begin) - begin);
}
std::uint64_t number(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(cat('"', key, "\": "));
  return at == std::string::npos ? 0 : std::stoull(line.substr(at + key.size() + 4));
}

struct Told {
  std::vector<Event> slices, arrows;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> rows;
  Profile profile;
  std::string text;

  [[nodiscard]] std::vector<Event> of(const std::string& category) const {
    std::vector<Event> some;
    std::copy_if(slices.begin(), slices.end(), std::back_inserter(some), [&](const Event& e) { return e.category == category; });
    return some;
  }
  [[nodiscard]] const ProfileRow& row(const std::string& instruction) const {
    const auto found = std::find_if(profile.rows.begin(), profile.rows.end(),
                                    [&](const ProfileRow& row) { return row.instruction == instruction; });
    if (found == profile.rows.end()) throw std::out_of_range(instruction);
    return *found;
  }
  [[nodiscard]] std::string row_of(const Event& event) const { return rows.at({event.pid, event.tid}); }
};

Told read(const Timeline& timeline) {
  Told told{.profile = timeline.profile(), .text = timeline.trace()};
  std::istringstream lines(told.text);
  for (std::string line; std::getline(lines, line);) {
    Event event{.phase = word(line, "ph"), .name = word(line, "name"), .category = word(line, "cat"), .args = line};
    event.pid = number(line, "pid"), event.tid = number(line, "tid"), event.ts = number(line, "ts");
    event.dur = number(line, "dur"), event.id = number(line, "id");
    if (event.phase == "X") told.slices.push_back(event);
    if (event.phase == "s" || event.phase == "f") told.arrows.push_back(event);
    if (event.phase == "M" && event.name == "thread_name")
      told.rows[{event.pid, event.tid}] = word(line.substr(line.find("\"args\"")), "name");
  }
  return told;
}

// Slices of a row do not overlap; each arrow has two ends, in slices, and goes forward.
void check_sound(const Told& told) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Event>> by_row;
  for (const Event& slice : told.slices) {
    EXPECT_GT(slice.dur, 0u) << slice.args;
    by_row[{slice.pid, slice.tid}].push_back(slice);
  }
  for (auto& [row, slices] : by_row) {
    std::sort(slices.begin(), slices.end(), [](const Event& a, const Event& b) { return a.ts < b.ts; });
    for (std::size_t i = 1; i < slices.size(); ++i) EXPECT_LE(slices[i - 1].end(), slices[i].ts) << slices[i].args;
  }
  std::map<std::uint64_t, std::vector<Event>> ends;
  for (const Event& end : told.arrows) {
    ends[end.id].push_back(end);
    const auto& row = by_row[{end.pid, end.tid}];
    EXPECT_TRUE(std::any_of(row.begin(), row.end(), [&](const Event& s) { return s.ts <= end.ts && end.ts < s.end(); }))
        << end.args;
  }
  for (const auto& [id, pair] : ends) {
    ASSERT_EQ(pair.size(), 2u);
    EXPECT_EQ(pair[0].phase + pair[1].phase, "sf");
    EXPECT_LE(pair[0].ts, pair[1].ts);
  }
}

Told tell(const std::shared_ptr<const Program>& program, const LaunchConfig& config, std::span<const std::byte> given,
          std::vector<Region> regions, Options options = {}, const TimelineOptions& of_timeline = {}) {
  Timeline timeline(of_timeline);
  options.observer = &timeline;
  options.workers = 4;
  testing::run(program, config, given, std::move(regions), options);
  Told told = read(timeline);
  check_sound(told);
  return told;
}

const std::string stride_header =
    ".shared .align 16 .b8 tile[16384];\n.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, tile;\n";

TEST(Timeline, CountsBankConflictsByInstruction) {
  for (const auto& [words, wavefronts] : {std::pair(1, 1), std::pair(2, 2), std::pair(32, 32), std::pair(33, 1)}) {
    const auto program =
        testing::text_program("", cat(stride_header, "mul.lo.u32 %r2, %r0, ", 4 * words,
                                      "; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r0;\n", "ld.shared.u32 %r3, [%r1]; ret;"));
    const Told told = tell(program, block(64), {}, {});
    for (const char* instruction : {"st.shared.u32", "ld.shared.u32"}) {
      const ProfileRow& row = told.row(instruction);
      EXPECT_EQ(row.executions, 2u);
      EXPECT_EQ(row.lanes, 64u);
      EXPECT_EQ(row.wavefronts, 2u * static_cast<unsigned>(wavefronts)) << words;
      EXPECT_EQ(row.needed_wavefronts, 2u) << words;
      EXPECT_EQ(row.sectors, 0u);
      EXPECT_EQ(row.cycles, 2u * static_cast<unsigned>(wavefronts)) << words;
    }
  }
}

TEST(Timeline, CountsThroughGenericAddressesAndVectors) {
  const auto program = testing::text_program(
      "", cat(stride_header, "cvta.shared.u64 %rd1, %rd0; mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1;\n",
              "mul.wide.u32 %rd2, %r0, 128; add.u64 %rd1, %rd1, %rd2; st.v4.f32 [%rd1], {%f0, %f0, %f0, %f0}; ret;"));
  Options options;
  options.check_initialised = false;
  const Told told = tell(program, block(32), {}, {}, options);
  EXPECT_EQ(told.row("st.v4.f32").wavefronts, 32u);
  EXPECT_EQ(told.row("st.v4.f32").needed_wavefronts, 4u);
}

TEST(Timeline, CountsSectorsOfGlobalMemoryAndActiveLanes) {
  Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(4096)};
  const auto program = testing::text_program(
      ".param .u64 x",
      cat(stride_header,
          "ld.param.u64 %rd0, [x]; setp.lt.u32 %p, %r0, 8; mul.wide.u32 %rd1, %r0, 128; add.u64 %rd1, %rd0, %rd1;\n",
          "ld.global.u32 %r2, [%rd1];\n@%p st.global.u32 [%rd1], %r2;\n@%p ld.global.u32 %r3, [%rd0]; ret;"));
  const Told told = tell(program, block(32), params({x.address()}), {x.region()});
  EXPECT_EQ(told.profile.rows.size(), 10u);
  const ProfileRow& column = told.row("ld.global.u32");
  EXPECT_EQ(column.sectors, 32u);
  EXPECT_EQ(column.needed_sectors, 4u);
  const ProfileRow& store = told.row("st.global.u32");
  EXPECT_EQ(store.lanes, 8u);
  EXPECT_EQ(store.executions, 1u);
  EXPECT_EQ(store.sectors, 8u);
  EXPECT_EQ(store.needed_sectors, 1u);
  // what reads the loaded register waits for it: 500 cycles behind the last of the 8 that 32 sectors take
  EXPECT_EQ(store.stalls, 506u);
  ASSERT_EQ(told.of("registers").size(), 1u);
  EXPECT_EQ(told.of("registers")[0].name, "wait for %r2");
}

TEST(Timeline, BarriersWaitForTheLastToCome) {
  // warp 1 divides first
  const auto program = testing::text_program(
      "", cat(stride_header, "setp.lt.u32 %p, %r0, 32;\n@%p bra MEET;\n",
              "div.u32 %r2, %r0, %r1; div.u32 %r2, %r2, %r1; div.u32 %r2, %r2, %r1;\nMEET: bar.sync 0; ret;"));
  const Told told = tell(program, block(64), {}, {});
  const auto waits = told.of("wait");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].name, "wait at barrier 0");
  EXPECT_EQ(told.row_of(waits[0]), "warp 0");
  ASSERT_EQ(told.arrows.size(), 2u);
  EXPECT_EQ(told.row_of(told.arrows[0]), "warp 1");
  EXPECT_EQ(told.row_of(told.arrows[1]), "warp 0");
  const auto syncs = told.of("signal");
  const auto late = std::find_if(syncs.begin(), syncs.end(), [&](const Event& e) { return told.row_of(e) == "warp 1"; });
  ASSERT_NE(late, syncs.end());
  EXPECT_EQ(waits[0].end(), late->end() + 8);
}

const std::string_view copy_kernel = R"(
  .shared .align 16 .b8 tile[4096]; .shared .align 8 .b64 full;
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
  ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mov.u32 %r2, full; setp.ne.u32 %p, %r0, 0;
  @!%p mbarrier.init.shared.b64 [%r2], 1;
  bar.sync 0;
  @%p bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r2], 4096; mov.u32 %r3, tile;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 4096, [%r2];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0;
  @!%p bra WAIT;
  ret;)";

TEST(Timeline, CopiesAndThePhasesThatTheyComplete) {
  const auto program = testing::text_program(".param .u64 x", copy_kernel);
  for (const Completion completion : {Completion::eager, Completion::lazy, Completion::random}) {
    Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(1024)};
    Options options;
    options.completion = completion;
    const Told told = tell(program, block(64), params({x.address()}), {x.region()}, options);
    const auto copies = told.of("copy");
    ASSERT_EQ(copies.size(), 1u);
    EXPECT_EQ(number(copies[0].args, "bytes"), 4096u);
    EXPECT_EQ(copies[0].dur, 4096u / 32);
    EXPECT_EQ(told.row_of(copies[0]), "TMA");
    std::vector<Event> waits;
    for (const Event& wait : told.of("wait"))
      if (wait.name == "wait for full phase 0") waits.push_back(wait);
    ASSERT_EQ(waits.size(), 2u);
    for (const Event& wait : waits) {
      EXPECT_EQ(wait.end(), copies[0].end() + 8);
      EXPECT_TRUE(std::any_of(told.arrows.begin(), told.arrows.end(),
                              [&](const Event& e) { return e.phase == "f" && e.tid == wait.tid && e.ts == wait.end() - 1; }));
    }
    EXPECT_EQ(told.arrows.size(), 6u);  // to the copy, and to two waits
  }
}

TEST(Timeline, GroupsOfCopies) {
  const auto program = testing::text_program(".param .u64 x", R"(
  .shared .align 16 .b8 tile[8192];
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mov.u32 %r2, tile; mul.wide.u32 %rd1, %r0, 16; add.u64 %rd0, %rd0, %rd1;
  shl.b32 %r1, %r0, 4; add.u32 %r2, %r2, %r1;
  cp.async.cg.shared.global [%r2], [%rd0], 16;
  cp.async.commit_group;
  cp.async.cg.shared.global [%r2+4096], [%rd0+4096], 16;
  cp.async.commit_group;
  cp.async.wait_group 1;
  cp.async.wait_group 0;
  ret;)");
  Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(4096)};
  const Told told = tell(program, block(32), params({x.address()}), {x.region()});
  const auto copies = told.of("copy");
  ASSERT_EQ(copies.size(), 2u);
  for (const Event& copy : copies) EXPECT_EQ(number(copy.args, "bytes"), 512u);
  const ProfileRow& row = told.row("cp.async.cg.shared.global");
  EXPECT_EQ(row.wavefronts, 4u);  // of 16 bytes, by quarters of the warp
  EXPECT_EQ(row.needed_wavefronts, 4u);
  EXPECT_EQ(row.sectors, 16u);
  EXPECT_EQ(row.needed_sectors, 16u);
  const auto waits = told.of("wait");
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].end(), copies[0].end() + 8);
  EXPECT_EQ(waits[1].end(), copies[1].end() + 8);
}

TEST(Timeline, BlocksBegunWhenOthersEnded) {
  const auto program = testing::text_program("", cat(stride_header, "bar.sync 0; ret;"));
  LaunchConfig config = block(32);
  config.grid = {133, 1, 1};
  const Told told = tell(program, config, {}, {});
  std::uint64_t begun = ~std::uint64_t{0}, ended = 0;
  for (const Event& slice : told.slices) {
    if (slice.pid == 133) begun = std::min(begun, slice.ts);
    if (slice.pid == 1) ended = std::max(ended, slice.end());
  }
  EXPECT_EQ(begun, ended);  // 132 run at a time, all equally long
}

TEST(Timeline, KeepsSoManySlicesAndSaysWhatItLeftOut) {
  const auto program = testing::text_program("", cat(stride_header, "bar.sync 0; bar.sync 0; bar.sync 0; ret;"));
  const Told told = tell(program, block(32), {}, {}, {}, {.most_slices = 2});
  EXPECT_EQ(told.slices.size(), 2u);
  EXPECT_NE(told.text.find("\"slices_left_out\": 3"), std::string::npos) << told.text;
}

TEST(Timeline, OfAnEmptyKernelAndOfOneThatFails) {
  const Told empty = tell(testing::text_program("", "ret;"), block(32), {}, {});
  EXPECT_EQ(empty.slices.size(), 1u);
  EXPECT_EQ(empty.profile.cycles, 1u);
  Timeline timeline;
  Options options;
  options.observer = &timeline;
  testing::fault(testing::text_program("", cat(stride_header, "bar.sync 0; trap; ret;")), block(64), {}, {}, options);
  const Told failed = read(timeline);
  check_sound(failed);
  EXPECT_FALSE(failed.slices.empty());
}

TEST(Timeline, LaunchesFollowEachOther) {
  const auto program = testing::text_program("", cat(stride_header, "bar.sync 0; ret;"));
  Timeline timeline;
  Options options;
  options.observer = &timeline;
  testing::run(program, block(32), {}, {}, options);
  const std::uint64_t once = timeline.profile().cycles;
  testing::run(program, block(32), {}, {}, options);
  const Told told = read(timeline);
  check_sound(told);
  EXPECT_EQ(told.profile.cycles, 2 * once);
  EXPECT_EQ(told.slices.back().pid, 2u);
  const auto lines = told.profile.by_line();
  for (const ProfileRow& line : lines) EXPECT_EQ(line.executions % 2, 0u) << line.instruction;
}

TEST(Timeline, ALaunchIsTheSameObservedOrNot) {
  const auto program = testing::text_program(".param .u64 x", copy_kernel);
  Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(1024)};
  const Report plain = testing::run(program, block(64), params({x.address()}), {x.region()});
  Timeline timeline;
  Options options;
  options.observer = &timeline;
  const Report observed = testing::run(program, block(64), params({x.address()}), {x.region()}, options);
  EXPECT_EQ(plain.warp_instructions, observed.warp_instructions);
  std::uint64_t executions = 0;
  for (const ProfileRow& row : timeline.profile().rows) executions += row.executions;
  EXPECT_EQ(executions, observed.warp_instructions);
}

TEST(Profile, ATableOfTheDearestLines) {
  const auto program = testing::text_program(
      "", cat(stride_header, "shl.b32 %r2, %r0, 7; add.u32 %r1, %r1, %r2;\n", "st.shared.u32 [%r1], %r0;\nret;"));
  Timeline timeline;
  Options options;
  options.observer = &timeline;
  testing::run(program, block(32), {}, {}, options);
  const std::string table = timeline.profile().table(1);
  EXPECT_NE(table.find("32 of 1"), std::string::npos) << table;
  EXPECT_NE(table.find("st.shared.u32"), std::string::npos) << table;
  EXPECT_NE(table.find("claims order, not speed"), std::string::npos) << table;
}

}  // namespace
}  // namespace ptx::vgpu
