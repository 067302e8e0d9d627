// Matrix products, C = epilogue(A B): what is asked, and how a kernel for it is made. Values, and pure functions of them, as in
// recipe.hpp; the kernel itself is in product_kernel.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/kernels/recipe.hpp"
#include "ptx/write/write.hpp"

namespace ptx::kernels::product {

/// What is done to a sum, and its bias, before a residual is added.
enum class Activation : std::uint8_t {
  none,
  relu,       ///< max(x, 0)
  silu,       ///< x * sigmoid(x)
  gelu,       ///< x * Phi(x), Phi by a polynomial of degree 5: absolute error of erf 1.5e-7
  gelu_tanh,  ///< GELU by tanh
};
inline constexpr std::uint8_t activations = 5;
std::string_view name(Activation activation);  ///< "gelu_tanh"; "none"
/// Kind argument_kind for a name that is none.
Expected<Activation> activation_from_name(std::string_view name);

/// What sums of products of 8-bit elements are multiplied by.
enum class Scaling : std::uint8_t {
  none,        ///< 16-bit elements
  tensorwise,  ///< one number for A, one for B
  rowwise,     ///< one for each row of A, one for each column of B
  blockwise,   ///< one for each 128 elements of a row of A, one for each 128 x 128 elements of B
};
inline constexpr int block_k = 128;  ///< elements along K, and columns of B, with one number

/// How a block's results leave.
enum class Store : std::uint8_t {
  boxes,    ///< 16-bit elements by way of shared memory and TMA: rows of C are 16 bytes aligned
  pairs,    ///< two elements at once from registers: rows of C have an even number of elements
  singles,  ///< one by one
};

/// One call, as far as it decides which kernel is best: C[M, N] of A[M, K] and B[K, N], `batch` times.
struct Problem {
  Type dtype = Type::bf16;  ///< of A, B: bf16, f16 or, with scales, e4m3
  Type out = Type::bf16;    ///< of C: f32, or dtype; of e4m3 any of the three
  std::uint64_t m = 1, n = 1, k = 1;
  std::uint64_t batch = 1;
  bool batched = false;       ///< matrices have a dimension in front; the kernel counts it
  bool a_transposed = false;  ///< A lies in memory as [K, M]
  bool b_transposed = true;   ///< B lies in memory as [N, K], as weights of linear layers do
  bool alpha = false;         ///< sums are multiplied by a number of the call, before the bias
  bool bias = false, residual = false;
  bool wide = false;  ///< the residual is f32; of an f32 result it is what the result is added to, in its place
  Scaling scaling = Scaling::none;
  bool promoted = false;  ///< sums of 128 along K are added up in f32: those of 8-bit elements have about 14 bits in wgmma
  /// Scales of blocks of A lie in memory as [K / 128, M], those of a stage side by side, where M is a multiple of 4.
  bool scales_transposed = false;
  /// Rows of A come in `batch` groups, each with a B of its own; where they end the device knows. `m` is the mean of their sizes.
  bool grouped = false;
  /// K comes in `batch` groups, whose ends the device knows: C[g] = A' B of the rows of group g, A and B lying as [K, M] and [K,
  /// N]. The gradient of a grouped product's B. `k` is the mean of their sizes.
  bool ragged = false;
  bool gated = false;  ///< C = activation(A G) * (A U); B is G and U side by side, 2 N columns
  /// Rows of matrices lie further apart than they are long. Those of C, and of the residual, a multiple of `apart` elements, and
  /// C begins at such a multiple.
  bool strided = false;
  int apart = 8;
  Activation activation = Activation::none;
  int processors = 132;  ///< streaming multiprocessors
};

/// One way to make the kernel. Texts do not hold M, N or K: a recipe serves every size of its class (`serves`).
///
/// A block makes tiles of `rows` x `columns` results. Blocks of a cluster lie `down` below one another and share B, `across`
/// beside one another and share A: each copies its part of what is shared to all. Or a cluster has one tile, and each of its
/// `splits` blocks a part of K; what they summed they add by way of each other's shared memory. `swapped`: the rows of a tile are
/// columns of C. With `pingpong` a tile is one warpgroup's: of two, one stores its tile while the other multiplies the next.
struct Recipe {
  Type dtype = Type::bf16, out = Type::bf16;
  int rows = 128;     ///< 64, 128 or 192: 64 for each warpgroup that multiplies, or for each wgmma of its own tile
  int columns = 256;  ///< a multiple of 8, at most 256
  int stages = 4;     ///< of the ring in shared memory, each reaching 128 bytes along K
  int down = 1, across = 1, splits = 1;
  Store store = Store::boxes;
  Activation activation = Activation::none;
  bool swapped = false, batched = false;
  bool pingpong = false;
  bool a_transposed = false, b_transposed = true;
  bool alpha = false, bias = false, residual = false, wide = false;
  Scaling scaling = Scaling::none;
  bool promoted = false, scales_transposed = false;
  bool grouped = false, ragged = false;
  bool gated = false;    ///< half of a tile's columns are of G, half of U: it has columns / 2 results a row
  bool strided = false;  ///< rows of matrices lie apart: the kernel takes the distances of C's and the residual's

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Results of a row of a tile.
inline int results(const Recipe& r) { return r.gated ? r.columns / 2 : r.columns; }
/// Parts of a tile's columns whose sums are promoted one after another.
inline int promoted_parts(const Recipe& r) { return r.columns > 128 ? 2 : 1; }
/// Warpgroups of a block that multiply.
inline int consumers(const Recipe& r) { return r.pingpong ? 2 : r.rows / 64; }
/// Blocks of a cluster.
inline int cluster(const Recipe& r) { return r.down * r.across * r.splits; }
/// Threads of a block: a warpgroup that copies, and those that multiply.
inline std::uint32_t block(const Recipe& r) { return static_cast<std::uint32_t>(128 * (1 + consumers(r))); }
/// Bytes of dynamic shared memory.
int shared_bytes(const Recipe& recipe);
/// Whether the kernel of this recipe may be called with this problem.
bool serves(const Recipe& recipe, const Problem& problem);
/// "matmul__bf16_bf16_m128_n256_s4_d2_x1_k1_boxes_nt": the recipe as the kernel's name.
std::string name(const Recipe& recipe);
/// The recipe of such a name. Kind argument_kind.
Expected<Recipe> recipe_from_name(std::string_view name);

/// Bytes moved at least, and floating-point operations.
Cost cost(const Problem& problem);
/// The ways that are worth trying, the likely best first, `most` of them. Kind argument_dtype for types that no kernel takes,
/// bad_tile for K = 0.
Expected<std::vector<Recipe>> recipes(const Problem& problem, std::size_t most = 24);
/// The best of them, by the table of this GPU's measurements and else by a model. Same errors.
Expected<Recipe> choose(const Problem& problem);
/// What the model says that a launch takes, in clocks of a multiprocessor.
double predicted(const Recipe& recipe, const Problem& problem);

/// What the kernel takes: A, B, the groups' ends, scale_a and scale_b where it has them, then the bias [N] and the residual R [M,
/// N] where it has them; C. Scalars M, N, K, where there are several G, the matrices B, and
/// alpha.
struct BoundaryOf {
  std::vector<TensorSpec> inputs, outputs;
  std::vector<ScalarSpec> scalars;
  std::vector<AliasSpec> aliases;           ///< outputs that are written where inputs lie
  std::vector<std::uint32_t> inputs_apart;  ///< inputs that are read again when parts of C are there
};
BoundaryOf boundary(const Recipe& recipe);
/// Blocks of a launch. Kind launch_config for more tiles than a launch has, or a K with fewer steps than `splits`.
Expected<LaunchDims> grid(const Recipe& recipe, std::uint64_t m, std::uint64_t n, std::uint64_t batch = 1, int processors = 132);
/// Clusters of so many blocks that an H100 or H200 runs at once, with one block a multiprocessor: some of its groups of
/// multiprocessors are no multiple of four.
int clusters_at_once(int blocks, int processors = 132);

/// The sizes of a strided product, which its tensors do not say, and the elements between the begins of rows.
struct Fixed {
  std::uint64_t m = 1, n = 1, k = 1;
  std::uint64_t a_stride = 0, b_stride = 0, c_stride = 0, residual_stride = 0;
  int processors = 132;
};

/// Writes the kernel. A strided one is for a product of these sizes; its text is that of all.
Expected<Kernel> kernel(const Recipe& recipe);
Expected<Kernel> kernel(const Recipe& recipe, const Fixed& sizes);

/// Elements along K of a stage: the 128 bytes of a swizzle.
inline int step_k(Type dtype) { return 128 / (isa::bits(dtype) / 8); }
/// The type of bias and residual, if that is not wide.
inline Type side_type(const Recipe& r) {
  if (r.scaling == Scaling::none) return r.dtype;
  return r.out == Type::f32 ? Type::bf16 : r.out;
}
inline Type residual_type(const Recipe& r) { return r.wide ? Type::f32 : side_type(r); }
/// Whether C is added to where it lies.
inline bool adds(const Recipe& r) { return r.wide && r.out == Type::f32; }
inline constexpr int most_shared = 232'448;  ///< bytes of a block on sm_90

}  // namespace ptx::kernels::product
