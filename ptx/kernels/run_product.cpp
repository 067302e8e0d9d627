// Matrix products over pointers. Each function says what its problem is and what its kernel takes; `multiply` does the rest.
#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/kernels/run.hpp"
#include "ptx/kernels/run_rows.hpp"
#include "ptx/kernels/tuned.hpp"

namespace ptx::kernels {
namespace {

constexpr std::size_t most_kernels = 4096;  // kernels

Unexpected misfit(std::string_view operation, Kind kind, std::string message, std::string hint) {
  return Unexpected{Diagnostic{.kind = kind, .message = cat('`', operation, "`: ", message)}.hint(std::move(hint))};
}

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

/// One call: what decides the kernel, and its tensors in the kernel's order.
struct Call {
  std::string_view operation;
  product::Problem problem;
  MatrixIn a, b;
  MatrixOut c;
  /// Vectors and scales between b and the residual: what the kernel calls its shape is theirs.
  struct Side {
    const void* data;
    Type type;
    Shape shape;
    std::uint64_t elements;
  };
  std::vector<Side> sides;
  MatrixIn residual = {};
  Type residual_type = Type::none;
  float alpha = 1;
};

template <class Void>
Expected<void> check_rows(const Call& call, std::string_view name, const MatrixOf<Void>& m, Type copied) {
  if (m.rows > 1 && (pitch_of(m) < m.columns || pitch_of(m) >> 32 != 0))
    return misfit(call.operation, Kind::argument_dim,
                  cat("rows of ", name, " have ", m.columns, " elements and lie ", m.stride, " apart"),
                  "what fits are rows that do not overlap, less than 2^32 elements apart");
  if (has_gaps(m) && (call.problem.batched || call.problem.grouped || call.problem.gated || copied == Type::e4m3))
    return misfit(call.operation, Kind::argument_dim,
                  cat("rows of ", name, " have ", m.columns, " elements and lie ", m.stride, " apart"),
                  "what fits here has no gaps between its rows");
  const std::uint64_t whole = copied == Type::none ? 1 : 16 / bytes_of_element(copied);
  if (pitch_of(m) % whole != 0)
    return misfit(call.operation, Kind::argument_dim,
                  has_gaps(m) ? cat("rows of ", name, " lie ", m.stride, " apart") : cat(name, " is ", sizes(m)),
                  cat("what fits has rows a multiple of ", whole, " elements apart: pad them with zeros"));
  return {};
}

/// Elements that the rows of C and of the residual are aligned to: 8, 4, 2 or 1.
int apart_of(const Call& call) {
  std::uint64_t together = 8;
  const auto add = [&](const auto& m, Type type) {
    if (m.data == nullptr) return;
    const auto place = reinterpret_cast<std::uintptr_t>(m.data) / bytes_of_element(type);
    together |= place | (m.rows > 1 ? pitch_of(m) : 0);
  };
  add(call.c, call.problem.out);
  if (call.residual.data != nullptr) add(call.residual, call.residual_type);
  return static_cast<int>(together & (~together + 1));
}

/// Takes the sizes off the matrices.
Expected<void> size(Call& call) {
  product::Problem& p = call.problem;
  const MatrixIn &a = call.a, &b = call.b;
  p.m = p.a_transposed ? a.columns : a.rows;
  p.n = p.b_transposed ? b.rows : b.columns;
  p.k = p.a_transposed ? a.rows : a.columns;
  const bool halves = !p.gated || p.n % 2 == 0;
  if (p.gated) p.n /= 2;
  if (!halves || p.k != (p.b_transposed ? b.columns : b.rows) || call.c.rows != p.m || call.c.columns != p.n)
    return misfit(call.operation, Kind::argument_dim,
                  cat("a is ", sizes(a), p.a_transposed ? ", transposed" : "", ", b ", sizes(b),
                      p.b_transposed ? ", transposed" : "", ", c ", sizes(call.c)),
                  p.gated ? "what fits is a M x K, b K x 2 N, c M x N" : "what fits is a M x K, b K x N, c M x N");
  const MatrixIn& r = call.residual;
  if (r.data != nullptr && (r.rows != p.m || r.columns != p.n))
    return misfit(call.operation, Kind::argument_dim, cat("a residual of ", sizes(r), " beside a c of ", sizes(call.c)),
                  "what fits is one size");
  for (const auto& checked : {check_rows(call, "a", a, p.dtype), check_rows(call, "b", b, p.dtype),
                              check_rows(call, "c", call.c, Type::none), check_rows(call, "the residual", r, Type::none)})
    if (!checked) return checked;
  p.strided = has_gaps(a) || has_gaps(b) || has_gaps(call.c) || has_gaps(r);
  p.apart = apart_of(call);
  return {};
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

/// Calls `with` for `bytes` bytes of zeros at the place, and waits: they are freed.
Expected<void> with_zeros(const Place& place, std::uint64_t bytes, const std::function<Expected<void>(const void*)>& with) {
  const auto* gpu = std::get_if<launch::Cuda>(&place);
  if (gpu == nullptr) return with(std::vector<double>(bytes / 8 + 2).data());
  const auto device = cuda::device(gpu->ordinal);
  if (!device) return Unexpected{device.error()};
  auto buffer = cuda::DeviceBuffer::make(**device, bytes);
  if (!buffer) return Unexpected{buffer.error()};
  if (auto filled = buffer->fill(0); !filled) return filled;
  if (auto done = with(reinterpret_cast<const void*>(buffer->addr())); !done) return done;
  return cuda::synchronize(**device);
}

Expected<void> multiply(const Place& place, const Call& call);

/// Of K = 0 the sums are 0: those of 16 columns of zeros, which it makes.
Expected<void> multiply_zeros(const Place& place, Call call) {
  constexpr std::uint64_t k = 16;
  product::Problem& p = call.problem;
  p.k = k, p.a_transposed = false, p.b_transposed = true;
  const std::uint64_t columns = p.gated ? 2 * p.n : p.n, matrices = p.batched || p.grouped ? p.batch : 1;
  const std::uint64_t bytes = k * matrices * std::max(p.m, columns) * bytes_of_element(p.dtype);
  return with_zeros(place, bytes, [&](const void* zeros) {
    call.a = {zeros, p.m, k}, call.b = {zeros, columns, k};
    return multiply(place, call);
  });
}

std::vector<launch::Scalar> scalars_of(const Call& call, std::uint64_t rows) {
  const product::Problem& p = call.problem;
  const auto number = [](std::uint64_t size) { return launch::Scalar(static_cast<std::int64_t>(size)); };
  std::vector<launch::Scalar> scalars = {number(rows), number(p.n), number(p.k)};
  if (p.batched || p.grouped) scalars.push_back(number(p.batch));
  if (p.alpha) scalars.emplace_back(call.alpha);
  if (p.strided) scalars.push_back(number(pitch_of(call.c)));
  if (p.strided && p.residual) scalars.push_back(number(pitch_of(call.residual)));
  return scalars;
}

Expected<void> multiply(const Place& place, const Call& call) {
  product::Problem p = call.problem;
  const std::uint64_t rows = p.m;  // of all groups
  if (rows == 0 || p.n == 0 || p.batch == 0) return {};
  if (p.k == 0) return multiply_zeros(place, call);
  if (p.grouped) p.m = std::max<std::uint64_t>(1, rows / p.batch);
  const auto recipe = chosen(place, p);
  if (!recipe) return Unexpected{recipe.error()};
  const auto memory = [&](const auto& m, Type type, bool is_stack) {
    const std::uint64_t size = bytes_of_element(type);
    if (p.strided) {
      const std::uint64_t length = (m.rows - 1) * pitch_of(m) + m.columns;
      return memory_at(place, m.data, length * size, Shape(length));
    }
    if (!is_stack) return memory_at(place, m.data, m.rows * m.columns * size, Shape(m.rows, m.columns));
    return memory_at(place, m.data, p.batch * m.rows * m.columns * size, Shape(p.batch, m.rows, m.columns));
  };
  std::vector<In> inputs;
  inputs.emplace_back(View<false>{memory(call.a, p.dtype, p.batched)});
  inputs.emplace_back(View<false>{memory(call.b, p.dtype, p.batched || p.grouped)});
  for (const Call::Side& side : call.sides)
    inputs.emplace_back(View<false>{memory_at(place, side.data, side.elements * bytes_of_element(side.type), side.shape)});
  if (p.residual) inputs.emplace_back(View<false>{memory(call.residual, call.residual_type, p.batched)});
  std::vector<Out> outputs;
  outputs.emplace_back(View<true>{memory(call.c, p.out, p.batched)});
  const product::Fixed fixed{.m = p.m,
                             .n = p.n,
                             .k = p.k,
                             .a_stride = pitch_of(call.a),
                             .b_stride = pitch_of(call.b),
                             .c_stride = pitch_of(call.c),
                             .residual_stride = pitch_of(call.residual),
                             .processors = p.processors};
  const auto kernel = compiled(*recipe, fixed, scalars_of(call, rows));
  if (!kernel) return Unexpected{kernel.error()};
  return kernel->run(place, inputs, outputs);
}

}  // namespace

Expected<void> matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b, Type out, const MatrixOut& c,
                      const ProductOptions& o) {
  Call call{.operation = "matmul",
            .problem = {.dtype = dtype,
                        .out = out,
                        .batch = o.batch,
                        .batched = o.batch != 1,
                        .a_transposed = o.a_transposed,
                        .b_transposed = o.b_transposed,
                        .alpha = o.alpha != 1,
                        .bias = o.bias != nullptr,
                        .residual = o.residual.data != nullptr || o.adds,
                        .wide = o.adds,
                        .activation = o.activation},
            .a = a,
            .b = b,
            .c = c,
            .residual = o.adds ? MatrixIn{c.data, c.rows, c.columns, c.stride} : o.residual,
            .residual_type = o.adds ? out : dtype,
            .alpha = o.alpha};
  if (o.adds && (out != Type::f32 || o.residual.data != nullptr))
    return misfit("matmul", Kind::argument_kind,
                  cat("adding to a c of .", isa::name(out), o.residual.data != nullptr ? ", and a residual" : ""),
                  "what fits is a c of f32, without a residual");
  if (auto fits = size(call); !fits) return fits;
  if (o.bias != nullptr) call.sides = {{o.bias, dtype, Shape(call.problem.n), call.problem.n}};
  return multiply(place, call);
}

Expected<void> gated_matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b, const MatrixOut& c,
                            const GatedOptions& o) {
  Call call{.operation = "gated_matmul",
            .problem = {.dtype = dtype,
                        .out = dtype,
                        .batch = o.batch,
                        .batched = o.batch != 1,
                        .a_transposed = o.a_transposed,
                        .b_transposed = o.b_transposed,
                        .gated = true,
                        .activation = o.activation},
            .a = a,
            .b = b,
            .c = c};
  if (auto fits = size(call); !fits) return fits;
  return multiply(place, call);
}

Expected<void> scaled_matmul(const Place& place, const MatrixIn& a, const float* scale_a, const MatrixIn& b, const float* scale_b,
                             Type out, const MatrixOut& c, const ScaledOptions& o) {
  const bool by_blocks = o.scaling == product::Scaling::blockwise;
  const Type side_type = out == Type::f32 ? Type::bf16 : out;
  Call call{.operation = "scaled_matmul",
            .problem = {.dtype = Type::e4m3,
                        .out = out,
                        .bias = o.bias != nullptr,
                        .residual = o.residual.data != nullptr,
                        .scaling = o.scaling,
                        .promoted = by_blocks || !o.fast,
                        .scales_transposed = by_blocks && o.scales_transposed,
                        .activation = o.activation},
            .a = a,
            .b = b,
            .c = c,
            .residual = o.residual,
            .residual_type = side_type};
  if (o.scaling == product::Scaling::none)
    return misfit("scaled_matmul", Kind::argument_kind, "there is no kind of scaling",
                  "what fits is tensorwise, rowwise or blockwise");
  if (auto fits = size(call); !fits) return fits;
  const std::uint64_t m = call.problem.m, n = call.problem.n, steps = (a.columns + 127) / 128, columns = (n + 127) / 128;
  if (call.problem.scales_transposed && m % 4 != 0)
    return misfit("scaled_matmul", Kind::argument_dim, cat("transposed scales of ", m, " rows"),
                  "what fits is a multiple of 4 rows");
  const auto side = [&](const void* data, const Shape& shape, std::uint64_t elements) {
    call.sides.push_back({data, Type::f32, shape, elements});
  };
  if (o.scaling == product::Scaling::tensorwise) side(scale_a, Shape(1), 1), side(scale_b, Shape(1), 1);
  if (o.scaling == product::Scaling::rowwise) side(scale_a, Shape(m), m), side(scale_b, Shape(n), n);
  if (by_blocks) {
    side(scale_a, o.scales_transposed ? Shape(steps, m) : Shape(m, steps), m * steps);
    side(scale_b, Shape(columns, steps), columns * steps);
  }
  if (o.bias != nullptr) call.sides.push_back({o.bias, side_type, Shape(n), n});
  return multiply(place, call);
}

Expected<void> grouped_matmul(const Place& place, Type dtype, const MatrixIn& a, const MatrixIn& b, const std::int32_t* offsets,
                              std::uint64_t groups, Type out, const MatrixOut& c, const GroupedOptions& o) {
  Call call{.operation = "grouped_matmul",
            .problem = {.dtype = dtype,
                        .out = out,
                        .batch = groups,
                        .b_transposed = o.b_transposed,
                        .grouped = true,
                        .activation = o.activation},
            .a = a,
            .b = b,
            .c = c,
            .sides = {{offsets, Type::s32, Shape(groups), groups}}};
  if (auto fits = size(call); !fits) return fits;
  return multiply(place, call);
}

}  // namespace ptx::kernels
