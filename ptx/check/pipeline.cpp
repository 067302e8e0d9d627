#include "ptx/check/pipeline.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "ptx/check/dataflow.hpp"
#include "ptx/check/directives.hpp"

namespace ptx::check {
namespace {

using ir::OperandKind;
using Word = std::uint64_t;

constexpr std::uint32_t none = 0xFFFFFFFFu;

// A stretch of items without a way in or out but at its ends.
struct Block {
  std::uint32_t begin = 0, end = 0;               // items
  std::uint32_t first_event = 0, last_event = 0;  // [first, last) of the events
  std::vector<std::uint32_t> next;
};

// What may be true of the registers at a point, on some path to it: a bit for each that the pipeline touches, in several sets.
//   unfenced   written since the last wgmma.fence by something else than an mma
//   flight[0]  written by an mma that no commit_group has closed
//   flight[i]  by one of the i-th youngest group; the last set holds all older ones
class State {
 public:
  State(std::size_t words, std::size_t ages) : words_(words), ages_(ages), bits_(words * (ages + 1) + 1) {}

  [[nodiscard]] bool has(std::size_t set, std::uint32_t reg) const { return (row(set)[reg / 64] >> (reg % 64) & 1) != 0; }
  void add(std::size_t set, std::uint32_t reg) { row(set)[reg / 64] |= Word{1} << (reg % 64); }
  void remove(std::size_t set, std::uint32_t reg) { row(set)[reg / 64] &= ~(Word{1} << (reg % 64)); }
  void clear(std::size_t set) { std::fill_n(row(set), words_, 0); }
  /// No fence on some path from the entry; none on some way round a loop.
  enum Fenceless : Word { from_entry = 1, round_loop = 2 };
  [[nodiscard]] bool is(Fenceless what) const { return (bits_.back() & what) != 0; }
  void set(Fenceless what) { bits_.back() |= what; }
  void fence() {
    clear(unfenced);
    bits_.back() = 0;
  }

  static constexpr std::size_t unfenced = 0;
  [[nodiscard]] std::size_t ages() const { return ages_; }
  static std::size_t flight(std::size_t age) { return 1 + age; }
  /// The age of the youngest group that may be writing the register; ages() when none may.
  [[nodiscard]] std::size_t age_of(std::uint32_t reg) const {
    std::size_t age = 0;
    while (age < ages_ && !has(flight(age), reg)) ++age;
    return age;
  }
  void commit() {
    for (std::size_t age = ages_ - 1; age > 0; --age) {
      Word* to = row(flight(age));
      const Word* from = row(flight(age - 1));
      for (std::size_t w = 0; w < words_; ++w) to[w] = age == ages_ - 1 ? to[w] | from[w] : from[w];
    }
    clear(flight(0));
  }
  /// Waits until `pending` groups are left.
  void wait(std::uint64_t pending) {
    for (std::size_t age = pending + 1; age < ages_; ++age) clear(flight(age));
  }
  void land() {
    for (std::size_t age = 0; age < ages_; ++age) clear(flight(age));
  }
  [[nodiscard]] int in_flight() const {
    int n = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      Word any = 0;
      for (std::size_t age = 0; age < ages_; ++age) any |= row(flight(age))[w];
      n += std::popcount(any);
    }
    return n;
  }
  /// The mma writes these registers: in no group yet, and ordered by itself.
  void write(std::span<const Word> registers) {
    for (std::size_t age = 0; age < ages_; ++age) {
      Word* set = row(flight(age));
      for (std::size_t w = 0; w < words_; ++w) set[w] = age == 0 ? set[w] | registers[w] : set[w] & ~registers[w];
    }
    Word* set = row(unfenced);
    for (std::size_t w = 0; w < words_; ++w) set[w] &= ~registers[w];
  }
  [[nodiscard]] bool any_unfenced(std::span<const Word> registers) const {
    const Word* set = row(unfenced);
    for (std::size_t w = 0; w < words_; ++w)
      if ((set[w] & registers[w]) != 0) return true;
    return false;
  }
  /// Adds what is true on another path. True when something new was.
  bool join(const State& other) {
    bool grew = false;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      grew = grew || (other.bits_[i] & ~bits_[i]) != 0;
      bits_[i] |= other.bits_[i];
    }
    return grew;
  }

 private:
  Word* row(std::size_t set) { return bits_.data() + set * words_; }
  [[nodiscard]] const Word* row(std::size_t set) const { return bits_.data() + set * words_; }
  std::size_t words_, ages_;
  std::vector<Word> bits_;
};

class Wgmma {
 public:
  Wgmma(Report& report, const Names& names, const ir::Function& function, const std::vector<Access>& access)
      : report_(report), names_(names), function_(function), access_(access), bounds_(launch_bounds(function)) {}

  void run() {
    find_registers();
    check_function();
    if (!cut_blocks()) return too_large();
    const State start = initial();
    const std::size_t width = words() * (ages_ + 1) + 1;
    if (blocks_.size() * width > most_words || events_.size() * width > 64 * most_words) return too_large();
    std::vector<State> in(blocks_.size(), start);
    std::vector<std::uint8_t> reached(blocks_.size()), queued(blocks_.size());
    State first = start;
    first.set(State::from_entry);
    in[0] = first;
    std::vector<std::uint32_t> open{0};
    reached[0] = 1;
    std::size_t visits = 0;
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      queued[b] = 0;
      visits += blocks_[b].last_event - blocks_[b].first_event + 1;
      if (visits > most_visits + 64 * function_.body.size()) return too_large();
      State state = in[b];
      pass(blocks_[b], state);
      for (const std::uint32_t n : blocks_[b].next) {
        if (n <= b) state.set(State::round_loop);
        if (!in[n].join(state) && reached[n] != 0) continue;
        reached[n] = 1;
        if (queued[n] == 0) open.push_back(n);
        queued[n] = 1;
      }
    }
    reporting_ = true;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (reached[b] != 0) pass(blocks_[b], in[b]);
  }

 private:
  static constexpr std::size_t most_words = std::size_t{4} << 20, most_visits = std::size_t{1} << 20;

  [[nodiscard]] std::size_t words() const { return (count_ + 63) / 64; }
  [[nodiscard]] State initial() const { return {words(), ages_}; }

  void too_large() {
    report_
        .warning(function_.where, Kind::wgmma_pipeline,
                 cat("the wgmma pipeline of `", report_.module().str(function_.name), "` is too large to be followed"))
        .severity = Severity::note;
  }

  // ---- registers ------------------------------------------------------------------------------------------------------

  void track(std::uint32_t reg) {
    if (tracked_[reg] == none) tracked_[reg] = count_++;
  }

  template <class Each>
  void each_reg(const ir::Operand& o, const Each& each) const {
    if (o.kind == OperandKind::reg) return each(o.payload);
    if (o.kind == OperandKind::vector || o.kind == OperandKind::list || o.kind == OperandKind::part)
      for (const ir::Operand& part : function_.parts(o)) each_reg(part, each);
  }

  // The accumulators, and what is moved from and to them. Also how many groups a wait leaves.
  void find_registers() {
    tracked_.assign(function_.regs.size(), none);
    std::uint64_t most_pending = 0;
    for (const ir::Inst& inst : function_.body) {
      if (inst.kind != ir::ItemKind::inst || inst.operand_count == 0) continue;
      const std::uint16_t fact = facts(inst.form);
      const ir::Operand& first = function_.operands_of(inst)[0];
      if ((fact & wgmma_mma) != 0) each_reg(first, [&](std::uint32_t reg) { track(reg); });
      if ((fact & wgmma_wait) != 0) most_pending = std::max(most_pending, pending(inst));
    }
    ages_ = 2 + most_pending;
    const std::uint32_t accumulators = count_;
    for (const ir::Inst& inst : function_.body)
      if (const auto [to, from] = copied(inst); to != none) {
        const bool touches = (tracked_[to] < accumulators) || (tracked_[from] < accumulators);
        if (touches) track(to), track(from);
      }
  }

  [[nodiscard]] std::uint64_t pending(const ir::Inst& wait) const {
    const ir::Operand& o = function_.operands_of(wait)[0];
    if (o.kind != OperandKind::integer && o.kind != OperandKind::expression) return 0;
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(function_.integer(o)), 7);
  }

  // The registers of `mov to, from` between registers.
  struct Copy {
    std::uint32_t to = none, from = none;
  };
  [[nodiscard]] Copy copied(const ir::Inst& inst) const {
    if (inst.kind != ir::ItemKind::inst || inst.operand_count != 2 || (facts(inst.form) & moves) == 0) return {};
    const std::span<const ir::Operand> o = function_.operands_of(inst);
    if (o[0].kind != OperandKind::reg || o[1].kind != OperandKind::reg) return {};
    return {o[0].payload, o[1].payload};
  }

  // ---- blocks ---------------------------------------------------------------------------------------------------------

  // False for an instruction that changes nothing of the pipeline: most of them.
  [[nodiscard]] bool matters(const ir::Inst& inst) const {
    if (inst.kind != ir::ItemKind::inst) return false;
    constexpr std::uint16_t pipeline = wgmma_mma | wgmma_fence | wgmma_commit | wgmma_wait;
    const std::uint16_t fact = facts(inst.form);
    if ((fact & pipeline) != 0 || (fact & (leaves | branches | branch_list)) == leaves) return true;
    bool found = false;
    for (const ir::Operand& o : function_.operands_of(inst))
      each_reg(o, [&](std::uint32_t reg) { found = found || tracked_[reg] != none; });
    return found;
  }

  bool cut_blocks() {
    const auto& body = function_.body;
    std::vector<std::uint32_t> block_at(body.size() + 1, none);
    block_at[0] = 0;
    bool cut = true;
    for (std::uint32_t i = 0; i < body.size(); ++i) {
      if (cut || body[i].kind == ir::ItemKind::label) {
        if (!blocks_.empty()) blocks_.back().end = i;
        block_at[i] = static_cast<std::uint32_t>(blocks_.size());
        const auto event = static_cast<std::uint32_t>(events_.size());
        blocks_.push_back({i, i, event, event, {}});
        cut = false;
      }
      if (matters(body[i])) events_.push_back(i);
      blocks_.back().last_event = static_cast<std::uint32_t>(events_.size());
      if (body[i].kind == ir::ItemKind::inst) cut = (facts(body[i].form) & (leaves | branches | branch_list)) != 0;
    }
    if (!blocks_.empty()) blocks_.back().end = static_cast<std::uint32_t>(body.size());
    std::vector<std::uint32_t> targets;
    std::size_t edges = 0;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      Block& block = blocks_[b];
      const ir::Inst& last = body[block.end - 1];
      const std::uint16_t fact = last.kind == ir::ItemKind::inst ? facts(last.form) : 0;
      if (b + 1 < blocks_.size() && ((fact & leaves) == 0 || last.guard != ir::RegId::absent)) block.next.push_back(b + 1);
      if ((fact & (branches | branch_list)) == 0) continue;
      branch_targets(function_, last, targets);
      for (const std::uint32_t item : targets)
        if (block_at[item] != none) block.next.push_back(block_at[item]);
      edges += block.next.size();
      if (edges > (std::size_t{1} << 22)) return false;
    }
    return !blocks_.empty();
  }

  // ---- one pass over a block ------------------------------------------------------------------------------------------

  void pass(const Block& block, State& state) {
    for (std::uint32_t event = block.first_event; event < block.last_event; ++event) {
      const std::uint32_t i = events_[event];
      const ir::Inst& inst = function_.body[i];
      const std::uint16_t fact = facts(inst.form);
      const bool always = inst.guard == ir::RegId::absent;  // what a guard may skip, some path goes without
      if ((fact & wgmma_mma) != 0) {
        mma(inst, state);
      } else if ((fact & wgmma_fence) != 0) {
        if (always) state.fence();
      } else if ((fact & wgmma_commit) != 0) {
        if (always) state.commit();
      } else if ((fact & wgmma_wait) != 0) {
        if (always && inst.operand_count != 0) state.wait(pending(inst));
      } else {
        other(inst, access_[i], state);
        if (reporting_ && always && (fact & (leaves | branches | branch_list)) == leaves) at_end(inst, state);
      }
    }
  }

  void at_end(const ir::Inst& inst, const State& state) {
    if (state.in_flight() == 0) return;
    warn(inst, "an mma may still run when this ends the thread: no `wgmma.wait_group` covers it on some path")
        .note("hint: `wgmma.wait_group.sync.aligned 0` before; ptxas adds a wait (C7517)");
  }

  void mma(const ir::Inst& inst, State& state) {
    const std::span<const ir::Operand> operands = function_.operands_of(inst);
    if (operands.empty() || operands[0].kind != OperandKind::vector) return;  // an error of the operands, said already
    const std::span<const Word> mask = mask_of(operands[0]);
    std::uint32_t written = none;
    if (state.any_unfenced(mask) && reads_accumulator(operands))
      each_reg(operands[0], [&](std::uint32_t reg) {
        if (written == none && state.has(State::unfenced, tracked_[reg])) written = reg;
      });
    if (reporting_ && inst.guard != ir::RegId::absent)
      warn(inst, "an mma behind a guard: its stage is not whole on some path")
          .note(
              "hint: branch around the whole stage, from fence to wait; ptxas adds fences (C7519) or serialises the mmas "
              "(C7520)");
    if (state.is(State::from_entry) || state.is(State::round_loop) || written != none) {
      if (reporting_) unfenced(inst, written, state);
      state.fence();  // as ptxas does
    }
    state.write(mask);
    if (!reporting_ || count_ + 26 <= most_registers()) return;
    if (const int n = state.in_flight(); static_cast<std::uint32_t>(n) + 26 > most_registers() && !said_registers_) {
      said_registers_ = true;
      warn(inst, cat(n, " accumulators are in flight here; a thread of this kernel has ", most_registers(),
                     " registers, of which the pipeline leaves 26 to the rest"))
          .note("hint: smaller tiles, or more warpgroups for one tile; ptxas serialises the pipeline (C7511)");
    }
  }

  // The bits of an accumulator. Mmas of one accumulator follow each other, so the last answer is kept.
  std::span<const Word> mask_of(const ir::Operand& accumulator) {
    const std::span<const ir::Operand> parts = function_.parts(accumulator);
    if (mask_.size() == words() && std::equal(parts.begin(), parts.end(), masked_.begin(), masked_.end())) return mask_;
    mask_.assign(words(), 0);
    masked_.assign(parts.begin(), parts.end());
    each_reg(accumulator, [&](std::uint32_t reg) { mask_[tracked_[reg] / 64] |= Word{1} << (tracked_[reg] % 64); });
    return mask_;
  }

  void unfenced(const ir::Inst& inst, std::uint32_t written, const State& state) {
    warn(inst, state.is(State::from_entry) ? std::string("no `wgmma.fence` leads here: the first mma needs one before it")
               : written != none           ? cat("the accumulator `", reg_name(written),
                                                 "` is written before this mma, and no `wgmma.fence` lies between")
                                           : std::string("a way round the loop leads here without a `wgmma.fence`"))
        .note("hint: `wgmma.fence.sync.aligned` between the last write of an accumulator and the mma; ptxas adds one (C7519)");
  }

  // False when scale-d is the constant 0: what the accumulator held does not matter.
  bool reads_accumulator(std::span<const ir::Operand> operands) const {
    for (std::size_t i = 1; i < operands.size(); ++i)
      if (const OperandKind kind = operands[i].kind; kind == OperandKind::integer || kind == OperandKind::expression) {
        // descriptors are in registers, so the first integer behind them is scale-d, if it is one
        const bool behind_b = i == 3;
        return !behind_b || function_.integer(operands[i]) != 0;
      }
    return true;
  }

  void other(const ir::Inst& inst, Access access, State& state) {
    if (const auto [to, from] = copied(inst); to != none && (tracked_[to] != none || tracked_[from] != none)) {
      // ptxas follows copies: the copy of an accumulator in flight is in flight
      copy(inst, to, from, state);
      return;
    }
    const std::span<const ir::Operand> operands = function_.operands_of(inst);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool write = (access.writes >> std::min<std::size_t>(i, 15) & 1) != 0;
      if (!write) read(inst, operands[i], state);
    }
    for (std::size_t i = 0; i < operands.size(); ++i)
      if ((access.writes >> std::min<std::size_t>(i, 15) & 1) != 0)
        each_reg(operands[i], [&](std::uint32_t reg) {
          if (tracked_[reg] != none) write(inst, reg, state);
        });
  }

  void copy(const ir::Inst& inst, std::uint32_t to, std::uint32_t from, State& state) {
    const std::uint32_t t = tracked_[to], f = tracked_[from];
    if (t == none || f == none) {  // a register that only passes something on
      if (t != none) write(inst, to, state);
      return;
    }
    for (std::size_t set = 0; set <= state.ages(); ++set) state.has(set, f) ? state.add(set, t) : state.remove(set, t);
    if (inst.guard == ir::RegId::absent) return;
    state.add(State::unfenced, t);
  }

  void read(const ir::Inst& inst, const ir::Operand& o, State& state) {
    each_reg(o, [&](std::uint32_t reg) {
      if (tracked_[reg] == none) return;
      const std::size_t age = state.age_of(tracked_[reg]);
      if (age == state.ages()) return;
      if (reporting_) in_flight(inst, reg, age, "read");
      state.land();  // as ptxas does
    });
  }

  void write(const ir::Inst& inst, std::uint32_t reg, State& state) {
    const std::size_t age = state.age_of(tracked_[reg]);
    if (age != state.ages()) {
      if (reporting_) in_flight(inst, reg, age, "written");
      state.land();
    }
    state.add(State::unfenced, tracked_[reg]);
  }

  void in_flight(const ir::Inst& inst, std::uint32_t reg, std::size_t age, std::string_view verb) {
    Diagnostic& d =
        warn(inst, cat("the accumulator `", reg_name(reg), "` is ", verb, " here, and ",
                       age == 0 ? "the mma that writes it may be in no group yet: `wgmma.commit_group` is missing"
                                : "the mma that writes it may still run: no `wgmma.wait_group` covers it on some path"));
    if (age != 0)
      d.note(cat("hint: `wgmma.wait_group.sync.aligned ", age - 1,
                 "` on every path before; ptxas adds a wait (C7517) or serialises the mmas (C7514)"));
  }

  // ---- the function as a whole ----------------------------------------------------------------------------------------

  [[nodiscard]] std::uint32_t most_registers() const { return std::min(255u, bounds_.registers()); }

  void check_function() {
    bool first = true, called = false;
    for (const ir::Inst& inst : function_.body) {
      if (inst.kind != ir::ItemKind::inst) continue;
      const std::uint16_t fact = facts(inst.form);
      if ((fact & wgmma_mma) != 0) {
        if (first && !function_.is_entry)
          warn(inst, "an mma in a device function: its pipeline ends at the function's boundary")
              .note("hint: write it in the entry; ptxas serialises the mmas (C7510)");
        first = false;
        if (function_.is_entry) enough_registers(inst);
      } else if ((fact & calls) != 0 && function_.is_entry && !called && leaves_module(inst)) {
        called = true;
        warn(inst, "a call that cannot be inlined, in a kernel with mmas: their pipeline ends at it")
            .note("hint: ptxas serialises the mmas (C7510)");
      }
    }
  }

  // A call through a register, or of a function that is not defined here.
  [[nodiscard]] bool leaves_module(const ir::Inst& call) const {
    for (const ir::Operand& o : function_.operands_of(call)) {
      if (o.kind == OperandKind::list) continue;
      if (o.kind != OperandKind::symbol) return true;
      ir::StringId name;
      name.index = o.payload;
      const Entity* entity = names_.find(name);
      return entity != nullptr && entity->meaning == Meaning::function &&
             report_.module().functions[entity->index].linkage == ir::Linkage::extern_;
    }
    return false;
  }

  // ptxas 13.0 refuses (C7602) an mma whose registers and 26 more are not there.
  void enough_registers(const ir::Inst& inst) {
    std::uint32_t needed = 26;
    for (const ir::Operand& o : function_.operands_of(inst))
      if (o.kind == OperandKind::vector) needed += o.count;
    if (needed <= bounds_.registers()) return;
    report_
        .error(function_, inst, Kind::register_budget,
               cat("this mma needs ", needed, " registers; the launch bounds of `", report_.module().str(function_.name),
                   "` leave a thread ", bounds_.registers()))
        .note("hint: a smaller N, fewer threads, or a larger `.maxnreg`");
  }

  Diagnostic& warn(const ir::Inst& inst, std::string message) {
    return report_.warning(function_, inst, Kind::wgmma_pipeline, std::move(message));
  }
  [[nodiscard]] std::string reg_name(std::uint32_t reg) const { return report_.module().reg_name(function_, ir::RegId(reg)); }

  Report& report_;
  const Names& names_;
  const ir::Function& function_;
  const std::vector<Access>& access_;
  LaunchBounds bounds_;
  std::vector<std::uint32_t> tracked_;  // by register: its bit in a State, or none
  std::uint32_t count_ = 0;
  std::size_t ages_ = 2;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> events_;  // the items that matter
  std::vector<Word> mask_;
  std::vector<ir::Operand> masked_;  // the registers of mask_
  bool reporting_ = false, said_registers_ = false;
};

}  // namespace

void check_wgmma(Report& report, const Names& names, const ir::Function& function, const std::vector<Access>& access) {
  Wgmma(report, names, function, access).run();
}

void check_setmaxnreg(Report& report, const ir::Function& function) {
  if (!function.is_entry) return;  // the entry's bounds are not known here
  const LaunchBounds bounds = launch_bounds(function);
  const std::uint32_t start = bounds.registers();
  const ir::Inst* first = nullptr;
  std::int64_t least = start, most = 0;
  const ir::Inst* largest = nullptr;
  for (const ir::Inst& inst : function.body) {
    if (inst.kind != ir::ItemKind::inst || (facts(inst.form) & setmaxnreg) == 0 || inst.operand_count == 0) continue;
    if (first == nullptr) first = &inst;
    const ir::Operand& o = function.operands_of(inst)[0];
    if (o.kind != OperandKind::integer && o.kind != OperandKind::expression) continue;
    const std::int64_t count = function.integer(o);
    const isa::Form& form = isa::form(inst.form);
    if (form.chosen(inst.choices, "action") == "inc") {
      if (count > most) most = count, largest = &inst;
      continue;
    }
    least = std::min(least, count);
    if (count > start)
      report
          .error(function, inst, Kind::register_budget,
                 cat("`setmaxnreg.dec` to ", count, " registers; a thread of `", report.module().str(function.name),
                     "` starts with ", start, " at most"))
          .note("hint: `.dec` gives registers back, `.inc` takes them; the launch bounds say what a thread starts with");
  }
  if (first == nullptr) return;
  if (!bounds.fixed_registers) {
    report
        .warning(function, *first, Kind::setmaxnreg_ignored,
                 "ptxas ignores `setmaxnreg`: it does not know how many registers a thread starts with")
        .note("hint: `.maxnreg`, or `.minnctapersm 1` beside `.maxntid` or `.reqntid` (C7508)");
    return;
  }
  // One warpgroup takes what the others gave back; more than that never comes.
  if (largest == nullptr || !bounds.threads || *bounds.threads % 128 != 0 || *bounds.threads < 128) return;
  const auto threads = static_cast<std::int64_t>(*bounds.threads);
  if (most * 128 + least * (threads - 128) <= std::int64_t{start} * threads) return;
  report
      .warning(function, *largest, Kind::register_budget,
               cat("`setmaxnreg.inc` to ", most, " registers waits for ever: ", threads, " threads start with ", start,
                   " each, and the others keep ", least))
      .note("hint: `setmaxnreg.dec` in the other warpgroups gives their registers back");
}

}  // namespace ptx::check
