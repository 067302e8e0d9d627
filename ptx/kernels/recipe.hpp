// What is asked of a kernel of the library, and how one is made: values, and pure functions of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/write/write.hpp"

namespace ptx::kernels {

/// What is computed, row by row of a matrix [M, N] (or element by element, for the gated products).
enum class Operation : std::uint8_t {
  rms_norm,              ///< y = x * rstd * (weight + offset), rstd = 1 / sqrt(mean(x^2) + eps)
  layer_norm,            ///< y = (x - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps)
  softmax,               ///< y = exp(x - max) / sum
  log_softmax,           ///< y = x - max - log(sum)
  swiglu,                ///< y = gate * sigmoid(gate) * up
  geglu,                 ///< y = gelu(gate) * up, gelu by tanh
  swiglu_backward,       ///< dgate, dup of dy, gate, up
  geglu_backward,        ///< the same
  rescale,               ///< x = x * factor, in place; a factor of 1 costs nothing
  softmax_backward,      ///< dx = y * (dy - sum(dy * y))
  log_softmax_backward,  ///< dx = dy - exp(y) * sum(dy)
  rms_norm_backward,     ///< dx, and partial sums of dweight, of dy, x, weight
  layer_norm_backward,   ///< the same, and partial sums of dbias
  cross_entropy,         ///< loss = log(sum(exp(x))) - x[target], and dx
  column_sums,           ///< y[j] = sum over rows of x[i, j], x of f32: of the partial sums of a backward of a norm
};
inline constexpr std::uint8_t operations = 15;

constexpr bool is_norm_backward(Operation o) { return o == Operation::rms_norm_backward || o == Operation::layer_norm_backward; }
/// Those that go element by element.
constexpr bool is_elementwise(Operation o) { return o >= Operation::swiglu && o <= Operation::rescale; }

std::string_view name(Operation operation);  ///< "rms_norm"
/// Kind argument_kind for a name that is none.
Expected<Operation> operation_from_name(std::string_view name);

/// One call, as far as it decides which kernel is best.
struct Problem {
  Operation operation = Operation::rms_norm;
  Type dtype = Type::f32;     ///< f32, f16 or bf16
  std::uint64_t rows = 1;     ///< M
  std::uint64_t columns = 1;  ///< N
  int alignment = 16;         ///< bytes that every row of every tensor is aligned to, at most 16
  bool weight = false, bias = false, residual = false;
  bool gradient = false;  ///< of cross_entropy: the gradient too
  bool packed = false;    ///< gate and up (and their gradients) lie side by side, [M, 2, N]
  /// Rows lie further apart than they are long, or in groups that do, as those of `x[:, 1:]`: the kernel takes the distances
  /// between rows, between groups, and how many rows a group has.
  bool strided = false;
  bool in_place = false;  ///< of cross_entropy: the gradient is written where the logits lie; of rescale, always
  bool int32 = false;     ///< of cross_entropy: targets are s32, not s64
  bool e4m3 = false;  ///< of norms and gated products: the result is e4m3, a row by its largest number, and the scales are left
                      ///< beside it
  /// Of e4m3: all numbers by one scale, which is given. Of the gradient of cross_entropy: one scale of all rows, the product of
  /// two numbers.
  bool given = false;
  int processors = 132;   ///< streaming multiprocessors
  int architecture = 90;  ///< of the GPU: 90 is sm_90
};

/// One way to make the kernel. Texts do not hold M or N: a recipe serves every size of its class (`serves`).
///
///     a row       | t0 | t1 | … | t127 | t0 | t1 | … | t127 | …
///                   pass 0              pass 1                  each `vector` elements a thread
struct Recipe {
  Operation operation = Operation::rms_norm;
  Type dtype = Type::f32;
  int vector = 4;      ///< elements that a thread loads at once
  int threads = 128;   ///< of a row in one block: a power of two, 4 to 1024
  int rows = 1;        ///< rows of a block; more than one only with threads <= 32
  int passes = 1;      ///< loads a thread, all kept in registers
  int cluster = 1;     ///< blocks that share a row
  int resident = 0;    ///< blocks that a multiprocessor is to run at once, which bounds their registers; 0: not said
  int ahead = 0;       ///< rows that are copied to shared memory before they are asked for; 0: none is
  bool hold = false;   ///< matrices are loaded with the L2 policy evict_last: what is written leaves the cache before them
  bool anew = false;   ///< exponentials are computed twice, and not kept; of backwards of norms, rows are loaded twice
  bool early = false;  ///< weight and bias are loaded before the row is reduced
  bool weight = false, bias = false, residual = false, gradient = false, packed = false, strided = false;
  bool in_place = false, int32 = false, e4m3 = false, given = false;

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Whether it goes element by element: not where a row's largest number is looked for.
template <class Of>
bool is_elementwise(const Of& of) {
  return is_elementwise(of.operation) && (!of.e4m3 || of.given);
}
/// Whether a matrix is gone through as one row.
inline bool is_flat(const Recipe& r) { return is_elementwise(r) && !r.packed && !r.strided; }
/// The most blocks in y of a grid.
inline constexpr int most_rows_y = 65'535;

/// Elements of a row that a recipe has room for.
inline std::uint64_t capacity(const Recipe& r) {
  return std::uint64_t(r.vector) * static_cast<std::uint64_t>(r.threads) * static_cast<std::uint64_t>(r.passes) *
         static_cast<std::uint64_t>(r.cluster);
}
/// Whether the kernel of this recipe may be called with this problem.
bool serves(const Recipe& recipe, const Problem& problem);
/// "rms_norm_bf16_v8_t128_r1_p4_c1_w": the recipe as the kernel's name.
std::string name(const Recipe& recipe);
/// The recipe of such a name. Kind argument_kind.
Expected<Recipe> recipe_from_name(std::string_view name);

/// Bytes moved at least, and floating-point operations.
struct Cost {
  std::uint64_t bytes = 0, operations = 0;
};
Cost cost(const Problem& problem);

/// The ways that are worth trying. Kinds: argument_dtype, bad_tile for a type and a length that no kernel takes.
Expected<std::vector<Recipe>> recipes(const Problem& problem);
/// The best of them, by the table of this GPU's measurements and else by a rule. Same errors.
Expected<Recipe> choose(const Problem& problem);

/// Writes the kernel. Its tensors and scalars are those of `boundary(recipe)`.
Expected<Kernel> kernel(const Recipe& recipe);

/// What a kernel takes, in the order of its parameters.
struct TensorOf {
  std::string name;
  Type dtype = Type::none;
  std::vector<tile::Dim> shape;  ///< of "M", "N" and numbers
};
/// All that a kernel takes.
struct BoundaryOf {
  std::vector<TensorOf> inputs, outputs;
  std::vector<ScalarSpec> scalars;
  std::vector<AliasSpec> aliases;  ///< outputs that are written where inputs lie
};
BoundaryOf boundary(const Recipe& recipe);
/// P, the rows of partial sums that a backward of a norm leaves: of as many blocks as stay on the machine. 0 where there are
/// none.
std::uint64_t partial_rows(const Recipe& recipe, std::uint64_t rows, int processors = 132);
/// Blocks of a launch; `partial` is P.
Expected<LaunchDims> grid(const Recipe& recipe, std::uint64_t rows, std::uint64_t columns, std::uint64_t partial = 0);
/// Lanes of a warp that have columns of one row in `column_sums`, `vector` each: a block has so many.
inline constexpr int column_lanes = 8;
/// Bytes of shared memory, where rows are copied ahead: the ring, its barriers, and what a reduction leaves for its warps, twice.
std::uint32_t ring_bytes(const Recipe& recipe);
/// Bytes of shared memory that a launch has to ask for: 0 up to 48 KiB, which every block may have.
std::uint32_t shared_bytes(const Recipe& recipe);
/// Whether it takes what sm_90 began with: clusters, bulk copies.
inline bool needs_hopper(const Recipe& r) { return r.cluster > 1 || r.ahead > 0; }
/// Threads of a block.
inline std::uint32_t block(const Recipe& r) { return static_cast<std::uint32_t>(r.threads * r.rows); }

inline constexpr std::uint64_t longest_row = 1 << 18;  ///< elements: 8 blocks of 1,024 threads with 32 each

}  // namespace ptx::kernels
