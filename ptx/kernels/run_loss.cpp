// Cross-entropy over pointers, and of a product whose result is never in memory all at once.
#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ptx/kernels/run.hpp"
#include "ptx/kernels/run_recipe.hpp"
#include "ptx/kernels/tuned.hpp"

namespace ptx::kernels {
namespace {

Unexpected misfit(std::string_view operation, std::string message, std::string hint) {
  return Unexpected{Diagnostic{.kind = Kind::argument_dim, .message = cat('`', operation, "`: ", message)}.hint(std::move(hint))};
}

template <class Void>
MatrixOf<Void> rows_of(const MatrixOf<Void>& m, std::uint64_t begin, std::uint64_t rows, int bytes) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;
  const std::uint64_t skipped = begin * (m.stride == 0 ? m.columns : m.stride) * static_cast<std::uint64_t>(bytes);
  return {m.data == nullptr ? nullptr : static_cast<Byte*>(m.data) + skipped, rows, m.columns, m.stride};
}

}  // namespace

Expected<void> cross_entropy(const Place& place, Type dtype, const MatrixOut& logits, const std::int64_t* targets, float* losses,
                             const float* scale, const LossOptions& options) {
  if (logits.rows > 1 && logits.stride != 0 && logits.stride != logits.columns)
    return misfit("cross_entropy", cat("rows of ", logits.columns, " logits lie ", logits.stride, " apart"),
                  "what fits has no gaps between its rows");
  if (logits.rows == 0) return {};
  const auto size = static_cast<std::uint64_t>(isa::bits(dtype) / 8);
  const std::uint64_t places = 16 | reinterpret_cast<std::uintptr_t>(logits.data) | logits.columns * size;
  const bool gradient = scale != nullptr;
  const Problem problem{.operation = Operation::cross_entropy,
                        .dtype = dtype,
                        .rows = logits.rows,
                        .columns = logits.columns,
                        .alignment = static_cast<int>(places & (~places + 1)),
                        .gradient = gradient,
                        .in_place = gradient};
  const auto recipe = chosen(place, problem);
  if (!recipe) return Unexpected{recipe.error()};
  const bool on_gpu = std::holds_alternative<launch::Cuda>(place);
  const auto memory = [&](const void* data, std::uint64_t bytes, const Shape& shape) {
    return Memory{.data = const_cast<void*>(data), .bytes = bytes, .on_gpu = on_gpu, .shape = shape};
  };
  const Memory matrix = memory(logits.data, logits.rows * logits.columns * size, Shape(logits.rows, logits.columns));
  std::vector<In> inputs;
  inputs.emplace_back(View<false>{matrix});
  inputs.emplace_back(View<false>{memory(targets, logits.rows * 8, Shape(logits.rows))});
  if (gradient) inputs.emplace_back(View<false>{memory(scale, logits.rows * 4, Shape(logits.rows))});
  std::vector<Out> outputs;
  outputs.emplace_back(View<true>{memory(losses, logits.rows * 4, Shape(logits.rows))});
  if (gradient) outputs.emplace_back(View<true>{matrix});
  const auto kernel =
      compiled(*recipe, {options.ignore_index, static_cast<double>(options.smoothing), static_cast<double>(options.z_loss)});
  if (!kernel) return Unexpected{kernel.error()};
  return kernel->run(place, inputs, outputs);
}

Expected<void> linear_cross_entropy(const Place& place, Type dtype, const MatrixIn& x, const MatrixIn& weight,
                                    const std::int64_t* targets, float* losses, void* workspace, std::uint64_t chunk,
                                    const LinearLossGradients& gradients, const LossOptions& options) {
  if (chunk == 0) return misfit("linear_cross_entropy", "chunks of 0 rows", "what fits is 1 row or more");
  const auto fits = [](const MatrixOut& m, const MatrixIn& like) {
    return m.data == nullptr || (m.rows == like.rows && m.columns == like.columns);
  };
  if (x.columns != weight.columns || !fits(gradients.x, x) || !fits(gradients.weight, weight))
    return misfit("linear_cross_entropy",
                  cat("x is ", x.rows, " x ", x.columns, ", the weight ", weight.rows, " x ", weight.columns),
                  "what fits is x M x K, a weight of N x K, and gradients like what they are of");
  const int bytes = isa::bits(dtype) / 8;
  for (std::uint64_t begin = 0; begin < x.rows; begin += chunk) {
    const std::uint64_t rows = std::min(chunk, x.rows - begin);
    const MatrixIn of_x = rows_of(x, begin, rows, bytes);
    const MatrixOut logits{workspace, rows, weight.rows};
    const MatrixIn gradient{workspace, rows, weight.rows};
    const float* scale = gradients.scale == nullptr ? nullptr : gradients.scale + begin;
    if (auto done = matmul(place, dtype, of_x, weight, dtype, logits, {.b_transposed = true}); !done) return done;
    if (auto done = cross_entropy(place, dtype, logits, targets + begin, losses + begin, scale, options); !done) return done;
    if (scale == nullptr) continue;
    if (gradients.x.data != nullptr) {
      const MatrixOut to = rows_of(gradients.x, begin, rows, bytes);
      if (auto done = matmul(place, dtype, gradient, weight, dtype, to); !done) return done;
    }
    if (gradients.weight.data == nullptr) continue;
    const ProductOptions adding{.a_transposed = true, .adds = true};
    if (auto done = matmul(place, dtype, gradient, of_x, Type::f32, gradients.weight, adding); !done) return done;
  }
  return {};
}

}  // namespace ptx::kernels
