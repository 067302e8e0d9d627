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

constexpr std::size_t most_kernels = 4096;  // kernels

template <class Void>
std::string sizes(const MatrixOf<Void>& m) {
  return cat(m.rows, " x ", m.columns);
}

/// Elements from a row to the next.
template <class Void>
std::uint64_t pitch_of(const MatrixOf<Void>& m) {
  return m.stride == 0 ? m.columns : m.stride;
}
template <class Void>
bool has_gaps(const MatrixOf<Void>& m) {
  return m.rows > 1 && pitch_of(m) != m.columns;
}

template <class Void>
Expected<void> check_rows(std::string_view name, const MatrixOf<Void>& m, bool is_copied) {
  if (m.rows > 1 && (pitch_of(m) < m.columns || pitch_of(m) >> 32 != 0))
    return misfit(Kind::argument_dim, cat("rows of ", name, " have ", m.columns, " elements and lie ", m.stride, " apart"),
                  "what fits are rows that do not overlap, less than 2^32 elements apart");
  if (is_copied && pitch_of(m) % 8 != 0)
    return misfit(Kind::argument_dim,
                  has_gaps(m) ? cat("rows of ", name, " lie ", m.stride, " apart") : cat(name, " is ", sizes(m)),
                  "what fits has rows a multiple of 8 elements apart: pad them with zeros");
  return {};
}

/// Elements that the rows of C and of the residual are aligned to: 8, 4, 2 or 1.
int apart_of(const MatrixOut& c, int size, const MatrixIn& residual, int residual_size) {
  std::uint64_t together = 8;
  const auto add = [&](const auto& m, int bytes) {
    if (m.data == nullptr) return;
    const auto place = reinterpret_cast<std::uintptr_t>(m.data) / static_cast<std::uintptr_t>(bytes);
    together |= place | (m.rows > 1 ? pitch_of(m) : 0);
  };
  add(c, size), add(residual, residual_size);
  return static_cast<int>(together & (~together + 1));
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
  p.strided = has_gaps(a) || has_gaps(b) || has_gaps(c) || has_gaps(o.residual);
  p.apart = apart_of(c, isa::bits(out) / 8, o.residual, isa::bits(dtype) / 8);
  return p;
}

/// The kernel of a recipe, with its scalars, once it is written. Of a strided product one for its sizes, which its descriptors
/// have; their texts are the same, and so is the machine code.
Expected<Compiled> compiled(const product::Recipe& recipe, const product::Fixed& sizes,
                            const std::vector<launch::Scalar>& scalars) {
  static std::mutex mutex;
  static std::map<std::string, Compiled> all;
  std::string key = product::name(recipe);
  if (recipe.strided)
    for (const std::uint64_t size :
         {sizes.m, sizes.n, sizes.k, sizes.a_stride, sizes.b_stride, sizes.c_stride, sizes.residual_stride})
      key += cat(' ', size);
  {
    const std::lock_guard lock(mutex);
    if (const auto known = all.find(key); known != all.end()) return known->second.with_scalars(scalars);
  }
  auto written = recipe.strided ? product::kernel(recipe, sizes) : product::kernel(recipe);
  if (!written) return Unexpected{std::move(written).error()};
  auto made = compile(std::move(*written), scalars);
  if (!made) return made;
  const std::lock_guard lock(mutex);
  if (all.size() > most_kernels) all.clear();  // of a program whose sizes never end
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
  const bool on_gpu = std::holds_alternative<launch::Cuda>(place), strided = problem->strided;
  const auto flat = [&](const void* data, std::uint64_t elements, const Shape& shape, Type type) {
    const auto bytes = elements * static_cast<std::uint64_t>(isa::bits(type) / 8);
    return Memory{.data = const_cast<void*>(data), .bytes = bytes, .on_gpu = on_gpu, .shape = shape};
  };
  const auto memory = [&](const auto& m, Type type) {
    if (!strided) return flat(m.data, m.rows * m.columns, Shape(m.rows, m.columns), type);
    const std::uint64_t length = (m.rows - 1) * pitch_of(m) + m.columns;
    return flat(m.data, length, Shape(length), type);
  };
  const MatrixIn residual = options.adds ? MatrixIn{c.data, c.rows, c.columns, c.stride} : options.residual;
  std::vector<In> inputs;
  for (const MatrixIn& m : {a, b}) inputs.emplace_back(View<false>{memory(m, dtype)});
  if (problem->bias) inputs.emplace_back(View<false>{flat(options.bias, problem->n, Shape(problem->n), dtype)});
  if (problem->residual) inputs.emplace_back(View<false>{memory(residual, options.adds ? out : dtype)});
  std::vector<Out> outputs;
  outputs.emplace_back(View<true>{memory(c, out)});
  const auto number = [](std::uint64_t size) { return launch::Scalar(static_cast<std::int64_t>(size)); };
  std::vector<launch::Scalar> scalars = {number(problem->m), number(problem->n), number(problem->k)};
  if (problem->alpha) scalars.emplace_back(options.alpha);
  if (strided) scalars.push_back(number(pitch_of(c)));
  if (strided && problem->residual) scalars.push_back(number(pitch_of(residual)));
  const product::Fixed fixed{.m = problem->m,
                             .n = problem->n,
                             .k = problem->k,
                             .a_stride = pitch_of(a),
                             .b_stride = pitch_of(b),
                             .c_stride = pitch_of(c),
                             .residual_stride = pitch_of(residual),
                             .processors = problem->processors};
  const auto kernel = compiled(*recipe, fixed, scalars);
  if (!kernel) return Unexpected{kernel.error()};
  return kernel->run(place, inputs, outputs);
}

}  // namespace ptx::kernels
