#include "ptx/check/wgmma_hazards.hpp"

#include "ptx/isa/isa.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace ptx::check {
namespace {

using ir::OperandKind;
using Word = std::uint64_t;

constexpr std::uint32_t none = 0xFFFFFFFFu;

// The steps of the pipeline beside its mmas.
bool is_fence(const isa::Effects& does) { return does.sync == isa::Sync::register_fence; }
bool closes_group(const isa::Effects& does) { return does.commits == isa::Event::wgmma_group; }
bool waits_for_groups(const ir::Inst& inst) { return effects(inst).waits == isa::Event::wgmma_group; }
bool ends(const ir::Inst& inst) { return flow::control_of(inst.form) == flow::Control::ends; }

// What may be true of the registers at a point, on some path to it: a bit for each that the pipeline touches, in several sets.
//   unfenced   written since the last wgmma.fence by something else than an mma
//   not_zero   may hold something else than the constant 0; a matrix of zeros is no matrix to ptxas, but scale-d 0
//   accessed   read or written since then by something else than an mma or a copy
//   computed   among the unfenced, written by an instruction that computes or loads: what is moved from elsewhere is as old as
//   there flight[0]  written by an mma that no commit_group has closed flight[i]  by one of the i-th youngest group; the last set
//   holds all older ones
class State {
 public:
  State(std::size_t words, std::size_t ages) : words_(words), ages_(ages), bits_(words * (ages + 4) + 1) {}

  [[nodiscard]] bool has(std::size_t set, std::uint32_t reg) const { return (row(set)[reg / 64] >> (reg % 64) & 1) != 0; }
  void add(std::size_t set, std::uint32_t reg) { row(set)[reg / 64] |= Word{1} << (reg % 64); }
  void remove(std::size_t set, std::uint32_t reg) { row(set)[reg / 64] &= ~(Word{1} << (reg % 64)); }
  void clear(std::size_t set) { std::fill_n(row(set), words_, 0); }
  /// No fence on some path from the entry; none on some way round a loop; an mma since the last fence.
  enum Flag : Word { from_entry = 1, round_loop = 2, begun = 4 };
  [[nodiscard]] bool is(Flag what) const { return (bits_.back() & what) != 0; }
  void set(Flag what) { bits_.back() |= what; }
  void fence() {
    settle();
    bits_.back() = 0;
  }
  /// What was written so far is ordered before the mmas that follow.
  void settle() {
    clear(unfenced);
    clear(computed);
    clear(accessed);
  }

  static constexpr std::size_t unfenced = 0, computed = 1, not_zero = 2, accessed = 3;
  [[nodiscard]] std::size_t ages() const { return ages_; }
  static std::size_t flight(std::size_t age) { return 4 + age; }
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
  [[nodiscard]] bool in_flight(std::uint32_t reg) const { return age_of(reg) != ages_; }
  [[nodiscard]] bool any_in_flight() const {
    for (std::size_t i = words_ * flight(0); i < words_ * flight(ages_); ++i)
      if (bits_[i] != 0) return true;
    return false;
  }
  /// The mma writes these registers: in no group yet, and ordered by itself.
  void write(std::span<const Word> registers) {
    for (std::size_t age = 0; age < ages_; ++age) {
      Word* set = row(flight(age));
      for (std::size_t w = 0; w < words_; ++w) set[w] = age == 0 ? set[w] | registers[w] : set[w] & ~registers[w];
    }
    for (const std::size_t which : {unfenced, computed, accessed}) {
      Word* set = row(which);
      for (std::size_t w = 0; w < words_; ++w) set[w] &= ~registers[w];
    }
    Word* values = row(not_zero);
    for (std::size_t w = 0; w < words_; ++w) values[w] |= registers[w];
    this->set(begun);
  }
  /// Every register may hold anything.
  void know_nothing() { std::fill_n(row(not_zero), words_, ~Word{0}); }
  [[nodiscard]] bool any(std::size_t which, std::span<const Word> registers) const {
    const Word* set = row(which);
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
  Wgmma(Report& report, const Names& names, const RegisterBudgets& budgets, const ir::Function& function,
        const flow::Graph& graph, const Store<Access>& access)
      : report_(report), names_(names), budgets_(budgets), function_(function), graph_(graph), access_(access) {}

  void run() {
    find_registers();
    check_function();
    if (!graph_.is_complete()) return too_large();
    const flow::Selection events(graph_, function_, [this](const ir::Inst& inst) { return matters(inst); });
    const State start = initial();
    const std::size_t width = words() * (ages_ + 4) + 1;
    if (graph_.size() * width > max_words || events.size() * width > 64 * max_words) return too_large();
    std::vector<State> in(graph_.size(), start);
    std::vector<std::uint8_t> reached(graph_.size()), queued(graph_.size());
    State first = start;
    first.set(State::from_entry);
    first.know_nothing();
    in[0] = first;
    std::vector<std::uint32_t> open{0};
    reached[0] = 1;
    std::size_t visits = 0;
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      queued[b] = 0;
      visits += events.in(b).size() + 1;
      if (visits > max_visits + 64 * function_.body.size()) return too_large();
      State state = in[b];
      pass(events.in(b), state);
      for (const std::uint32_t n : graph_.successors(b)) {
        if (n <= b) state.set(State::round_loop);
        if (!in[n].join(state) && reached[n] != 0) continue;
        reached[n] = 1;
        if (queued[n] == 0) open.push_back(n);
        queued[n] = 1;
      }
    }
    reporting_ = true;
    for (std::uint32_t b = 0; b < graph_.size(); ++b)
      if (reached[b] != 0) pass(events.in(b), in[b]);
  }

 private:
  static constexpr std::size_t max_words = std::size_t{4} << 20, max_visits = std::size_t{1} << 20;

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

  // The accumulators, matrices in registers, and what is moved to and from them. Also how many groups a wait leaves.
  void find_registers() {
    tracked_.assign(function_.regs.size(), none);
    std::uint64_t max_pending = 0;
    std::vector<Copy> copies;
    for (const ir::Inst& inst : function_.body) {
      if (inst.kind != ir::ItemKind::inst || inst.operand_count == 0) continue;
      if (is_wgmma(effects(inst))) each_reg(function_.operands_of(inst)[0], [&](std::uint32_t reg) { track(reg); });
      if (waits_for_groups(inst)) max_pending = std::max(max_pending, pending(inst));
      if (const Copy copy = copied(inst); copy.to != none) copies.push_back(copy);
    }
    ages_ = 2 + max_pending;
    accumulators_ = count_;
    for (const ir::Inst& inst : function_.body)
      if (const ir::Operand* a = matrix_in_registers(inst)) {
        matrix_in_registers_ = true;
        each_reg(*a, [&](std::uint32_t reg) { track(reg); });
      }
    for (const auto [to, from] : copies)
      if (tracked_[from] < accumulators_) track(to);
    // Where a value comes from, through several copies: chains are short.
    constexpr int max_copies = 8;
    bool grew = true;
    for (int i = 0; grew && i < max_copies; ++i) {
      const std::uint32_t before = count_;
      for (const auto [to, from] : copies)
        if (tracked_[to] != none) track(from);
      grew = count_ != before;
    }
    unite(copies);
  }

  // The registers of `mov to, from` between registers.
  struct Copy {
    std::uint32_t to = none, from = none;
  };
  [[nodiscard]] Copy copied(const ir::Inst& inst) const {
    if (inst.kind != ir::ItemKind::inst || inst.operand_count != 2 || !is(inst, isa::Trait::move)) return {};
    const std::span<const ir::Operand> o = function_.operands_of(inst);
    if (o[0].kind != OperandKind::reg || o[1].kind != OperandKind::reg) return {};
    return {o[0].payload, o[1].payload};
  }

  // Registers that copies connect hold one value in turn, and ptxas gives them one register.
  void unite(const std::vector<Copy>& copies) {
    value_.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i) value_[i] = i;
    for (const auto [to, from] : copies)
      if (tracked_[to] != none && tracked_[from] != none) value_[value_of(tracked_[to])] = value_of(tracked_[from]);
  }
  std::uint32_t value_of(std::uint32_t i) {
    while (value_[i] != i) i = value_[i] = value_[value_[i]];
    return i;
  }

  // The matrix a of an mma, where registers hold it.
  [[nodiscard]] const ir::Operand* matrix_in_registers(const ir::Inst& inst) const {
    if (inst.kind != ir::ItemKind::inst || !is_wgmma(effects(inst))) return nullptr;
    const std::span<const ir::Operand> operands = function_.operands_of(inst);
    return operands.size() > 1 && operands[1].kind == OperandKind::vector ? &operands[1] : nullptr;
  }

  [[nodiscard]] std::uint64_t pending(const ir::Inst& wait) const {
    const ir::Operand& o = function_.operands_of(wait)[0];
    if (o.kind != OperandKind::integer && o.kind != OperandKind::expression) return 0;
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(function_.integer(o)), 7);
  }

  // ---- blocks ---------------------------------------------------------------------------------------------------------

  // False for an instruction that changes nothing of the pipeline: most of them.
  [[nodiscard]] bool matters(const ir::Inst& inst) const {
    if (inst.kind != ir::ItemKind::inst) return false;
    const isa::Effects& does = effects(inst);
    if (is_wgmma(does) || is_fence(does) || closes_group(does) || waits_for_groups(inst) || ends(inst)) return true;
    bool found = false;
    for (const ir::Operand& o : function_.operands_of(inst))
      each_reg(o, [&](std::uint32_t reg) { found = found || tracked_[reg] != none; });
    return found;
  }

  // ---- one pass over a block ------------------------------------------------------------------------------------------

  void pass(std::span<const std::uint32_t> events, State& state) {
    for (const std::uint32_t i : events) {
      const ir::Inst& inst = function_.body[i];
      const isa::Effects& does = effects(inst);
      const bool always = inst.guard == ir::RegId::absent;  // what a guard may skip, some path goes without
      if (is_wgmma(does)) {
        mma(i, state);
      } else if (is_fence(does)) {
        if (always) state.fence();
      } else if (closes_group(does)) {
        if (always) state.commit();
      } else if (waits_for_groups(inst)) {
        if (always && inst.operand_count != 0) state.wait(pending(inst));
      } else {
        other(inst, access_[i], state);
        if (reporting_ && always && ends(inst)) at_end(inst, state);
      }
    }
  }

  void at_end(const ir::Inst& inst, const State& state) {
    if (!state.any_in_flight()) return;
    warn(inst, "an mma may still run when this ends the thread: no `wgmma.wait_group` covers it on some path")
        .hint("`wgmma.wait_group.sync.aligned 0` before; ptxas adds a wait (C7517)");
  }

  void mma(std::uint32_t item, State& state) {
    const ir::Inst& inst = function_.body[item];
    const std::span<const ir::Operand> operands = function_.operands_of(inst);
    if (operands.empty() || operands[0].kind != OperandKind::vector) return;  // an error of the operands, said already
    const std::span<const Word> mask = mask_of(operands[0]);
    // Where registers hold matrices, ptxas moves the fence down to the first mma behind it.
    if (matrix_in_registers_ && !state.is(State::begun)) state.settle();
    std::uint32_t written = none;
    const auto find_written = [&](const ir::Operand& o, std::size_t set) {
      each_reg(o, [&](std::uint32_t reg) {
        if (written == none && state.has(set, tracked_[reg])) written = reg;
      });
    };
    if (state.any(State::unfenced, mask) && state.any(State::not_zero, mask) && reads_accumulator(operands))
      find_written(operands[0], State::unfenced);
    const bool of_accumulator = written != none;
    if (const ir::Operand* a = matrix_in_registers(inst); a != nullptr && !of_accumulator) find_written(*a, State::computed);
    if (reporting_ && inst.guard != ir::RegId::absent)
      warn(inst, "an mma has a guard: its stage is incomplete on some path")
          .hint(
              "branch around the whole stage, from fence to wait; ptxas adds fences (C7519) or serialises the mmas "
              "(C7520)");
    if (state.is(State::from_entry) || state.is(State::round_loop) || written != none) {
      if (reporting_) unfenced(inst, written, of_accumulator ? "accumulator" : "register of `a`,", state);
      state.fence();  // as ptxas does
    } else if (reporting_ && state.any(State::accessed, mask)) {
      read_before(inst, operands[0], state);
    }
    state.write(mask);
    if (reporting_ && !said_registers_) enough_registers(item, state);
  }

  // ptxas leaves 26 registers to the rest.
  void enough_registers(std::uint32_t item, const State& state) {
    constexpr std::uint32_t rest = 26;
    const std::uint32_t most = std::min(255u, budgets_.at(function_, item));
    if (accumulators_ + rest <= most || register_need(function_, function_.body[item]).needed > most) return;  // said of itself
    std::vector<bool> seen(count_);
    std::uint32_t n = 0;
    for (std::uint32_t i = 0; i < accumulators_; ++i) {
      if (!state.in_flight(i)) continue;
      const std::uint32_t value = value_of(i);
      if (!seen[value]) ++n;
      seen[value] = true;
    }
    if (n + rest <= most) return;
    said_registers_ = true;
    warn(function_.body[item], cat(n, " accumulators are in flight here; a thread has ", most,
                                   " registers at this point, and the pipeline needs ", rest, " for the rest"))
        .hint("smaller tiles, or more warpgroups for one tile; ptxas serialises the pipeline (C7511, C7512)");
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

  void unfenced(const ir::Inst& inst, std::uint32_t written, std::string_view what, const State& state) {
    warn(inst, state.is(State::from_entry) ? std::string("no `wgmma.fence` leads here: the first mma needs one before it")
               : written != none
                   ? cat("the ", what, " `", reg_name(written), "` is written before this mma, and no `wgmma.fence` lies between")
                   : std::string("a way round the loop leads here without a `wgmma.fence`"))
        .hint("`wgmma.fence.sync.aligned` between the last write of its registers and the mma; ptxas adds one (C7519)");
  }

  // To ptxas, which has registers of its own, that is nothing.
  void read_before(const ir::Inst& inst, const ir::Operand& accumulator, const State& state) {
    std::uint32_t first = none;
    each_reg(accumulator, [&](std::uint32_t reg) {
      if (first == none && state.has(State::accessed, tracked_[reg])) first = reg;
    });
    warn(inst, cat("the accumulator `", reg_name(first), "` is read before this mma, and no `wgmma.fence` lies between"))
        .hint("`wgmma.fence.sync.aligned` between the last access of its registers and the mma");
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
    if (const auto [to, from] = copied(inst); to != none && tracked_[to] != none && tracked_[from] != none) {
      copy(inst, to, from, state);  // ptxas follows copies: the copy of an accumulator in flight is in flight
      return;
    }
    const std::span<const ir::Operand> operands = function_.operands_of(inst);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool write = (access.writes >> std::min<std::size_t>(i, 15) & 1) != 0;
      if (write) continue;
      read(inst, operands[i], state);
      each_reg(operands[i], [&](std::uint32_t reg) {
        if (tracked_[reg] < accumulators_) state.add(State::accessed, tracked_[reg]);
      });
    }
    const bool computes = inst.guard != ir::RegId::absent || !only_places(inst);
    const bool zero = !computes && is_zero(operands.back());
    for (std::size_t i = 0; i < operands.size(); ++i)
      if ((access.writes >> std::min<std::size_t>(i, 15) & 1) != 0)
        each_reg(operands[i], [&](std::uint32_t reg) {
          if (tracked_[reg] == none) return;
          write(inst, reg, computes, state);
          if (zero) state.remove(State::not_zero, tracked_[reg]);
        });
  }

  [[nodiscard]] bool is_zero(const ir::Operand& o) const {
    if (o.kind == OperandKind::integer || o.kind == OperandKind::expression) return function_.integer(o) == 0;
    return o.kind == OperandKind::floating && function_.constants[o.payload] == 0;
  }

  // A constant, a parameter, or the halves of a register: ptxas puts them in place wherever it likes.
  [[nodiscard]] bool only_places(const ir::Inst& inst) const {
    const std::span<const ir::Operand> operands = function_.operands_of(inst);
    if (operands.size() != 2) return false;
    if (is(inst, isa::Trait::load)) return isa::form(inst.form).chosen(inst.choices, "ss").starts_with("param");
    if (!is(inst, isa::Trait::move)) return false;
    return operands[0].kind == OperandKind::vector || operands[1].kind == OperandKind::reg ||
           operands[1].kind == OperandKind::integer || operands[1].kind == OperandKind::floating ||
           operands[1].kind == OperandKind::expression;
  }

  void copy(const ir::Inst& inst, std::uint32_t to, std::uint32_t from, State& state) {
    const std::uint32_t t = tracked_[to], f = tracked_[from];
    const bool guarded = inst.guard != ir::RegId::absent;
    for (std::size_t set = 0; set < State::flight(state.ages()); ++set)
      if (state.has(set, f))
        state.add(set, t);
      else if (!guarded)
        state.remove(set, t);
    if (!guarded) return;
    state.add(State::unfenced, t);
    state.add(State::computed, t);
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

  void write(const ir::Inst& inst, std::uint32_t reg, bool computes, State& state) {
    const std::size_t age = state.age_of(tracked_[reg]);
    if (age != state.ages()) {
      if (reporting_) in_flight(inst, reg, age, "written");
      state.land();
    }
    state.add(State::unfenced, tracked_[reg]);
    state.add(State::not_zero, tracked_[reg]);
    computes ? state.add(State::computed, tracked_[reg]) : state.remove(State::computed, tracked_[reg]);
  }

  void in_flight(const ir::Inst& inst, std::uint32_t reg, std::size_t age, std::string_view verb) {
    Diagnostic& d =
        warn(inst, cat("the accumulator `", reg_name(reg), "` is ", verb, " here, and ",
                       age == 0 ? "the mma that writes it may be in no group yet: `wgmma.commit_group` is missing"
                                : "the mma that writes it may still run: no `wgmma.wait_group` covers it on some path"));
    if (age != 0)
      d.hint(cat("`wgmma.wait_group.sync.aligned ", age - 1,
                 "` on every path before; ptxas adds a wait (C7517) or serialises the mmas (C7514)"));
  }

  // ---- the function as a whole ----------------------------------------------------------------------------------------

  void check_function() {
    bool first = true, called = false;
    for (const ir::Inst& inst : function_.body) {
      if (inst.kind != ir::ItemKind::inst) continue;
      if (is_wgmma(effects(inst))) {
        if (first && !function_.is_entry)
          warn(inst, "an mma in a device function: its pipeline ends at the function's boundary")
              .hint("write it in the entry; ptxas serialises the mmas (C7510)");
        first = false;
      } else if (is(inst, isa::Trait::call) && function_.is_entry && !called && leaves_module(inst)) {
        called = true;
        warn(inst, "a call that cannot be inlined, in a kernel with mmas: their pipeline ends at it")
            .hint("ptxas serialises the mmas (C7510)");
      }
    }
  }

  // A call through a register, or of a function that is not defined here.
  [[nodiscard]] bool leaves_module(const ir::Inst& call) const {
    const std::optional<ir::StringId> name = called_function(function_, call);
    if (!name) return true;
    const Entity* entity = names_.find(*name);
    return entity != nullptr && entity->meaning == Meaning::function &&
           report_.module().functions[entity->index].linkage == ir::Linkage::extern_;
  }

  Diagnostic& warn(const ir::Inst& inst, std::string message) {
    return report_.warning(function_, inst, Kind::wgmma_pipeline, std::move(message));
  }
  [[nodiscard]] std::string reg_name(std::uint32_t reg) const { return report_.module().reg_name(function_, ir::RegId(reg)); }

  Report& report_;
  const Names& names_;
  const RegisterBudgets& budgets_;
  const ir::Function& function_;
  const flow::Graph& graph_;
  const Store<Access>& access_;
  std::vector<std::uint32_t> tracked_;          // by register: its bit in a State, or none
  std::uint32_t count_ = 0, accumulators_ = 0;  // tracked; the first of them are accumulators
  std::vector<std::uint32_t> value_;            // by tracked register: another that copies connect with it
  bool matrix_in_registers_ = false;            // some mma has its matrix a in registers
  std::size_t ages_ = 2;
  std::vector<Word> mask_;
  std::vector<ir::Operand> masked_;  // the registers of mask_
  bool reporting_ = false, said_registers_ = false;
};

}  // namespace

void check_wgmma(Report& report, const Names& names, const RegisterBudgets& budgets, const ir::Function& function,
                 const flow::Graph& graph, const Store<Access>& access) {
  Wgmma(report, names, budgets, function, graph, access).run();
}

}  // namespace ptx::check
