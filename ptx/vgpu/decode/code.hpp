// A kernel decoded: the steps, the register file they work on, and the tables that lead a fault back to its author.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/vgpu/machine/bypass.hpp"
#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// A special register that the kernel reads: its slot is filled when a warp starts.
struct SpecialSlot {
  const struct SpecialValue* value = nullptr;
  bool wide = false;  ///< 64 bits
  std::uint32_t offset = 0;
};

/// What an instruction does with undefined values (undefined.hpp).
enum class Passes : std::uint8_t {
  nowhere,     ///< it decides something: none of its operands may be undefined
  on,          ///< its results are undefined where an operand is
  each,        ///< each result is undefined where the operand of its place is
  chosen,      ///< selp: the value that is not chosen does not matter
  bits,        ///< bit by bit, where they go (undefined_bits.hpp)
  packed,      ///< each part of its result is undefined where the same part of an operand is
  paired,      ///< the parts of its result, from the highest, are undefined where the operands are
  loaded,      ///< the address decides; the results are what memory holds
  stored,      ///< the address decides; the values go to memory
  updated,     ///< all decides: it makes what memory holds. The results are what was there
  exchanged,   ///< between the lanes that meet
  reduced,     ///< between the threads of a barrier
  by_handler,  ///< between the lanes, by register: the handler itself says which results are undefined
};
/// Its scalar registers, as ranges of Code::traced that follow each other: those that decide something, those whose values are
/// handed on, results.
struct Trace {
  Passes passes = Passes::nowhere;
  std::uint8_t bits = 0;      ///< of an element of st
  std::uint8_t data = 0;      ///< bits: of so many values the bits are handed on; the others say where they go
  bool bitwise = false;       ///< bits: each stays at its place
  std::uint8_t parts = 0;     ///< packed, paired: of a register
  bool extends_sign = false;  ///< loaded: to the width of the register
  std::uint16_t needs = 0, values = 0, results = 0;
  std::uint32_t first = 0;
};
inline constexpr std::uint32_t no_scalar = 0xFFFFFFFFu;
/// Where a scalar register lies, and how wide it is; no_slot for one that no instruction has.
struct ScalarSlot {
  std::uint32_t offset = 0xFFFFFFFFu;
  std::uint32_t bits = 0;  ///< 1 for a predicate, of which the slot has a mask
};
/// A register that some path reads before it writes it, and the slot of the lanes that have written it.
struct MaybeUnwritten {
  std::uint32_t scalar = 0;
  std::uint32_t written = 0;
};

/// Where an argument or a result is: in a slot, or in the thread's local memory, as it lies in the first frame.
struct PassedPlace {
  bool in_memory = false;
  std::uint32_t at = 0;
  std::uint32_t bytes = 4;  ///< 8 for a slot of 64 bits, 4 for any other
  std::uint32_t scalar = no_scalar;
};
/// A function that calls itself, and a call of it from inside.
struct RecursiveFunction {
  std::vector<PassedPlace> params, returns;
};
struct RecursiveCall {
  std::uint32_t function = 0;
  std::vector<PassedPlace> arguments, results;
};
/// What of a lane a call keeps: 4 or 8 bytes of a slot, or a predicate's bit (0).
struct SavedSlot {
  std::uint32_t offset = 0, bytes = 4;
};

/// A .shared variable, for reports: its place in the block's shared memory.
struct SharedVariable {
  std::string name;
  std::uint64_t begin = 0, bytes = 0;  ///< bytes: 0 of one whose size the launch says
};

/// An instruction of which not every GPU's results are known: as opcode and modifiers.
struct Doubt {
  enum class Why : std::uint8_t { approximation, product, never_run, devices } why{};
  std::string instruction;
  std::string_view inferred{};  ///< of never_run: what the manual leaves open
};

struct Code {
  std::shared_ptr<const ir::Module> module;
  std::shared_ptr<const ir::Listing> listing;  ///< may be nullptr
  const ir::Function* function = nullptr;
  std::size_t function_index = 0;
  std::string name;

  std::vector<Step> steps;
  std::vector<std::vector<std::uint32_t>> branch_lists;  ///< by list of labels that a branch picks from: the steps
  std::vector<std::uint32_t> operands;                   ///< registers of the steps that have more than Step::x holds
  std::vector<RegisterLine> image;  ///< the register file at the start of a warp: constants in place, all else 0
  std::vector<SpecialSlot> specials;
  std::vector<Trace> traces;             ///< by item of the body
  std::vector<std::uint32_t> traced;     ///< scalar registers, see Trace
  std::vector<ScalarSlot> scalar_slots;  ///< by scalar register
  std::vector<MaybeUnwritten> maybe_unwritten;
  std::vector<std::uint32_t> first_scalar;  ///< by register: its first scalar; behind the last one their number
  std::uint32_t sites = 0;                  ///< memory accesses with an inline cache

  std::uint64_t static_smem = 0;          ///< bytes of .shared variables
  std::uint64_t dynamic_smem_offset = 0;  ///< where the dynamic part starts
  std::vector<SharedVariable> shared_variables;
  std::vector<RecursiveFunction> recursive_functions;
  std::vector<RecursiveCall> recursive_calls;
  std::vector<SavedSlot> saved_slots;
  std::uint32_t rank_base = 0;      ///< slot of where the block's part of .shared::cluster begins: 64 bits; 0: nothing asks
  std::uint32_t frame_pointer = 0;  ///< slot of what is added to local addresses: 64 bits
  std::uint64_t frame_bytes = 0;    ///< from one frame to the next
  std::size_t most_frames = 0;      ///< 0: no function calls itself
  std::uint64_t local_bytes = 0;    ///< bytes of .local variables of a thread, and of its stack
  std::uint64_t stack_begin = 0;    ///< where the stack starts in it, when there is one
  std::uint64_t param_bytes = 0;
  std::shared_ptr<const Instance> instance;         ///< has the module's variables
  std::array<std::uint32_t, 3> required_block{};    ///< .reqntid, 0 where there is none
  std::array<std::uint32_t, 3> largest_block{};     ///< .maxntid
  std::array<std::uint32_t, 3> required_cluster{};  ///< .reqnctapercluster, 0 where there is none
  std::uint32_t largest_cluster = 0;                ///< .maxclusterrank; 0: as many blocks as there can be
  bool is_explicit_cluster = false;                 ///< .explicitcluster, .reqnctapercluster
  bool grid_of_clusters = false;                    ///< .blocksareclusters
  std::vector<Doubt> doubts;                        ///< each once
  std::uint32_t start_registers = 0;                ///< of a thread, where setmaxnreg counts; else 0
  std::uint32_t max_registers = 0;                  ///< .maxnreg; 0: as many as the compiler likes
  std::shared_ptr<const Bypasses> bypasses = std::make_shared<const Bypasses>();

  /// "fma.rn.f32", or "" for an item that is no instruction.
  [[nodiscard]] std::string spell(std::uint32_t item) const;
  /// "line 12: fma.rn.f32 %f1, %f2, %f3, %f4;", with what the listing knows.
  [[nodiscard]] std::string line(std::uint32_t item) const;
  /// The item's line in the listing; 0: not known.
  [[nodiscard]] std::uint32_t listed_line(std::uint32_t item) const;
  /// The same, and of a text without a listing the line of the text.
  [[nodiscard]] std::uint32_t ptx_line(std::uint32_t item) const;
  [[nodiscard]] SourceLocation where(std::uint32_t item) const;
  /// The flag CC.CF counts as one more scalar register, behind all others.
  [[nodiscard]] std::uint32_t carry_scalar() const { return first_scalar.back(); }
  [[nodiscard]] std::uint32_t scalar_count() const { return first_scalar.back() + 1; }
  /// "%r1", "%v.x", "CC.CF": a scalar register as PTX spells it.
  [[nodiscard]] std::string scalar_name(std::uint32_t scalar) const;
};

/// Bytes of a thread's stack, of a kernel that uses it.
inline constexpr std::uint64_t stack_bytes = 8192;

/// The registers of a step that has more than Step::x holds.
inline std::span<const std::uint32_t> operands_of(const Code& code, const Step& step) {
  return std::span(code.operands).subspan(step.operands, step.operand_count);
}

/// Bytes of the frames of functions that call themselves, and how many there are at most.
inline constexpr std::uint64_t frames_bytes = 65536, most_frames_ever = 1024;

/// Offsets that every register file has.
inline constexpr std::uint32_t always_offset = 0;    ///< a predicate that is true in every lane
inline constexpr std::uint32_t discard_offset = 64;  ///< 256 bytes that sinks write to
inline constexpr std::uint32_t zero_offset = 320;    ///< 256 bytes of zeros
/// Of an operand that was not given.
inline constexpr std::uint32_t no_slot = 0xFFFFFFFFu;

/// Decodes entry `name`. Kinds: unknown_kernel, not_executed. With `unsupported`, what is not executed goes there, all of it, and
/// the code is not to be run.
Expected<std::unique_ptr<Code>> decode(std::shared_ptr<const Instance> instance, std::shared_ptr<const ir::Listing> listing,
                                       std::string_view name, Diagnostics* unsupported = nullptr);

/// Runs a grid. Kinds: launch_config, param_layout, out_of_memory, and those of faults.
Expected<Report> run_grid(const Code& code, const LaunchConfig& config, std::span<const std::byte> params,
                          std::span<const Region> regions, const Options& options);

}  // namespace ptx::vgpu
