// The kernels as functions over memory: pointers, distances between rows, a place to run.
//     kernels::rms_norm(gpu(0, stream), bf16, {x, rows, n}, weight, {y, rows, n});
// The first call of a kind writes and compiles the kernel; calls with other sizes do not. Recipes that `pyptx.kernels.tune` has
// measured on this machine are taken (tuned.hpp). Thread-safe.
#pragma once

#include <cstdint>

#include "ptx/base/base.hpp"
#include "ptx/kernels/product.hpp"
#include "ptx/kernels/recipe.hpp"
#include "ptx/launch/brief.hpp"

namespace ptx::kernels {

/// Rows of `columns` elements, `stride` elements apart; 0: without gaps. Where the call runs: addresses of a GPU, or of the host.
template <class Void>
struct MatrixOf {
  Void* data = nullptr;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t stride = 0;
};
using MatrixIn = MatrixOf<const void>;
/// What is written has no gaps, but for products.
using MatrixOut = MatrixOf<void>;

/// A result of e4m3: each row by its largest number, whose scale goes to `scales` [M], or all of it by the number that lies at
/// `scale`. Result times scale is about what it would be. Null: none of it.
struct E4m3 {
  float* scales = nullptr;
  const float* scale = nullptr;
};

struct NormOptions {
  float eps = 1e-6F;
  float offset = 0;  ///< added to the weight, of RMS norm alone
  /// With a residual: it is added to x first, and the sum, rounded to the element type, goes to `sum`.
  MatrixIn residual = {};
  MatrixOut sum = {};
  E4m3 e4m3 = {};  ///< of y
};

/// y = x * rstd * (weight + offset). `weight` has x.columns elements, or is null. Elements are f32, f16 or bf16, of all alike.
/// Kinds, of all functions here: argument_dim (matrices of different sizes, an output with gaps), argument_dtype and bad_tile (a
/// type and a length that no kernel takes), argument_memory (no address, an overlap), and those of Compiled::run.
[[nodiscard]] Expected<void> rms_norm(const Place& place, Type dtype, const MatrixIn& x, const void* weight, const MatrixOut& y,
                                      const NormOptions& options = {});
/// y = (x - mean) * rstd * weight + bias; `weight` and `bias` may be null.
[[nodiscard]] Expected<void> layer_norm(const Place& place, Type dtype, const MatrixIn& x, const void* weight, const void* bias,
                                        const MatrixOut& y, const NormOptions& options = {.eps = 1e-5F});
[[nodiscard]] Expected<void> softmax(const Place& place, Type dtype, const MatrixIn& x, const MatrixOut& y);
[[nodiscard]] Expected<void> log_softmax(const Place& place, Type dtype, const MatrixIn& x, const MatrixOut& y);
/// y = silu(gate) * up
[[nodiscard]] Expected<void> swiglu(const Place& place, Type dtype, const MatrixIn& gate, const MatrixIn& up, const MatrixOut& y,
                                    const E4m3& e4m3 = {});
/// y = gelu(gate) * up, GELU by tanh
[[nodiscard]] Expected<void> geglu(const Place& place, Type dtype, const MatrixIn& gate, const MatrixIn& up, const MatrixOut& y,
                                   const E4m3& e4m3 = {});

/// What the gradients of a norm are of, and where they go; all but f32 workspace are of the element type.
struct NormGradients {
  MatrixIn dy = {};
  MatrixIn x = {};       ///< what was normalised: with a residual the sum
  MatrixIn of_sum = {};  ///< with a residual: the gradient of the sum, which is added to dx
  const void* weight = nullptr;
  MatrixOut dx = {};
  void* dweight = nullptr;  ///< [N]; where there is a weight
  void* dbias = nullptr;    ///< [N], of layer norm; null: there is no bias
  float eps = 1e-6F;
  float offset = 0;           ///< of RMS norm
  void* workspace = nullptr;  ///< 16 bytes aligned; what is left there has no meaning
};
/// Bytes that the workspace of such a call needs; 0 without weight and bias. Kinds: those of the call.
[[nodiscard]] Expected<std::uint64_t> rms_norm_workspace(const Place& place, Type dtype, const NormGradients& gradients);
[[nodiscard]] Expected<std::uint64_t> layer_norm_workspace(const Place& place, Type dtype, const NormGradients& gradients);
/// Statistics of the rows are taken anew. Kinds: argument_memory besides, for a weight without `dweight`, and a workspace that
/// is missing or not aligned.
[[nodiscard]] Expected<void> rms_norm_backward(const Place& place, Type dtype, const NormGradients& gradients);
[[nodiscard]] Expected<void> layer_norm_backward(const Place& place, Type dtype, const NormGradients& gradients);
/// dx = y * (dy - sum(dy * y)), of what softmax gave
[[nodiscard]] Expected<void> softmax_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& y,
                                              const MatrixOut& dx);
/// dx = dy - exp(y) * sum(dy), of what log_softmax gave
[[nodiscard]] Expected<void> log_softmax_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& y,
                                                  const MatrixOut& dx);
[[nodiscard]] Expected<void> swiglu_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& gate,
                                             const MatrixIn& up, const MatrixOut& dgate, const MatrixOut& dup);
[[nodiscard]] Expected<void> geglu_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& gate,
                                            const MatrixIn& up, const MatrixOut& dgate, const MatrixOut& dup);

/// What becomes of a product's sums: activation(alpha sum + bias) + residual.
struct ProductOptions {
  bool a_transposed = false;  ///< a is given as [K, M]
  bool b_transposed = false;  ///< b is given as [N, K], as weights of linear layers are
  float alpha = 1;
  const void* bias = nullptr;  ///< of N elements
  MatrixIn residual = {};      ///< like c
  product::Activation activation = product::Activation::none;
  bool adds = false;  ///< c, which is f32, is added to where it lies; without a residual then
  /// So many products: matrices, and residuals, lie one behind the other, without gaps. They have one bias.
  std::uint64_t batch = 1;
};
/// c = activation(alpha a b + bias) + residual of a [M, K], b [K, N], c [M, N]; bf16 or f16, sums in f32, `out` the same type or
/// f32. Of K = 0 the sums are 0; such a call allocates, and waits for the GPU. For sm_90a, or the executor. Rows may lie apart,
/// by `stride` of each matrix; those of a and b a multiple of 8 elements, and begin 16 bytes aligned, as TMA asks: what lies
/// otherwise has to be copied first. c has no memory in common with a or b. Kinds: argument_dim, argument_dtype, bad_tile,
/// argument_memory, argument_alignment, and those of Compiled::run.
[[nodiscard]] Expected<void> matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b, Type out,
                                    const MatrixOut& c, const ProductOptions& options = {});

struct GatedOptions {
  bool a_transposed = false;  ///< a is given as [K, M]
  bool b_transposed = true;   ///< b is given as [2 N, K]
  product::Activation activation = product::Activation::silu;
  std::uint64_t batch = 1;  ///< as of ProductOptions
};
/// c = activation(a G) * (a U) of a [M, K] and b [K, 2 N], G and U side by side; c [M, N] of the type of a and b, bf16 or f16.
/// Kinds: those of matmul.
[[nodiscard]] Expected<void> gated_matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b,
                                          const MatrixOut& c, const GatedOptions& options = {});

struct ScaledOptions {
  product::Scaling scaling = product::Scaling::tensorwise;
  /// Scales of blocks of a are given as [K / 128, M], M a multiple of 4, which is faster; else they are [M, K / 128].
  bool scales_transposed = false;
  bool fast = true;  ///< sums as wgmma has them, with about 14 bits; else, and always with blocks, 128 products at a time in f32
  const void* bias = nullptr;  ///< of N elements of c's type, or bf16 for f32; so is the residual
  MatrixIn residual = {};
  product::Activation activation = product::Activation::none;
};
/// c = activation((a scale_a) (b scale_b)' + bias) + residual of e4m3 a [M, K] and b [N, K], c [M, N] of bf16, f16 or f32. Scales
/// are f32: one and one; [M] and [N]; or [M, K / 128] and [N / 128, K / 128], rounded up. K is a multiple of 16. Kinds: those of
/// matmul.
[[nodiscard]] Expected<void> scaled_matmul(const Place& place, const MatrixIn& a, const float* scale_a, const MatrixIn& b,
                                           const float* scale_b, Type out, const MatrixOut& c, const ScaledOptions& options = {});

struct GroupedOptions {
  bool b_transposed = true;  ///< matrices of b are given as [N, K]
  product::Activation activation = product::Activation::none;
};
/// Rows of a [M, K] in groups, each times its own matrix of b: `b` says the size of one of them, [K, N], and where the first of
/// `groups` lies, one behind the other. `offsets` are the groups' ends, ascending, read where the kernel runs; groups may be
/// empty, and rows of c behind the last end are not written. Kinds: those of matmul.
[[nodiscard]] Expected<void> grouped_matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b,
                                            const std::int32_t* offsets, std::uint64_t groups, Type out, const MatrixOut& c,
                                            const GroupedOptions& options = {});

/// What a cross-entropy is of, beside its tensors.
struct LossOptions {
  std::int64_t ignore_index = -100;  ///< rows with this target have no loss and no gradient
  float smoothing = 0;               ///< of the labels
  float z_loss = 0;                  ///< times the square of a row's logsumexp, added to its loss
};
/// The loss of each row of logits: losses[M], f32, of targets[M], the number of the row's class. A target that is no class makes
/// its loss NaN. With `scale` [M], f32, the gradients of the losses, the logits become their gradient where they lie.
[[nodiscard]] Expected<void> cross_entropy(const Place& place, Type dtype, const MatrixOut& logits, const std::int64_t* targets,
                                           float* losses, const float* scale = nullptr, const LossOptions& options = {});

/// What `linear_cross_entropy` writes beside the losses; null: not asked for.
struct LinearLossGradients {
  const float* scale = nullptr;  ///< [M], the gradients of the losses; without it there are none
  MatrixOut x = {};              ///< [M, K], of the element type
  MatrixOut weight = {};         ///< [N, K], f32: it is added to where it lies, so a first call begins with zeros
};
/// The cross-entropy of logits = x weight', x [M, K], weight [N, K], bf16 or f16. `workspace` has room for N elements for each of
/// `chunk` rows, whose logits are in memory at once; it is left with numbers of no meaning. Sizes and alignments as in `matmul`:
/// K and N are multiples of 8. Kinds: those of `matmul`, and of Compiled::run.
[[nodiscard]] Expected<void> linear_cross_entropy(const Place& place, Type dtype, const MatrixIn& x, const MatrixIn& weight,
                                                  const std::int64_t* targets, float* losses, void* workspace,
                                                  std::uint64_t chunk, const LinearLossGradients& gradients = {},
                                                  const LossOptions& options = {});

}  // namespace ptx::kernels
