#include "ptx/kernels/recipe.hpp"

#include <array>
#include <bit>

#include "ptx/kernels/recipe_words.hpp"
#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

constexpr std::array<std::string_view, operations> names = {
    "rms_norm",
    "layer_norm",
    "softmax",
    "log_softmax",
    "swiglu",
    "geglu",
    "swiglu_backward",
    "geglu_backward",
    "rescale",
    "softmax_backward",
    "log_softmax_backward",
    "rms_norm_backward",
    "layer_norm_backward",
    "cross_entropy",
    "column_sums",
};

constexpr auto flags = std::to_array<FlagWord<Recipe>>({{"l", &Recipe::hold},
                                                        {"a", &Recipe::anew},
                                                        {"e", &Recipe::early},
                                                        {"w", &Recipe::weight},
                                                        {"b", &Recipe::bias},
                                                        {"r", &Recipe::residual},
                                                        {"g", &Recipe::gradient},
                                                        {"packed", &Recipe::packed},
                                                        {"strided", &Recipe::strided},
                                                        {"inplace", &Recipe::in_place},
                                                        {"int32", &Recipe::int32},
                                                        {"e4m3", &Recipe::e4m3},
                                                        {"given", &Recipe::given}});
constexpr auto numbers = std::to_array<NumberWord<Recipe>>({{'v', &Recipe::vector},
                                                            {'t', &Recipe::threads},
                                                            {'x', &Recipe::rows},
                                                            {'p', &Recipe::passes},
                                                            {'c', &Recipe::cluster},
                                                            {'m', &Recipe::resident},
                                                            {'s', &Recipe::ahead}});

bool is_float(Type type) { return type == Type::f32 || type == Type::f16 || type == Type::bf16; }

bool is_power_of_two(int n) { return n > 0 && std::has_single_bit(static_cast<unsigned>(n)); }

/// Whether rows can be copied ahead: whole ones, in pieces of 16 bytes, that nobody else has a part of.
bool goes_ahead(const Recipe& r) {
  constexpr std::uint32_t most_shared = 227 * 1024;
  return is_norm_backward(r.operation) && r.ahead <= 16 && r.vector * bytes_of(r.dtype) == 16 && r.threads > 32 &&
         r.cluster == 1 && !r.strided && !r.anew && ring_bytes(r) <= most_shared;
}

bool has_e4m3(Operation o) { return o <= Operation::layer_norm || o == Operation::swiglu || o == Operation::geglu; }

/// Whether columns can be summed so: of one or two matrices, by whole warps.
bool sums_columns(const Recipe& r) {
  return (r.weight || r.bias) && r.vector <= 4 && r.threads >= 32 && r.rows == 1 && r.passes == 1 && r.cluster == 1 && !r.strided;
}

/// Whether a kernel can be made so.
bool is_possible(const Recipe& r) {
  return is_float(r.dtype) && is_power_of_two(r.vector) && r.vector * bytes_of(r.dtype) <= 16 && is_power_of_two(r.threads) &&
         r.threads >= 4 && r.threads <= 1024 && r.rows >= 1 && r.rows * r.threads <= 1024 && (r.rows == 1 || r.threads <= 32) &&
         r.rows * r.threads >= 32 && r.passes >= 1 && r.passes <= 64 && is_power_of_two(r.cluster) && r.cluster <= 8 &&
         r.resident >= 0 && r.resident * r.threads * r.rows <= 2048 && r.ahead >= 0 && (r.ahead == 0 || goes_ahead(r)) &&
         (r.cluster == 1 || r.threads > 32) && (!is_elementwise(r) || r.cluster == 1) &&
         (!r.in_place || ((r.gradient || r.operation == Operation::rescale) && !r.strided)) &&
         (r.operation != Operation::rescale || r.in_place) && (r.operation != Operation::column_sums || sums_columns(r)) &&
         (!r.e4m3 || has_e4m3(r.operation)) && (!r.given || r.e4m3 || (r.gradient && r.operation == Operation::cross_entropy));
}

}  // namespace

std::string_view name(Operation operation) { return names[static_cast<std::size_t>(operation)]; }

Expected<Operation> operation_from_name(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Operation>(i);
  return Unexpected{{.kind = Kind::argument_kind, .message = cat('`', name, "` is no operation of the kernel library")}};
}

std::string name(const Recipe& recipe) {
  std::string text = cat(name(recipe.operation), "__", isa::name(recipe.dtype));
  for (const NumberWord<Recipe>& number : numbers)
    if ((number.value != &Recipe::resident && number.value != &Recipe::ahead) || recipe.*number.value != 0)
      text += cat('_', number.letter, recipe.*number.value);
  for (const FlagWord<Recipe>& flag : flags)
    if (recipe.*flag.value) text += cat('_', flag.word);
  return text;
}

Expected<Recipe> recipe_from_name(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Unexpected{Diagnostic{.kind = Kind::argument_kind, .message = cat('`', text, "` names no recipe: ", why)}};
  };
  const std::size_t end = text.find("__");
  if (end == std::string_view::npos) return wrong("an operation comes first, then `__`");
  const auto operation = operation_from_name(text.substr(0, end));
  if (!operation) return Unexpected{operation.error()};
  Recipe recipe{.operation = *operation, .dtype = Type::none};
  for (std::size_t at = end + 2; at <= text.size();) {
    const std::size_t next = std::min(text.find('_', at), text.size());
    const std::string_view word = text.substr(at, next - at);
    at = next + 1;
    bool known = reads_number<Recipe>(numbers, word, recipe) || reads_flag<Recipe>(flags, word, recipe);
    if (const auto type = isa::type_from_name(word); !known && type) {
      recipe.dtype = *type;
      known = true;
    }
    if (!known) return wrong(cat("what is `", word, "`?"));
  }
  if (!is_possible(recipe)) return wrong("no kernel is made so");
  return recipe;
}

bool serves(const Recipe& r, const Problem& p) {
  if (r.operation != p.operation || r.dtype != p.dtype || r.weight != p.weight || r.bias != p.bias || r.residual != p.residual ||
      r.packed != p.packed || r.gradient != p.gradient || r.strided != p.strided || r.in_place != p.in_place ||
      r.int32 != p.int32 || r.e4m3 != p.e4m3 || r.given != p.given || !is_possible(r) ||
      r.vector * (r.operation == Operation::column_sums ? 4 : bytes_of(r.dtype)) > p.alignment ||
      (needs_hopper(r) && p.architecture < 90))
    return false;
  const auto vector = static_cast<std::uint64_t>(r.vector);
  if (is_flat(r)) return p.rows * p.columns % vector == 0;
  if (p.columns % vector != 0) return false;
  if (is_elementwise(r) || r.operation == Operation::column_sums) return true;
  const std::uint64_t room = capacity(r);
  return p.columns <= room && p.columns > room - room / static_cast<std::uint64_t>(r.passes);  // all passes but the last are full
}

Cost cost(const Problem& p) {
  const std::uint64_t elements = p.rows * p.columns, size = static_cast<std::uint64_t>(bytes_of(p.dtype));
  const auto moved = [&](std::uint64_t matrices, std::uint64_t vectors = 0, std::uint64_t per_element = 0) {
    return Cost{(matrices * elements + vectors * p.columns) * size, per_element * elements};
  };
  switch (p.operation) {
    case Operation::rms_norm:
    case Operation::layer_norm: {
      const std::uint64_t vectors = (p.weight ? 1U : 0U) + (p.bias ? 1U : 0U);
      return moved(p.residual ? 4 : 2, vectors, (p.operation == Operation::rms_norm ? 3 : 6) + vectors);
    }
    case Operation::softmax:
    case Operation::log_softmax:
      return moved(2, 0, 5);
    case Operation::rescale:
      return moved(2, 0, 1);
    case Operation::softmax_backward:
    case Operation::log_softmax_backward:
      return moved(3, 0, 4);
    case Operation::swiglu:
    case Operation::geglu:
      return moved(3, 0, 6);
    case Operation::swiglu_backward:
    case Operation::geglu_backward:
      return moved(5, 0, 12);
    case Operation::rms_norm_backward:
    case Operation::layer_norm_backward:
      return moved(3, 2, 10);
    case Operation::cross_entropy:
      return moved(p.gradient ? 2 : 1, 0, 6);
    case Operation::column_sums: {
      const std::uint64_t matrices = (p.weight ? 1U : 0U) + (p.bias ? 1U : 0U);
      return {matrices * (elements * 4 + p.columns * size), matrices * elements};
    }
  }
  return {};
}

BoundaryOf boundary(const Recipe& r) {
  BoundaryOf b;
  const std::vector<tile::Dim> matrix = r.strided ? std::vector<tile::Dim>{} : std::vector<tile::Dim>{"M", "N"};
  const auto in = [&](std::string name) {
    if (!r.strided) {
      b.inputs.push_back({name, r.dtype, matrix});
      return;
    }
    b.inputs.push_back({name, r.dtype, {cat(name, "_length")}});
  };
  const auto out = [&](std::string name) { b.outputs.push_back({std::move(name), r.dtype, {"M", "N"}}); };
  const auto vector = [&](std::string name) { b.inputs.push_back({std::move(name), r.dtype, {"N"}}); };
  const auto pair = [&](bool is_input, std::string packed, const std::string& first, const std::string& second) {
    if (r.packed) {
      (is_input ? b.inputs : b.outputs).push_back({std::move(packed), r.dtype, {"M", std::int64_t{2}, "N"}});
    } else if (is_input) {
      in(first), in(second);
    } else {
      out(first), out(second);
    }
  };
  const auto result = [&] {
    if (r.given) b.inputs.push_back({"SCALE", Type::f32, {std::int64_t{1}}});
    out("Y");
    if (r.e4m3) b.outputs.back().dtype = Type::e4m3;
  };
  const auto scale = [&] {
    if (r.e4m3 && !r.given) b.outputs.push_back({"SCALE", Type::f32, {"M"}});
  };
  b.scalars = {{"M", Type::u32}, {"N", Type::u32}};
  switch (r.operation) {
    case Operation::rms_norm:
    case Operation::layer_norm:
      in("X");
      if (r.residual) in("R");
      if (r.weight) vector("W");
      if (r.bias) vector("B");
      result();
      if (r.residual) out("S");
      scale();
      b.scalars.push_back({"eps", Type::f32});
      if (r.weight && r.operation == Operation::rms_norm) b.scalars.push_back({"offset", Type::f32});
      break;
    case Operation::softmax:
    case Operation::log_softmax:
      in("X"), out("Y");
      break;
    case Operation::rescale:
      in("X"), out("Y");
      b.inputs.push_back({"FACTOR", Type::f32, {std::int64_t{1}}});
      b.aliases.push_back({0, 0});
      break;
    case Operation::softmax_backward:
    case Operation::log_softmax_backward:
      in("DY"), in("Y"), out("DX");
      break;
    case Operation::swiglu:
    case Operation::geglu:
      pair(true, "X", "GATE", "UP"), result(), scale();
      break;
    case Operation::swiglu_backward:
    case Operation::geglu_backward:
      in("DY"), pair(true, "X", "GATE", "UP"), pair(false, "DX", "DGATE", "DUP");
      break;
    case Operation::rms_norm_backward:
    case Operation::layer_norm_backward:
      in("DY"), in("X");
      if (r.residual) in("DS");
      if (r.weight) vector("W");
      out("DX");
      if (r.weight) b.outputs.push_back({"DW", Type::f32, {"P", "N"}});
      if (r.bias) b.outputs.push_back({"DB", Type::f32, {"P", "N"}});
      b.scalars.push_back({"eps", Type::f32});
      if (r.weight && r.operation == Operation::rms_norm_backward) b.scalars.push_back({"offset", Type::f32});
      break;
    case Operation::cross_entropy:
      in("X");
      b.inputs.push_back({"TARGET", r.int32 ? Type::s32 : Type::s64, {"M"}});
      if (r.given)
        for (const char* name : {"SCALE", "FACTOR"}) b.inputs.push_back({name, Type::f32, {std::int64_t{1}}});
      else if (r.gradient)
        b.inputs.push_back({"SCALE", Type::f32, {"M"}});
      b.outputs.push_back({"LOSS", Type::f32, {"M"}});
      if (r.gradient) out("DX");
      b.scalars.push_back({"ignore_index", Type::s64});
      b.scalars.push_back({"smoothing", Type::f32});
      b.scalars.push_back({"z_loss", Type::f32});
      if (r.in_place) b.aliases.push_back({0, 1});
      break;
    case Operation::column_sums:
      for (const auto& [there, name] : {std::pair(r.weight, "W"), std::pair(r.bias, "B")}) {
        if (!there) continue;
        b.inputs.push_back({cat('D', name), Type::f32, matrix});
        b.outputs.push_back({cat('Y', name), r.dtype, {"N"}});
      }
      break;
  }
  if (!r.strided) return b;
  b.scalars.push_back({"group_rows", Type::u32});
  for (const TensorOf& tensor : b.inputs) {
    if (tensor.shape != std::vector<tile::Dim>{cat(tensor.name, "_length")}) continue;
    b.scalars.push_back({cat(tensor.name, "_stride"), Type::u32});
    b.scalars.push_back({cat(tensor.name, "_group_stride"), Type::u32});
  }
  return b;
}

std::uint64_t partial_rows(const Recipe& r, std::uint64_t rows, int processors) {
  if (!is_norm_backward(r.operation) || (!r.weight && !r.bias)) return 0;
  const auto groups = static_cast<std::uint64_t>(r.rows);
  const int of_processor = r.resident != 0 ? r.resident : std::max(1, 512 / (r.threads * r.rows));
  const auto resident = static_cast<std::uint64_t>(std::max(1, processors * of_processor / r.cluster));
  return std::max<std::uint64_t>(1, std::min(resident, (rows + groups - 1) / groups)) * groups;
}

std::uint32_t ring_bytes(const Recipe& r) {
  constexpr std::uint64_t most_reduced = 2 * 4 * 32 * 4, most_gaps = 3 * 128;
  const std::uint64_t row = capacity(r) * static_cast<std::uint64_t>(bytes_of(r.dtype)), tensors = r.residual ? 3 : 2;
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(r.ahead) * (row * tensors + 8) + most_reduced + most_gaps);
}

std::uint32_t shared_bytes(const Recipe& r) {
  constexpr std::uint32_t of_every_block = 48 * 1024;
  return r.ahead != 0 && ring_bytes(r) > of_every_block ? ring_bytes(r) : 0;
}

Expected<LaunchDims> grid(const Recipe& r, std::uint64_t rows, std::uint64_t columns, std::uint64_t partial) {
  tile::Env sizes{{"M", static_cast<std::int64_t>(rows)}, {"N", static_cast<std::int64_t>(columns)}};
  if (partial != 0) sizes["P"] = static_cast<std::int64_t>(partial);
  return spec_of(r).grid.resolve(sizes, cat("grid of kernel `", name(r), '`'));
}

Expected<Kernel> kernel(const Recipe& recipe) {
  if (!is_possible(recipe))
    return Unexpected{{.kind = Kind::argument_kind, .message = cat("no kernel is made as recipe `", name(recipe), "` says")}};
  switch (recipe.operation) {
    case Operation::rms_norm:
    case Operation::layer_norm:
      return write_norm(recipe);
    case Operation::softmax:
    case Operation::log_softmax:
      return write_softmax(recipe);
    case Operation::softmax_backward:
    case Operation::log_softmax_backward:
      return write_softmax_backward(recipe);
    case Operation::rms_norm_backward:
    case Operation::layer_norm_backward:
      return write_norm_backward(recipe);
    case Operation::cross_entropy:
      return write_cross_entropy(recipe);
    case Operation::rescale:
      return write_rescale(recipe);
    case Operation::column_sums:
      return write_column_sums(recipe);
    default:
      return write_gated(recipe);
  }
}

}  // namespace ptx::kernels
