#include "ptx/kernels/product.hpp"

#include <algorithm>
#include <optional>

#include "ptx/kernels/product_layout.hpp"
#include "ptx/kernels/recipe_words.hpp"

namespace ptx::kernels::product {
namespace {

constexpr std::array<std::string_view, activations> activation_names = {"none", "relu", "silu", "gelu", "gelu_tanh"};
constexpr std::array<std::string_view, 4> scaling_names = {"none", "tensorwise", "rowwise", "blockwise"};
constexpr std::array<std::string_view, 3> store_names = {"boxes", "pairs", "singles"};

constexpr auto numbers = std::to_array<NumberWord<Recipe>>({{'m', &Recipe::rows},
                                                            {'n', &Recipe::columns},
                                                            {'s', &Recipe::stages},
                                                            {'d', &Recipe::down},
                                                            {'x', &Recipe::across},
                                                            {'k', &Recipe::splits}});
constexpr auto flags = std::to_array<FlagWord<Recipe>>({{"swapped", &Recipe::swapped},
                                                        {"pingpong", &Recipe::pingpong},
                                                        {"grouped", &Recipe::grouped},
                                                        {"ragged", &Recipe::ragged},
                                                        {"promoted", &Recipe::promoted},
                                                        {"columnscales", &Recipe::scales_transposed},
                                                        {"batched", &Recipe::batched},
                                                        {"alpha", &Recipe::alpha},
                                                        {"bias", &Recipe::bias},
                                                        {"residual", &Recipe::residual},
                                                        {"wide", &Recipe::wide},
                                                        {"gated", &Recipe::gated},
                                                        {"strided", &Recipe::strided}});

constexpr std::string_view prefix = "matmul__";

/// "nt": A as it is, B transposed, in the words of BLAS.
bool reads_layout(std::string_view word, Recipe& recipe) {
  if (word.size() != 2 || word.find_first_not_of("nt") != std::string_view::npos) return false;
  recipe.a_transposed = word[0] == 't';
  recipe.b_transposed = word[1] == 't';
  return true;
}

bool reads_word(std::string_view word, Recipe& recipe) {
  if (reads_flag<Recipe>(flags, word, recipe)) return true;
  for (std::size_t i = 0; i < store_names.size(); ++i) {
    if (store_names[i] != word) continue;
    recipe.store = static_cast<Store>(i);
    return true;
  }
  if (const auto scaling = std::find(scaling_names.begin() + 1, scaling_names.end(), word); scaling != scaling_names.end()) {
    recipe.scaling = static_cast<Scaling>(scaling - scaling_names.begin());
    return true;
  }
  const auto activation = std::find(activation_names.begin() + 1, activation_names.end(), word);
  if (activation == activation_names.end()) return false;
  recipe.activation = static_cast<Activation>(activation - activation_names.begin());
  return true;
}

constexpr int most_sums = 192;  ///< registers of a thread, beside those of the epilogue

bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

}  // namespace

bool are_types(Type dtype, Type out) {
  if (dtype == Type::e4m3) return is_half(out) || out == Type::f32;
  return is_half(dtype) && (out == Type::f32 || out == dtype);
}

bool is_possible(const Recipe& r) {
  const int blocks = cluster(r);
  if (!are_types(r.dtype, r.out) || (r.dtype == Type::e4m3) != (r.scaling != Scaling::none)) return false;
  if (r.scaling != Scaling::none && (r.gated || r.a_transposed || !r.b_transposed)) return false;  // wgmma wants both K-major
  if (r.grouped && (r.batched || r.splits > 1 || (r.swapped && blocks > 1) || r.a_transposed || r.bias || r.residual ||
                    r.scaling != Scaling::none))
    return false;
  if (r.strided && (r.batched || r.grouped || r.ragged || r.gated || r.scaling != Scaling::none)) return false;
  if (r.scales_transposed && r.scaling != Scaling::blockwise) return false;
  if (r.alpha && (r.gated || r.grouped || r.ragged || r.scaling != Scaling::none)) return false;
  const bool has_epilogue = r.bias || r.residual || r.gated || r.activation != Activation::none;
  if (r.ragged && (r.batched || r.grouped || r.splits > 1 || !r.a_transposed || r.b_transposed || r.swapped || has_epilogue ||
                   r.scaling != Scaling::none))
    return false;
  if (r.scaling == Scaling::blockwise) {  // a tile's columns have whole scales; swapped, each has one of its own
    const bool whole = r.swapped ? r.columns <= 64 : block_k % r.columns == 0 || r.columns % block_k == 0;
    if (!r.promoted || !whole) return false;
  }
  // Two sets of sums, or one and a half.
  if (r.promoted && (r.scaling == Scaling::none || (r.columns > 128 && (r.rows > 128 || r.columns % 16 != 0)))) return false;
  if (r.rows < 64 || r.rows > 192 || r.rows % 64 != 0 || r.columns < 8 || r.columns > 256 || r.columns % 8 != 0) return false;
  if (r.pingpong) {  // a tile has one warpgroup's registers, and as many steps as any other
    const int sums = r.rows / 64 * r.columns / 2, more = (r.bias && r.residual) || r.activation >= Activation::gelu ? 16 : 0;
    if (sums + more > most_sums || r.splits > 1 || r.ragged || r.promoted || r.swapped) return false;
  } else if (r.rows == 192 && r.columns > 192) {  // registers of four warpgroups at the kernel's begin
    return false;
  }
  if (r.down < 1 || r.across < 1 || r.splits < 1 || blocks > 8 || (blocks & (blocks - 1)) != 0) return false;
  if (r.splits > 1 && r.down * r.across > 1) return false;
  if (r.stages < 2 || shared_bytes(r) > most_shared) return false;
  // A part of what is shared is whole groups of 8 rows.
  if (r.rows % (8 * r.across) != 0 || results(r) % (8 * r.down) != 0) return false;
  if (r.store == Store::boxes && (r.out == Type::f32 || r.swapped || r.splits > 1 || results(r) % 16 != 0)) return false;
  if (r.wide && (!r.residual || r.scaling != Scaling::none)) return false;
  if (r.gated && (r.swapped || r.splits > 1 || r.bias || r.residual || r.columns % 16 != 0)) return false;
  if (r.gated && !r.b_transposed && r.columns % 128 != 0) return false;  // slabs of G, and of U
  return r.splits == 1 || (r.columns / 8) % std::min(r.splits, r.columns / 8) == 0;
}

std::string_view name(Activation activation) { return activation_names[static_cast<std::size_t>(activation)]; }

Expected<Activation> activation_from_name(std::string_view name) {
  const auto found = std::find(activation_names.begin(), activation_names.end(), name);
  if (found != activation_names.end()) return static_cast<Activation>(found - activation_names.begin());
  return Unexpected{Diagnostic{.kind = Kind::argument_kind, .message = cat("`matmul`: the activation is `", name, '`')}.hint(
      "what fits is relu, silu, gelu, gelu_tanh or none")};
}

std::string name(const Recipe& r) {
  std::string text = cat(prefix, isa::name(r.dtype), '_', isa::name(r.out));
  for (const NumberWord<Recipe>& number : numbers) text += cat('_', number.letter, r.*number.value);
  text += cat('_', store_names[static_cast<std::size_t>(r.store)], '_', r.a_transposed ? 't' : 'n', r.b_transposed ? 't' : 'n');
  for (const FlagWord<Recipe>& flag : flags)
    if (r.*flag.value) text += cat('_', flag.word);
  if (r.scaling != Scaling::none) text += cat('_', scaling_names[static_cast<std::size_t>(r.scaling)]);
  if (r.activation == Activation::gelu_tanh)
    text += "_gelutanh";
  else if (r.activation != Activation::none)
    text += cat('_', name(r.activation));
  return text;
}

Expected<Recipe> recipe_from_name(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Unexpected{Diagnostic{.kind = Kind::argument_kind, .message = cat('`', text, "` names no recipe: ", why)}};
  };
  if (!text.starts_with(prefix)) return wrong(cat("it begins with `", prefix, '`'));
  Recipe recipe{.dtype = Type::none};
  int types = 0;
  for (std::size_t at = prefix.size(); at <= text.size();) {
    const std::size_t next = std::min(text.find('_', at), text.size());
    const std::string_view word = text.substr(at, next - at);
    at = next + 1;
    if (const auto type = isa::type_from_name(word); type && types < 2) {
      (types++ == 0 ? recipe.dtype : recipe.out) = *type;
    } else if (word == "gelutanh") {
      recipe.activation = Activation::gelu_tanh;
    } else if (!reads_number<Recipe>(numbers, word, recipe) && !reads_layout(word, recipe) && !reads_word(word, recipe)) {
      return wrong(cat("what is `", word, "`?"));
    }
  }
  if (types != 2) return wrong("two types come first");
  if (!is_possible(recipe)) return wrong("no kernel is made so");
  return recipe;
}

bool serves(const Recipe& r, const Problem& p) {
  if (r.dtype != p.dtype || r.out != p.out || r.a_transposed != p.a_transposed || r.b_transposed != p.b_transposed ||
      r.alpha != p.alpha || r.bias != p.bias || r.residual != p.residual || r.wide != p.wide || r.gated != p.gated ||
      r.scaling != p.scaling || r.promoted != p.promoted || r.scales_transposed != p.scales_transposed ||
      r.activation != p.activation || r.batched != p.batched || r.strided != p.strided || r.grouped != p.grouped ||
      r.ragged != p.ragged || !is_possible(r))
    return false;
  const auto of_rows = static_cast<std::uint64_t>(p.strided ? p.apart : 8);
  if (r.store == Store::boxes && (p.n % 8 != 0 || of_rows % 8 != 0)) return false;
  if (r.store == Store::pairs && (p.n % 2 != 0 || of_rows % 2 != 0) && !r.swapped) return false;
  return p.k > static_cast<std::uint64_t>(step_k(r.dtype)) * static_cast<std::uint64_t>(r.splits - 1);
}

Cost cost(const Problem& p) {
  const auto size = static_cast<std::uint64_t>(isa::bits(p.dtype) / 8), out = static_cast<std::uint64_t>(isa::bits(p.out) / 8);
  const std::uint64_t results = p.batch * p.m * p.n;
  const std::uint64_t columns = p.gated ? 2 * p.n : p.n;
  std::uint64_t bytes = p.batch * (p.m + columns) * p.k * size + results * out;
  if (p.bias) bytes += p.n * 2;
  if (p.residual) bytes += results * (p.wide ? 4 : 2);
  return {bytes, 2 * p.batch * p.m * columns * p.k};
}

BoundaryOf boundary(const Recipe& r) {
  const Geometry g(r);
  const auto matrix = [&](std::string name, Type type, tile::Dim rows, tile::Dim columns) {
    TensorSpec spec{.name = std::move(name), .dtype = type};
    if (r.batched || (r.grouped && spec.name == "B") || (r.ragged && spec.name == "C")) spec.shape.emplace_back("G");
    spec.shape.push_back(std::move(rows));
    spec.shape.push_back(std::move(columns));
    return spec;
  };
  const auto copied = [&](TensorSpec spec, Layout layout, int rows, int columns) {
    spec.layout = layout;
    const bool of_groups = spec.shape.size() == 3;
    if (of_groups) spec.tma_box.emplace_back(std::int64_t{1});
    spec.tma_box.emplace_back(std::int64_t{rows});
    spec.tma_box.emplace_back(std::int64_t{columns});
    spec.tma_rank = of_groups ? 3 : 2;
    return spec;
  };
  const Factor &a = r.swapped ? g.right : g.left, &b = r.swapped ? g.left : g.right;
  BoundaryOf all;
  all.inputs.push_back(copied(r.a_transposed ? matrix("A", r.dtype, "K", "AM") : matrix("A", r.dtype, "M", "K"), Layout::tma_128b,
                              a.box_rows, step_k(r.dtype)));
  all.inputs.push_back(copied(r.b_transposed ? matrix("B", r.dtype, r.gated ? "BN" : "N", "K") : matrix("B", r.dtype, "K", "BN"),
                              Layout::tma_128b, b.box_rows, step_k(r.dtype)));
  if (r.grouped || r.ragged) all.inputs.push_back({.name = "offsets", .shape = {"G"}, .dtype = Type::s32});
  const auto scales = [&](std::string name, std::vector<tile::Dim> shape) {
    all.inputs.push_back({.name = std::move(name), .shape = std::move(shape), .dtype = Type::f32});
  };
  if (r.scaling == Scaling::tensorwise) scales("scale_a", {std::int64_t{1}}), scales("scale_b", {std::int64_t{1}});
  if (r.scaling == Scaling::rowwise) scales("scale_a", {"M"}), scales("scale_b", {"N"});
  if (r.scaling == Scaling::blockwise) {
    scales("scale_a", r.scales_transposed ? std::vector<tile::Dim>{"KB", "M"} : std::vector<tile::Dim>{"M", "KB"});
    if (r.scales_transposed) all.inputs.back() = copied(std::move(all.inputs.back()), Layout::row, 1, a.extent);
    scales("scale_b", {"NB", "KB"});
  }
  if (r.bias) all.inputs.push_back({.name = "bias", .shape = {"N"}, .dtype = side_type(r)});
  if (r.residual) all.inputs.push_back(matrix("R", residual_type(r), "M", "N"));
  all.inputs_apart = {0, 1};
  if (adds(r)) all.aliases.push_back({static_cast<std::uint32_t>(all.inputs.size() - 1), 0});
  TensorSpec c = matrix("C", r.out, "M", "N");
  if (r.store == Store::boxes) c = copied(std::move(c), g.box_layout, box_rows, g.box_columns);
  all.outputs.push_back(std::move(c));
  all.scalars = {{"M", Type::u32}, {"N", Type::u32}, {"K", Type::u32}};
  if (r.batched || r.grouped || r.ragged) all.scalars.push_back({"G", Type::u32});
  if (r.alpha) all.scalars.push_back({"alpha", Type::f32});
  if (r.strided) all.scalars.push_back({"C_stride", Type::u32});
  if (r.strided && r.residual) all.scalars.push_back({"R_stride", Type::u32});
  return all;
}

int clusters_at_once(int blocks, int processors) {
  const int whole = processors / blocks;
  if (processors != 132) return std::max(whole, 1);
  return blocks == 4 ? 28 : whole;  // 32 of them take turns (measured: twice the time)
}

Expected<LaunchDims> grid(const Recipe& r, std::uint64_t m, std::uint64_t n, std::uint64_t batch, int processors) {
  const auto up = [](std::uint64_t x, int y) { return (x + static_cast<std::uint64_t>(y) - 1) / static_cast<std::uint64_t>(y); };
  std::uint64_t down = up(r.swapped ? n : m, r.rows * r.down), across = up(r.swapped ? m : n, results(r) * r.across);
  if (r.grouped) (r.swapped ? across : down) += batch;  // each group has a last tile that may be short
  const std::uint64_t tiles = (r.grouped ? 1 : batch) * down * across;
  if (m >> 31 != 0 || n >> 31 != 0 || tiles >> 28 != 0)
    return Unexpected{Diagnostic{.kind = Kind::launch_config,
                                 .message = cat("`matmul` of ", batch, " x ", m, " x ", n, " results: ", tiles, " tiles of ",
                                                r.rows * r.down, " x ", results(r) * r.across)}
                          .hint("what fits is less than 2^28 tiles, and less than 2^31 rows and columns")};
  const auto most = static_cast<std::uint64_t>(clusters_at_once(cluster(r), processors));
  const std::uint64_t clusters = r.splits > 1 ? tiles : std::min(tiles, most);
  return LaunchDims{static_cast<std::uint32_t>(std::max<std::uint64_t>(clusters, 1) * static_cast<std::uint64_t>(cluster(r))), 1,
                    1};
}

int shared_bytes(const Recipe& r) { return Geometry(r).smem; }

}  // namespace ptx::kernels::product
