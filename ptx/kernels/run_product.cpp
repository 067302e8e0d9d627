#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/kernels/run.hpp"
#include "ptx/kernels/tuned.hpp"

namespace ptx::kernels {
namespace {

Unexpected misfit(Kind kind, std::string message, std::string hint) {
  return Unexpected{Diagnostic{.kind = kind, .message = cat("`matmul`: ", message)}.hint(std::move(hint))};
}

template <class Void>
std::string sizes(const MatrixOf<Void>& m) {
  return cat(m.rows, " x ", m.columns);
}

template <class Void>
Expected<void> check_rows(std::string_view name, const MatrixOf<Void>& m, bool is_copied) {
  if (m.rows > 1 && m.stride != 0 && m.stride != m.columns)
    return misfit(Kind::argument_dim, cat("rows of ", name, " have ", m.columns, " elements and lie ", m.stride, " apart"),
                  "what fits has no gaps between its rows");
  if (is_copied && m.columns % 8 != 0)
    return misfit(Kind::argument_dim, cat(name, " is ", sizes(m)),
                  "what fits has rows of a multiple of 8 elements: pad them with zeros");
  return {};
}

Expected<product::Problem> problem_of(Type dtype, const MatrixIn& a, const MatrixIn& b, Type out, const MatrixOut& c,
                                      const ProductOptions& o) {
  product::Problem p{.dtype = dtype,
                     .out = out,
                     .m = o.a_transposed ? a.columns : a.rows,
                     .n = o.b_transposed ? b.rows : b.columns,
                     .k = o.a_transposed ? a.rows : a.columns,
                     .a_transposed = o.a_transposed,
                     .b_transposed = o.b_transposed,
                     .alpha = o.alpha != 1,
                     .bias = o.bias != nullptr,
                     .residual = o.residual.data != nullptr || o.adds,
                     .wide = o.adds,
                     .activation = o.activation};
  if (p.k != (o.b_transposed ? b.columns : b.rows) || c.rows != p.m || c.columns != p.n)
    return misfit(Kind::argument_dim,
                  cat("a is ", sizes(a), o.a_transposed ? ", transposed" : "", ", b ", sizes(b),
                      o.b_transposed ? ", transposed" : "", ", c ", sizes(c)),
                  "what fits is a M x K, b K x N, c M x N");
  if (o.adds && (out != Type::f32 || o.residual.data != nullptr))
    return misfit(Kind::argument_kind,
                  cat("adding to a c of .", isa::name(out), o.residual.data != nullptr ? ", and a residual" : ""),
                  "what fits is a c of f32, without a residual");
  if (p.residual && !o.adds && (o.residual.rows != c.rows || o.residual.columns != c.columns))
    return misfit(Kind::argument_dim, cat("a residual of ", sizes(o.residual), " beside a c of ", sizes(c)),
                  "what fits is one size");
  for (const auto& checked : {check_rows("a", a, true), check_rows("b", b, true), check_rows("c", c, false),
                              check_rows("the residual", o.residual, false)})
    if (!checked) return Unexpected{checked.error()};
  return p;
}

/// The kernel of a recipe, with its scalars, once it is written.
Expected<Compiled> compiled(const product::Recipe& recipe, const std::vector<launch::Scalar>& scalars) {
  static std::mutex mutex;
  static std::map<std::string, Compiled> all;
  const std::string key = product::name(recipe);
  {
    const std::lock_guard lock(mutex);
    if (const auto known = all.find(key); known != all.end()) return known->second.with_scalars(scalars);
  }
  auto written = product::kernel(recipe);
  if (!written) return Unexpected{std::move(written).error()};
  auto made = compile(std::move(*written), scalars);
  if (!made) return made;
  const std::lock_guard lock(mutex);
  return all.try_emplace(key, std::move(*made)).first->second.with_scalars(scalars);
}

/// Of K = 0 the sums are 0: those of 8 columns of zeros, which it makes.
Expected<void> product_of_zeros(const Place& place, Type dtype, const product::Problem& problem, Type out, const MatrixOut& c,
                                ProductOptions options) {
  options.a_transposed = false, options.b_transposed = true;
  const std::uint64_t bytes = 8 * std::max(problem.m, problem.n) * static_cast<std::uint64_t>(isa::bits(dtype) / 8);
  const auto run = [&](const void* zeros) {
    return matmul(place, dtype, {zeros, problem.m, 8}, {zeros, problem.n, 8}, out, c, options);
  };
  const auto* gpu = std::get_if<launch::Cuda>(&place);
  if (gpu == nullptr) return run(std::vector<double>(bytes / 8).data());
  const auto device = cuda::device(gpu->ordinal);
  if (!device) return Unexpected{device.error()};
  auto buffer = cuda::DeviceBuffer::make(**device, bytes);
  if (!buffer) return Unexpected{buffer.error()};
  if (auto filled = buffer->fill(0); !filled) return filled;
  if (auto done = run(reinterpret_cast<const void*>(buffer->addr())); !done) return done;
  return cuda::synchronize(**device);  // the zeros are freed
}

}  // namespace

Expected<void> matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b, Type out, const MatrixOut& c,
                      const ProductOptions& options) {
  const auto problem = problem_of(dtype, a, b, out, c, options);
  if (!problem) return Unexpected{problem.error()};
  if (problem->m == 0 || problem->n == 0) return {};
  if (problem->k == 0) return product_of_zeros(place, dtype, *problem, out, c, options);
  const auto recipe = chosen(place, *problem);
  if (!recipe) return Unexpected{recipe.error()};
  const bool on_gpu = std::holds_alternative<launch::Cuda>(place);
  const auto memory = [&](const void* data, std::uint64_t rows, std::uint64_t columns, Type type) {
    const Shape shape = rows == 0 ? Shape(columns) : Shape(rows, columns);
    const auto bytes = (rows == 0 ? 1 : rows) * columns * static_cast<std::uint64_t>(isa::bits(type) / 8);
    return Memory{.data = const_cast<void*>(data), .bytes = bytes, .on_gpu = on_gpu, .shape = shape};
  };
  std::vector<In> inputs;
  for (const MatrixIn& m : {a, b}) inputs.emplace_back(View<false>{memory(m.data, m.rows, m.columns, dtype)});
  if (problem->bias) inputs.emplace_back(View<false>{memory(options.bias, 0, problem->n, dtype)});
  if (problem->residual)
    inputs.emplace_back(
        View<false>{memory(options.adds ? c.data : options.residual.data, c.rows, c.columns, options.adds ? out : dtype)});
  std::vector<Out> outputs;
  outputs.emplace_back(View<true>{memory(c.data, c.rows, c.columns, out)});
  const auto number = [](std::uint64_t size) { return launch::Scalar(static_cast<std::int64_t>(size)); };
  std::vector<launch::Scalar> scalars = {number(problem->m), number(problem->n), number(problem->k)};
  if (problem->alpha) scalars.emplace_back(options.alpha);
  const auto kernel = compiled(*recipe, scalars);
  if (!kernel) return Unexpected{kernel.error()};
  return kernel->run(place, inputs, outputs);
}

}  // namespace ptx::kernels
