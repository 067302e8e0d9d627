// mbarriers against a reference automaton of the manual's description ("Instruction Set: mbarrier"), in plain numbers and by
// another way than the executor's: thousands of random programs of one owner and one thread of another block of its cluster,
// compared operation by operation, with what breaks a rule.
#include <map>
#include <random>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::mbarrier_model {
namespace {

using testing::Buffer;

constexpr std::int64_t most = (1 << 20) - 1;

// What there is to know of an mbarrier. An operation gives the rule that it breaks, or "".
struct Automaton {
  bool exists = false;
  std::int64_t phase = 0, pending = 0, expected = 0, tx_count = 0;

  std::string init(std::int64_t count) {
    if (exists) return "M-02";
    *this = {true, 0, count, count, 0};
    return "";
  }
  std::string inval() { return std::exchange(exists, false) ? "" : "M-01"; }
  std::string expect_tx(std::int64_t bytes) {
    if (!exists) return "M-01";
    if (tx_count + bytes > most) return "M-05";
    tx_count += bytes;
    complete();
    return "";
  }
  std::string complete_tx(std::int64_t bytes) {
    if (!exists) return "M-01";
    if (tx_count - bytes < -most) return "M-05";
    tx_count -= bytes;
    complete();
    return "";
  }
  struct Arrival {
    std::int64_t count = 1, bytes = 0;
    bool drops = false, may_complete = true, returns = false, is_remote = false;
  };
  std::string arrive(const Arrival& arrival) {
    if (arrival.returns && arrival.is_remote) return "M-07";
    if (!exists) return "M-01";
    if (tx_count + arrival.bytes > most) return "M-05";
    if (arrival.count > pending) return "M-04";
    tx_count += arrival.bytes;
    pending -= arrival.count;
    if (arrival.drops) expected -= arrival.count;
    if (!arrival.may_complete && pending == 0 && tx_count == 0) return "M-06";
    complete();
    return "";
  }
  // Nothing: the phase is too old to be asked for.
  [[nodiscard]] std::optional<bool> has_passed(std::int64_t asked) const {
    if (phase - asked > 1) return std::nullopt;
    return phase != asked;
  }
  [[nodiscard]] bool has_passed_parity(std::int64_t parity) const { return phase % 2 != parity; }

 private:
  void complete() {
    if (pending != 0 || tx_count != 0) return;
    ++phase;
    pending = expected;
  }
};

// A program that is written while the automaton runs it: `owner` executes %p0, the other block's thread %p1.
class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {}

  void write(int operations) {
    op(true, cat("mbarrier.init.shared::cta.b64 [bar], ", first_count_, ";"), automaton_.init(first_count_));
    both("fence.mbarrier_init.release.cluster;");
    meet();
    for (int i = 0; i < operations && rule_.empty(); ++i) {
      const bool remote = dice(4) == 0;
      if (remote != was_remote_) meet();
      was_remote_ = remote;
      next(remote);
      if (rule_.empty()) look();
    }
    meet();
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& rule() const { return rule_; }
  [[nodiscard]] const std::vector<std::uint32_t>& wanted() const { return wanted_; }

 private:
  std::int64_t dice(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool mistake() { return dice(40) == 0; }
  void both(std::string_view line) { text_ += cat(line, '\n'); }
  void op(bool by_owner, std::string_view line, std::string rule) {
    both(cat(by_owner ? "@%p0 " : "@%p1 ", line));
    rule_ = std::move(rule);
  }
  void meet() { both("barrier.cluster.arrive;"), both("barrier.cluster.wait;"); }
  void store(std::string_view reg, std::int64_t value) {
    both(cat("@%p0 st.global.u32 [%rd0+", 4 * wanted_.size(), "], ", reg, ";"));
    wanted_.push_back(static_cast<std::uint32_t>(value));
  }

  std::int64_t a_count() {
    if (mistake()) return automaton_.pending + 1;
    return automaton_.pending == 0 ? 1 : 1 + dice(std::min<std::int64_t>(automaton_.pending, 3));
  }
  std::int64_t some_bytes() {
    if (mistake()) return most - dice(64);
    return automaton_.tx_count != 0 && dice(2) == 0 ? std::abs(automaton_.tx_count) : dice(4) * 16;
  }

  void next(bool remote) {
    const std::string space = remote ? ".shared::cluster" : ".shared::cta", at = remote ? "[%r6]" : "[bar]";
    switch (dice(remote ? 9 : 13)) {
      case 0:
      case 1: {
        const std::int64_t bytes = some_bytes();
        return op(!remote, cat("mbarrier.expect_tx.relaxed.cluster", space, ".b64 ", at, ", ", bytes, ";"),
                  automaton_.expect_tx(bytes));
      }
      case 2:
      case 3: {
        const std::int64_t bytes = some_bytes();
        return op(!remote, cat("mbarrier.complete_tx.relaxed.cluster", space, ".b64 ", at, ", ", bytes, ";"),
                  automaton_.complete_tx(bytes));
      }
      case 9:
        if (!mistake()) return ask();
        return op(true, cat("mbarrier.init.shared::cta.b64 [bar], ", 2, ";"), automaton_.init(2));
      case 10: {
        if (dice(3) != 0) return ask();
        op(true, "mbarrier.inval.shared::cta.b64 [bar];", automaton_.inval());
        if (!rule_.empty() || mistake()) return;
        const std::int64_t count = 1 + dice(5);
        states_.clear();
        return op(true, cat("mbarrier.init.shared::cta.b64 [bar], ", count, ";"), automaton_.init(count));
      }
      case 11:
      case 12:
        return ask();
      default:
        return arrive(remote, space, at);
    }
  }

  void arrive(bool remote, const std::string& space, const std::string& at) {
    Automaton::Arrival arrival;
    arrival.is_remote = remote;
    arrival.drops = dice(4) == 0 && automaton_.expected > 4;
    const bool expects = dice(3) == 0;
    arrival.may_complete = expects || remote || dice(5) != 0;
    arrival.returns = remote ? mistake() : !arrival.may_complete || dice(3) != 0;
    if (expects)
      arrival.bytes = some_bytes();
    else
      arrival.count = a_count();
    if (arrival.drops) arrival.count = std::min<std::int64_t>(arrival.count, 2);
    if (!arrival.may_complete && arrival.count == automaton_.pending && !mistake()) arrival.may_complete = true;
    // A state is told of an mbarrier that may be anybody's through a generic address.
    const bool generic = remote && arrival.returns;
    const std::string state = arrival.returns ? cat("%s", states_written_) : std::string("_");
    const std::int64_t before = automaton_.pending, phase = automaton_.phase;
    op(!remote,
       cat("mbarrier.", arrival.drops ? "arrive_drop" : "arrive",
           expects                ? ".expect_tx"
           : arrival.may_complete ? ""
                                  : ".noComplete",
           arrival.may_complete ? ".release.cluster" : ".release.cta", generic ? std::string() : space, ".b64 ", state, ", ",
           generic ? "[%rd6]" : at, ", ", expects ? arrival.bytes : arrival.count, ";"),
       automaton_.arrive(arrival));
    if (!rule_.empty() || !arrival.returns) return;
    both(cat("@%p0 mbarrier.pending_count.b64 %r7, %s", states_written_, ";"));
    store("%r7", before);
    states_.push_back({states_written_++, phase});
  }

  // For a phase by the state of an arrival in it.
  void ask() {
    if (states_.empty()) return;
    const auto& [number, phase] = states_[static_cast<std::size_t>(dice(static_cast<std::int64_t>(states_.size())))];
    const auto passed = automaton_.exists ? automaton_.has_passed(phase) : std::nullopt;
    if (automaton_.exists && !passed && (dice(8) != 0 || automaton_.phase - phase > 6)) return;
    op(true, cat("mbarrier.test_wait.shared::cta.b64 %p2, [bar], %s", number, ";"),
       !automaton_.exists ? "M-01"
       : passed           ? ""
                          : "M-08");
    if (!rule_.empty()) return;
    both("selp.u32 %r7, 1, 0, %p2;");
    store("%r7", *passed ? 1 : 0);
  }

  // What everybody can see of it after each operation.
  void look() {
    if (!automaton_.exists) return;
    if (was_remote_) meet();
    for (std::int64_t parity = 0; parity < 2; ++parity) {
      both(cat("@%p0 mbarrier.", dice(2) == 0 ? "test_wait" : "try_wait", ".parity.shared::cta.b64 %p2, [bar], ", parity, ";"));
      both("selp.u32 %r7, 1, 0, %p2;");
      store("%r7", automaton_.has_passed_parity(parity) ? 1 : 0);
    }
    if (was_remote_) meet();
  }

  std::mt19937 random_;
  Automaton automaton_;
  std::int64_t first_count_ = 1 + dice(12);
  std::string text_, rule_;
  bool was_remote_ = false;
  std::vector<std::uint32_t> wanted_;
  std::vector<std::pair<int, std::int64_t>> states_;  // the register, and the phase
  int states_written_ = 0;
};

TEST(MbarrierModel, GivesWhatTheAutomatonGives) {
  const std::string start =
      ".shared .align 8 .b64 bar;\n.reg .b64 %s<40>;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %cluster_ctarank;\n"
      "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 1;\nmov.u32 %r5, bar;\nmapa.shared::cluster.u32 %r6, %r5, 0;\n"
      "cvta.shared.u64 %rd5, bar;\nmapa.u64 %rd6, %rd5, 0;\n";
  constexpr std::uint32_t programs = 2000;
  constexpr int operations = 14;
  std::map<std::string, int> broken;
  for (std::uint32_t seed = 0; seed < programs; ++seed) {
    Writer writer(seed);
    writer.write(operations);
    const auto program = testing::body_program(".param .u64 out", start + writer.text());
    ASSERT_NE(program, nullptr);
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(writer.wanted().size() + 1)};
    LaunchConfig config = testing::block(1);
    config.grid[0] = config.cluster[0] = 2;
    const std::vector<Region> regions{out.region()};
    const auto report = program->run(config, testing::params({out.address()}), regions);
    ++broken[writer.rule()];
    if (writer.rule().empty()) {
      ASSERT_TRUE(report) << "seed " << seed << '\n' << render(report.error()) << writer.text();
    } else {
      ASSERT_FALSE(report) << "seed " << seed << ": no " << writer.rule() << '\n' << writer.text();
      ASSERT_EQ(report.error().execution.front().rule, writer.rule()) << "seed " << seed << '\n' << render(report.error());
    }
    out.data.resize(writer.wanted().size());
    ASSERT_EQ(out.data, writer.wanted()) << "seed " << seed << '\n' << writer.text();
  }
  for (const std::string_view rule : {"", "M-01", "M-02", "M-04", "M-05", "M-06", "M-07", "M-08"})
    EXPECT_GT(broken[std::string(rule)], 3) << rule;
}

}  // namespace
}  // namespace ptx::vgpu::mbarrier_model
