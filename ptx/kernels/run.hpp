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

struct NormOptions {
  float eps = 1e-6F;
  float offset = 0;  ///< added to the weight, of RMS norm alone
  /// With a residual: it is added to x first, and the sum, rounded to the element type, goes to `sum`.
  MatrixIn residual = {};
  MatrixOut sum = {};
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
[[nodiscard]] Expected<void> swiglu(const Place& place, Type dtype, const MatrixIn& gate, const MatrixIn& up, const MatrixOut& y);
/// y = gelu(gate) * up, GELU by tanh
[[nodiscard]] Expected<void> geglu(const Place& place, Type dtype, const MatrixIn& gate, const MatrixIn& up, const MatrixOut& y);

/// What becomes of a product's sums: activation(alpha sum + bias) + residual.
struct ProductOptions {
  bool a_transposed = false;  ///< a is given as [K, M]
  bool b_transposed = false;  ///< b is given as [N, K], as weights of linear layers are
  float alpha = 1;
  const void* bias = nullptr;  ///< of N elements
  MatrixIn residual = {};      ///< like c
  product::Activation activation = product::Activation::none;
  bool adds = false;  ///< c, which is f32, is added to where it lies; without a residual then
};
/// c = activation(alpha a b + bias) + residual of a [M, K], b [K, N], c [M, N]; bf16 or f16, sums in f32, `out` the same type or
/// f32. Of K = 0 the sums are 0; such a call allocates, and waits for the GPU. For sm_90a, or the executor. Rows may lie apart,
/// by `stride` of each matrix; those of a and b a multiple of 8 elements, and begin 16 bytes aligned, as TMA asks: what lies
/// otherwise has to be copied first. c has no memory in common with a or b. Kinds: argument_dim, argument_dtype, bad_tile,
/// argument_memory, argument_alignment, and those of Compiled::run.
[[nodiscard]] Expected<void> matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b, Type out,
                                    const MatrixOut& c, const ProductOptions& options = {});

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
