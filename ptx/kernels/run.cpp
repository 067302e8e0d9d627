#include "ptx/kernels/run.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ptx/kernels/run_recipe.hpp"
#include "ptx/kernels/run_rows.hpp"
#include "ptx/kernels/tuned.hpp"

namespace ptx::kernels {
namespace {

template <class Void>
std::uint64_t stride_of(const MatrixOf<Void>& matrix) {
  return matrix.stride == 0 ? matrix.columns : matrix.stride;
}

Expected<void> check(const RowsCall& call) {
  const MatrixIn& x = call.inputs[0];
  const auto sizes = [](const auto& m) { return cat(m.rows, " x ", m.columns); };
  const auto fits = [&](const auto& m, std::string_view what) -> Expected<void> {
    if (m.rows == x.rows && m.columns == x.columns) return {};
    return Unexpected{wrong(call.operation, cat(what, " of ", sizes(m), " beside an input of ", sizes(x)))};
  };
  for (const MatrixIn& m : call.inputs) {
    if (auto done = fits(m, "an input"); !done) return done;
    if (stride_of(m) > 0xFFFF'FFFFU) return Unexpected{wrong(call.operation, cat("rows ", m.stride, " elements apart"))};
  }
  for (const MatrixOut& m : call.outputs) {
    if (auto done = fits(m, "an output"); !done) return done;
    if (m.rows > 1 && stride_of(m) != m.columns)
      return Unexpected{wrong(call.operation, cat("an output whose rows of ", m.columns, " elements lie ", m.stride, " apart"))
                            .hint("an output has no gaps between its rows")};
  }
  return {};
}

Problem problem_of(const RowsCall& call) {
  const MatrixIn& x = call.inputs[0];
  const std::uint64_t size = bytes_of_element(call.dtype);
  Problem p{.operation = call.operation, .dtype = call.dtype, .rows = x.rows, .columns = x.columns};
  p.weight = call.weight != nullptr;
  p.bias = call.bias != nullptr || call.has_bias;
  p.residual = call.residual;
  p.given = call.e4m3.scale != nullptr;
  p.e4m3 = p.given || call.e4m3.scales != nullptr;
  std::uint64_t places = 16 | reinterpret_cast<std::uintptr_t>(call.weight) | reinterpret_cast<std::uintptr_t>(call.bias);
  for (const MatrixIn& m : call.inputs) {
    p.strided |= m.rows > 1 && stride_of(m) != m.columns;
    places |= reinterpret_cast<std::uintptr_t>(m.data) | stride_of(m) * size;
  }
  for (const MatrixOut& m : call.outputs) {
    const bool is_e4m3 = p.e4m3 && &m == call.outputs.data();  // as many elements are to be aligned as of the others
    places |= reinterpret_cast<std::uintptr_t>(m.data) * (is_e4m3 ? size : 1) | m.columns * size;
  }
  p.alignment = static_cast<int>(places & (~places + 1));
  return p;
}

Expected<void> norm(const Place& place, RowsCall call, const NormOptions& options) {
  call.scalars = {static_cast<double>(options.eps)};
  if (call.operation == Operation::rms_norm && call.weight != nullptr)
    call.scalars.emplace_back(static_cast<double>(options.offset));
  call.e4m3 = options.e4m3;
  if (options.residual.data != nullptr) {
    call.residual = true;
    call.inputs.push_back(options.residual);
    call.outputs.push_back(options.sum);
  }
  return run(place, call);
}

}  // namespace

Diagnostic wrong(Operation operation, std::string message) {
  return {.kind = Kind::argument_dim, .message = cat('`', name(operation), "`: ", message)};
}

Memory memory_at(const Place& place, const void* data, std::uint64_t bytes, const Shape& shape) {
  return {.data = const_cast<void*>(data), .bytes = bytes, .on_gpu = std::holds_alternative<launch::Cuda>(place), .shape = shape};
}

Expected<RowsKernel> kernel_for(const Place& place, const RowsCall& call) {
  if (auto done = check(call); !done) return Unexpected{done.error()};
  const Problem problem = problem_of(call);
  auto recipe = chosen(place, problem);
  if (!recipe) return Unexpected{std::move(recipe).error()};
  return RowsKernel{*recipe, problem};
}

Expected<void> run(const Place& place, const RowsKernel& chosen, RowsCall call, const std::vector<Out>& partial) {
  const Problem& problem = chosen.problem;
  const std::uint64_t size = bytes_of_element(call.dtype), rows = problem.rows, columns = problem.columns;
  const auto matrix = [&](const auto& m, std::uint64_t bytes) {
    return memory_at(place, m.data, m.rows * m.columns * bytes, Shape(m.rows, m.columns));
  };
  std::vector<In> inputs;
  if (problem.strided) call.scalars.emplace_back(static_cast<std::int64_t>(rows));  // one group
  for (const MatrixIn& m : call.inputs) {
    if (problem.strided) {
      const std::uint64_t length = (m.rows - 1) * stride_of(m) + m.columns;
      inputs.emplace_back(View<false>{memory_at(place, m.data, length * size, Shape(length))});
      call.scalars.emplace_back(static_cast<std::int64_t>(stride_of(m)));
      call.scalars.emplace_back(std::int64_t{0});
    } else {
      inputs.emplace_back(View<false>{matrix(m, size)});
    }
  }
  for (const void* vector : {call.weight, call.bias})
    if (vector != nullptr) inputs.emplace_back(View<false>{memory_at(place, vector, columns * size, Shape(columns))});
  if (problem.given) inputs.emplace_back(View<false>{memory_at(place, call.e4m3.scale, 4, Shape(1))});
  std::vector<Out> outputs;
  for (const MatrixOut& m : call.outputs) outputs.emplace_back(View<true>{matrix(m, problem.e4m3 && outputs.empty() ? 1 : size)});
  if (problem.e4m3 && !problem.given) outputs.emplace_back(View<true>{memory_at(place, call.e4m3.scales, rows * 4, Shape(rows))});
  outputs.insert(outputs.end(), partial.begin(), partial.end());
  const auto kernel = compiled(chosen.recipe, call.scalars);
  if (!kernel) return Unexpected{kernel.error()};
  return kernel->run(place, inputs, outputs);
}

Expected<void> run(const Place& place, const RowsCall& call) {
  if (auto done = check(call); !done) return done;
  if (call.inputs[0].rows == 0 || call.inputs[0].columns == 0) return {};
  const auto kernel = kernel_for(place, call);
  if (!kernel) return Unexpected{kernel.error()};
  return run(place, *kernel, call);
}

Expected<Compiled> compiled(const Recipe& recipe, const std::vector<launch::Scalar>& scalars) {
  static std::mutex mutex;
  static std::map<std::string, Compiled> all;
  const std::string key = name(recipe);
  {
    const std::lock_guard lock(mutex);
    if (const auto known = all.find(key); known != all.end()) return known->second.with_scalars(scalars);
  }
  auto written = kernel(recipe);
  if (!written) return Unexpected{std::move(written).error()};
  auto made = compile(std::move(*written), scalars);
  if (!made) return made;
  const std::lock_guard lock(mutex);
  return all.try_emplace(key, std::move(*made)).first->second.with_scalars(scalars);
}

Expected<void> rms_norm(const Place& place, Type dtype, const MatrixIn& x, const void* weight, const MatrixOut& y,
                        const NormOptions& options) {
  return norm(place, {.operation = Operation::rms_norm, .dtype = dtype, .inputs = {x}, .weight = weight, .outputs = {y}},
              options);
}
Expected<void> layer_norm(const Place& place, Type dtype, const MatrixIn& x, const void* weight, const void* bias,
                          const MatrixOut& y, const NormOptions& options) {
  return norm(place,
              {.operation = Operation::layer_norm, .dtype = dtype, .inputs = {x}, .weight = weight, .bias = bias, .outputs = {y}},
              options);
}
Expected<void> softmax(const Place& place, Type dtype, const MatrixIn& x, const MatrixOut& y) {
  return run(place, {.operation = Operation::softmax, .dtype = dtype, .inputs = {x}, .outputs = {y}});
}
Expected<void> log_softmax(const Place& place, Type dtype, const MatrixIn& x, const MatrixOut& y) {
  return run(place, {.operation = Operation::log_softmax, .dtype = dtype, .inputs = {x}, .outputs = {y}});
}
Expected<void> swiglu(const Place& place, Type dtype, const MatrixIn& gate, const MatrixIn& up, const MatrixOut& y,
                      const E4m3& e4m3) {
  return run(place, {.operation = Operation::swiglu, .dtype = dtype, .inputs = {gate, up}, .outputs = {y}, .e4m3 = e4m3});
}
Expected<void> geglu(const Place& place, Type dtype, const MatrixIn& gate, const MatrixIn& up, const MatrixOut& y,
                     const E4m3& e4m3) {
  return run(place, {.operation = Operation::geglu, .dtype = dtype, .inputs = {gate, up}, .outputs = {y}, .e4m3 = e4m3});
}

}  // namespace ptx::kernels
