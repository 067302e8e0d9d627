// Gradients of what goes row by row, over pointers.
#include <utility>
#include <vector>

#include "ptx/kernels/run_recipe.hpp"
#include "ptx/kernels/run_rows.hpp"
#include "ptx/kernels/tuned.hpp"

namespace ptx::kernels {
namespace {

RowsCall call_of(Operation operation, Type dtype, const NormGradients& g) {
  RowsCall call{.operation = operation,
                .dtype = dtype,
                .residual = g.of_sum.data != nullptr,
                .has_bias = operation == Operation::layer_norm_backward && g.dbias != nullptr,
                .inputs = {g.dy, g.x},
                .weight = g.weight,
                .outputs = {g.dx},
                .scalars = {static_cast<double>(g.eps)}};
  if (call.residual) call.inputs.push_back(g.of_sum);
  if (operation == Operation::rms_norm_backward && g.weight != nullptr) call.scalars.emplace_back(static_cast<double>(g.offset));
  return call;
}

/// P: of no rows there are none, and their sums are 0.
std::uint64_t partial_rows_of(const RowsKernel& kernel) {
  return kernel.problem.rows == 0 ? 0 : partial_rows(kernel.recipe, kernel.problem.rows);
}

Expected<std::uint64_t> workspace_of(const Place& place, const RowsCall& call) {
  const auto kernel = kernel_for(place, call);
  if (!kernel) return Unexpected{kernel.error()};
  const Problem& of = kernel->problem;
  return partial_rows_of(*kernel) * of.columns * 4 * ((of.weight ? 1U : 0U) + (of.bias ? 1U : 0U));
}

Expected<void> check_workspace(const RowsKernel& kernel, const NormGradients& g) {
  const auto missing = [&](std::string_view what, std::string hint) {
    return Unexpected{
        Diagnostic{.kind = Kind::argument_memory, .message = cat('`', name(kernel.problem.operation), "`: ", what)}.hint(
            std::move(hint))};
  };
  if (g.weight != nullptr && g.dweight == nullptr)
    return missing("there is a weight, and no memory for its gradient", "what fits is a `dweight` of as many elements");
  if (!kernel.problem.weight && !kernel.problem.bias) return {};
  if (g.workspace == nullptr)
    return missing("there is no workspace", "what fits has as many bytes as rms_norm_workspace or layer_norm_workspace says");
  if (reinterpret_cast<std::uintptr_t>(g.workspace) % 16 != 0)
    return missing("the workspace is not 16 bytes aligned", "allocations of the GPU are");
  return {};
}

/// One launch that adds up what the blocks left, and rounds it.
Expected<void> add_up(const Place& place, const RowsKernel& kernel, const NormGradients& g, const std::vector<Memory>& partial) {
  const Problem& of = kernel.problem;
  const std::uint64_t rows = partial_rows_of(kernel), places = 16 | of.columns * 4;
  const Problem problem{.operation = Operation::column_sums,
                        .dtype = of.dtype,
                        .rows = rows,
                        .columns = of.columns,
                        .alignment = static_cast<int>(places & (~places + 1)),
                        .weight = of.weight,
                        .bias = of.bias};
  const auto recipe = chosen(place, problem);
  if (!recipe) return Unexpected{recipe.error()};
  std::vector<In> inputs;
  for (const Memory& sums : partial) inputs.emplace_back(View<false>{sums});
  std::vector<Out> outputs;
  const std::uint64_t bytes = of.columns * static_cast<std::uint64_t>(isa::bits(of.dtype) / 8);
  if (of.weight) outputs.emplace_back(View<true>{memory_at(place, g.dweight, bytes, Shape(of.columns))});
  if (of.bias) outputs.emplace_back(View<true>{memory_at(place, g.dbias, bytes, Shape(of.columns))});
  const auto made = compiled(*recipe, {});
  if (!made) return Unexpected{made.error()};
  return made->run(place, inputs, outputs);
}

Expected<void> norm_backward(const Place& place, const RowsCall& call, const NormGradients& g) {
  const auto kernel = kernel_for(place, call);
  if (!kernel) return Unexpected{kernel.error()};
  if (auto done = check_workspace(*kernel, g); !done) return done;
  const Problem& of = kernel->problem;
  if (of.columns == 0) return {};
  std::vector<Memory> partial;
  std::vector<Out> outputs;
  const std::uint64_t rows = partial_rows_of(*kernel), bytes = rows * of.columns * 4;
  for (int i = 0; i < (of.weight ? 1 : 0) + (of.bias ? 1 : 0); ++i) {
    auto* const begin = static_cast<std::byte*>(g.workspace) + static_cast<std::uint64_t>(i) * bytes;
    partial.push_back(memory_at(place, begin, bytes, Shape(rows, of.columns)));
    outputs.emplace_back(View<true>{partial.back()});
  }
  if (of.rows != 0)
    if (auto done = run(place, *kernel, call, outputs); !done) return done;
  return partial.empty() ? Expected<void>() : add_up(place, *kernel, g, partial);
}

}  // namespace

Expected<std::uint64_t> rms_norm_workspace(const Place& place, Type dtype, const NormGradients& gradients) {
  return workspace_of(place, call_of(Operation::rms_norm_backward, dtype, gradients));
}
Expected<std::uint64_t> layer_norm_workspace(const Place& place, Type dtype, const NormGradients& gradients) {
  return workspace_of(place, call_of(Operation::layer_norm_backward, dtype, gradients));
}
Expected<void> rms_norm_backward(const Place& place, Type dtype, const NormGradients& gradients) {
  return norm_backward(place, call_of(Operation::rms_norm_backward, dtype, gradients), gradients);
}
Expected<void> layer_norm_backward(const Place& place, Type dtype, const NormGradients& gradients) {
  return norm_backward(place, call_of(Operation::layer_norm_backward, dtype, gradients), gradients);
}

Expected<void> softmax_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& y, const MatrixOut& dx) {
  return run(place, {.operation = Operation::softmax_backward, .dtype = dtype, .inputs = {dy, y}, .outputs = {dx}});
}
Expected<void> log_softmax_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& y, const MatrixOut& dx) {
  return run(place, {.operation = Operation::log_softmax_backward, .dtype = dtype, .inputs = {dy, y}, .outputs = {dx}});
}
Expected<void> swiglu_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& gate, const MatrixIn& up,
                               const MatrixOut& dgate, const MatrixOut& dup) {
  return run(place, {.operation = Operation::swiglu_backward, .dtype = dtype, .inputs = {dy, gate, up}, .outputs = {dgate, dup}});
}
Expected<void> geglu_backward(const Place& place, Type dtype, const MatrixIn& dy, const MatrixIn& gate, const MatrixIn& up,
                              const MatrixOut& dgate, const MatrixOut& dup) {
  return run(place, {.operation = Operation::geglu_backward, .dtype = dtype, .inputs = {dy, gate, up}, .outputs = {dgate, dup}});
}

}  // namespace ptx::kernels
