// vgpu (floor 4): the executor. Runs an accepted module on the CPU as a GPU would, warp by warp, and says what is wrong with it:
// accesses outside an allocation, misaligned and uninitialised reads, divergence where convergence is needed, deadlock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/vgpu/findings/rules.hpp"
#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/machine/observer.hpp"
#include "ptx/vgpu/session/session.hpp"
#include "ptx/vgpu/timeline/timeline.hpp"

namespace ptx::vgpu {

/// Multiprocessors of the GPU that the executor stands for, an H200.
inline constexpr std::uint32_t multiprocessors = 132;

/// Where multimem addresses lie, none of which is an address of the host: that of a byte of a multicast region is so much above
/// its address in the first replica.
inline constexpr std::uint64_t multimem_window = 0xF400'0000'0000'0000;

/// A piece of host memory that the kernel may use as global memory: a tensor, a buffer. Addresses are the host's own.
struct Region {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool writable = true;
  bool initialised = true;  ///< false: contents count as uninitialised until stored to (an output)
  std::string name;         ///< as reports call it: "X"
  /// A range of multimem addresses (manual: "Multimem Addresses"): multimem.* alone may use them, and reaches `data` and each of
  /// the further replicas, which stand for the memory of so many devices. What else may use that memory is said by other regions.
  bool multicast = false;
  std::vector<std::byte*> further_replicas{};
  /// Of a tensor, so that findings can name an element: its sizes, and how many bits each element has; 0: not known.
  std::vector<std::size_t> shape{};
  std::uint32_t element_bits = 0;
  /// The address by which a kernel reaches it.
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(data) + (multicast ? multimem_window : 0);
  }
};

struct LaunchConfig {
  std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< CTAs, or clusters where the kernel says .blocksareclusters
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads
  std::size_t dynamic_smem_bytes = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< CTAs; (1, 1, 1): as the kernel says
  /// All CTAs run at the same time, and the kernel finds what cooperative groups synchronise a grid with (%envreg1, %envreg2).
  bool cooperative = false;
};

/// How far a run is. Blocks whose work others have taken over (clusterlaunchcontrol) count as done.
struct RunProgress {
  std::uint64_t ctas_done = 0, ctas = 0;
  std::uint64_t warp_instructions = 0;
};

/// What an approximation of f32 gives: rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh with .approx, and div with .approx or .full.
enum class Approximations : std::uint8_t {
  hardware,   ///< the bits of an H200
  rounded,    ///< the function's value, rounded to nearest
  perturbed,  ///< a value within the manual's bound on the error, another one for each seed: what another GPU might give
};

/// How tensor cores add up products of floating-point numbers (mma, wmma, wgmma, tcgen05.mma).
enum class Numerics : std::uint8_t {
  exact,  ///< as the module's target does, bit for bit where that is known (docs/facts.md, "Tensor cores")
  fast,   ///< a chain of f32 fused multiply-adds, k ascending, rounded to nearest: several times as fast, and no GPU's own
};
/// When an asynchronous copy, store or reduction is performed (cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async,
/// red.async, tensors too; manual: "Asynchronous Operations"). Any time is right from its beginning until a thread has to see it
/// complete. wgmma and tcgen05 are performed when they begin.
enum class Completion : std::uint8_t {
  eager,   ///< when it begins
  lazy,    ///< as late as a wait for it allows, or as its block or a turn of its cluster ends: who forgets to wait reads what was
           ///< there before
  random,  ///< some time in between, another one for each seed
};
/// Which warp of a cluster goes on, and for how long; and of a warp whose threads have parted, which of them. Any order is right
/// (manual: "Independent Thread Scheduling").
enum class Threads : std::uint8_t {
  in_turn,  ///< one warp after the other, each for a long while; of a warp those that are behind
  random,   ///< anybody, for a short while or a long one, in another order for each seed
};
/// How closely a run is looked at. Each level has the checks of those before it.
enum class Checks : std::uint8_t {
  off,    ///< what a run cannot go on behind: accesses outside of memory, misused barriers, deadlocks
  cheap,  ///< and values that nobody has written (rules U)
  full,   ///< and accesses that nothing orders: races, and missing fences of the asynchronous proxy (manual: "Data-races",
          ///< "Proxies")
};
/// A rule that is not to be told, and where (rules.hpp): "P-02", of the whole run; "P-01@gemm.py:133", of a finding one of whose
/// accesses is at that line of the author's source or of the PTX text; "R-rw@gemm.py", in that file; "R-rw@gemm", in the kernel
/// of that name; "*@gemm", any rule; "P-01@gemm.py:133+gemm.py:141", both accesses. What ends a run cannot be suppressed.
struct Suppression {
  std::string rule;                 ///< "P-01", "R-*", "*"
  std::vector<std::string> places;  ///< each of them has to fit; none: anywhere
  std::string text;                 ///< as it was written; empty: it is not named when it fits nothing
  /// Kind bad_setting.
  static Expected<Suppression> read(std::string_view text);
  /// One in each line; what follows a `#`, and empty lines, do not count. `name` is how errors call the text.
  static Expected<std::vector<Suppression>> read_all(std::string_view lines, std::string_view name);
  [[nodiscard]] bool fits(const Diagnostic& finding) const;
};
/// The words of all, in their order: "off cheap full", "exact fast", "hardware rounded perturb", "eager lazy random", "in_turn
/// random".
std::span<const std::string_view> words_of_checks();
std::optional<Checks> checks_from_name(std::string_view word);
std::span<const std::string_view> words_of_completion();
std::optional<Completion> completion_from_name(std::string_view word);
std::span<const std::string_view> words_of_threads();
std::optional<Threads> threads_from_name(std::string_view word);
/// Of a schedule, which has the words of completion: random is for threads as well, with the others they take turns.
constexpr Threads threads_of(Completion schedule) { return schedule == Completion::random ? Threads::random : Threads::in_turn; }
std::span<const std::string_view> words_of_numerics();
std::span<const std::string_view> words_of_approximations();
std::optional<Numerics> numerics_from_name(std::string_view word);
std::optional<Approximations> approximations_from_name(std::string_view word);

struct Options {
  unsigned workers = 1;  ///< threads of the host; clusters of CTAs are shared out among them
  /// Warp instructions of the whole run before it is stopped (step_limit); 0: none for the run, 2^30 for each CTA of a cluster.
  std::uint64_t max_instructions = 0;
  /// Track which bytes and registers have been written, and lanes that shuffles read; not with Checks::off.
  bool check_initialised = true;
  Numerics numerics = Numerics::exact;
  Approximations approximations = Approximations::hardware;
  Completion completion = Completion::eager;
  Threads threads = Threads::in_turn;
  Checks checks = Checks::cheap;  ///< full: the run has one worker, whatever is said above
  std::vector<Suppression> suppress{};
  std::size_t max_findings = 100;  ///< different ones that are kept; 0: all
  bool stop_at_first = false;      ///< the first finding that is an error ends the run, and is its error
  std::uint64_t seed = 0;          ///< of perturbed approximations, and of random completion and threads
  std::stop_token stop{};          ///< asked every few milliseconds: the run ends, kind interrupted
  /// Called every few milliseconds by the thread that called run(); false ends the run, kind interrupted.
  std::function<bool(const RunProgress&)> watch{};
  /// Is told of each instruction: a Timeline, a Session. Not null: the run has one worker, whatever is said above.
  Observer* observer = nullptr;
  /// Says who goes on, run after run, so that all orders of the kernel's threads are met (exploration.hpp). Not null: the run has
  /// one worker, and neither `completion` nor `threads` counts.
  Exploration* exploration = nullptr;
  /// Takes what the kernel prints (vprintf), a call's text at a time, from one worker after the other; stdout where there is
  /// none.
  std::function<void(std::string_view)> print{};
};

/// Whether results are a GPU's, of an instruction that is not known to have them bit for bit.
enum class Fidelity : std::uint8_t {
  bounded,     ///< within the manual's bound on the error
  unverified,  ///< as the manual says; no GPU was asked
};
std::string_view name(Fidelity fidelity);
struct FidelityNote {
  Fidelity fidelity{};
  std::string instruction;  ///< opcode and modifiers
  std::string why;
};

/// What a run did.
struct Report {
  std::uint64_t warp_instructions = 0;
  std::uint64_t ctas = 0;  ///< those that ran, without what others have taken over
  /// What checks have found, each rule and pair of instructions once, in the order in which they were met. Kinds: race,
  /// race_of_lanes, missing_proxy_fence, unordered_mbarrier, unfinished_copy.
  Diagnostics findings = {};
  std::uint64_t suppressed = 0;                       ///< different findings that were not told because somebody said so
  std::uint64_t left_out = 0;                         ///< and that were not kept: Options::max_findings
  std::vector<std::string> unused_suppressions = {};  ///< that fit nothing, as they were written
};

class Heap;

/// The .global and .const variables of a module, as they lie in memory once it is loaded: from their initial values on (manual:
/// "Initializers"), zeros where there are none. Programs made with one instance share its variables, and launches leave behind
/// what they store. While no launch runs they may be read and written.
class Instance {
 public:
  /// Kinds: out_of_memory.
  static Expected<std::shared_ptr<Instance>> make(const check::Accepted& accepted);
  /// The bytes of a module's variable; nothing when it has none of that name in .global or .const.
  [[nodiscard]] std::optional<std::span<std::byte>> variable(std::string_view name) const;
  /// All variables as the executor's runs see them.
  [[nodiscard]] std::span<const Region> regions() const { return regions_; }
  /// Gives every variable its initial value again.
  void reset();

  // -- what decoding asks for
  [[nodiscard]] const check::Accepted& accepted() const { return accepted_; }
  /// The memory of a variable of the module, by its index, or of a function of it.
  [[nodiscard]] std::span<std::byte> memory(const ir::Function* function, std::size_t variable) const;
  /// What malloc() and free() of device code are asked of; nullptr where the module declares no malloc().
  [[nodiscard]] Heap* heap() const { return heap_.get(); }

  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

 private:
  class Block;
  explicit Instance(const check::Accepted& accepted);
  [[nodiscard]] std::size_t definition(ir::StringId name) const;
  [[nodiscard]] std::uint64_t address_of(ir::StringId name, std::span<const ir::Variable> local,
                                         std::span<const Block> blocks) const;

  check::Accepted accepted_;
  std::shared_ptr<const ir::Module> module_;
  std::unordered_map<ir::StringId, std::size_t> by_name_;  // of the module's variables: the definition
  std::vector<Block> of_module_;                           // by variable; empty for those of other spaces
  std::vector<std::vector<Block>> of_functions_;
  std::unique_ptr<Heap> heap_;
  std::vector<Region> regions_;
  bool was_initialised_ = false;
};

/// A kernel decoded for execution: immutable, shared by threads and launches.
class Program {
 public:
  /// Decodes entry `name`, with module variables of its own. Kinds: not_executed (with the instruction, its line and why),
  /// unknown_kernel, out_of_memory.
  static Expected<std::shared_ptr<const Program>> make(const check::Accepted& accepted,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry);
  /// The same, with the variables of an instance.
  static Expected<std::shared_ptr<const Program>> make(std::shared_ptr<const Instance> instance,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry);
  /// Everything of entry `name` that the executor does not run, each as make() would say it first. Kinds: those of make() but
  /// not_executed.
  static Expected<Diagnostics> find_unsupported(std::shared_ptr<const Instance> instance,
                                                std::shared_ptr<const ir::Listing> listing, std::string_view entry);
  /// Runs a grid to its end. `params` is the parameter block, laid out as the CUDA driver's. The first fault ends the run; its
  /// diagnostic names kernel, instruction, PTX line, the author's line, block and thread, and is the same for every number of
  /// workers. Kinds: launch_config, param_layout, out_of_memory; out_of_bounds, misaligned, read_only, uninitialised; divergent,
  /// deadlock, barrier_misuse; trapped, step_limit, interrupted. Blocks may wait for each other through strong loads (.volatile,
  /// .relaxed, .acquire); a wait that can never end is a deadlock. Time (%clock, %globaltimer) is the number of instructions that
  /// the block has run.
  [[nodiscard]] Expected<Report> run(const LaunchConfig& config, std::span<const std::byte> params,
                                     std::span<const Region> regions, const Options& options = {}) const;
  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] const std::shared_ptr<const Instance>& instance() const;
  /// The kernel's instructions, each once, whose results are not known to be a GPU's bit for bit in a run with these options. Of
  /// all others an H200 has been asked, or published results of the target's tensor cores have been compared.
  [[nodiscard]] std::vector<FidelityNote> fidelity(const Options& options = {}) const;

  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

 private:
  struct Code;
  explicit Program(std::unique_ptr<const Code> code);
  std::unique_ptr<const Code> code_;
};

}  // namespace ptx::vgpu
