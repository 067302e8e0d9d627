// Which recipes there are for a problem, and which of them is taken: measured ones by the table, others by a rule.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

using Recipes = std::vector<Recipe>;

Expected<int> vector_of(const Problem& p) {
  const auto bad = [](Kind kind, std::string message, std::string hint) {
    return Unexpected{Diagnostic{.kind = kind, .message = std::move(message)}.hint(std::move(hint))};
  };
  if (p.dtype != Type::f32 && p.dtype != Type::f16 && p.dtype != Type::bf16)
    return bad(Kind::argument_dtype, cat('`', name(p.operation), "` of .", isa::name(p.dtype), " elements"),
               "what fits is f32, f16 or bf16");
  if (p.columns == 0 || (!is_elementwise(p) && p.operation != Operation::column_sums && p.columns > longest_row))
    return bad(Kind::bad_tile, cat("a row of ", p.columns, " elements for `", name(p.operation), '`'),
               cat("what fits is 1 to ", longest_row));
  const int loaded = p.operation == Operation::column_sums ? 4 : bytes_of(p.dtype);
  int vector = std::max(1, std::min(p.alignment, 16) / loaded);
  const bool flat = is_elementwise(p) && !p.packed && !p.strided;
  const std::uint64_t whole = flat ? p.rows * p.columns : p.columns;
  while (whole % static_cast<std::uint64_t>(vector) != 0) vector /= 2;
  return vector;
}

Recipe like(const Problem& p, int vector) {
  return {.operation = p.operation,
          .dtype = p.dtype,
          .vector = vector,
          .weight = p.weight,
          .bias = p.bias,
          .residual = p.residual,
          .gradient = p.gradient,
          .packed = p.packed,
          .strided = p.strided,
          .in_place = p.in_place,
          .int32 = p.int32,
          .e4m3 = p.e4m3,
          .given = p.given};
}

/// Elements of a row that a thread may keep, so that no register is spilled.
int most_kept(const Problem& p, int threads) {
  if (is_norm_backward(p.operation)) {
    // x, dy, and f32 sums, beside what the arithmetic needs; of layer norm ptxas keeps x and dy as f32
    const bool is_layer = p.operation == Operation::layer_norm_backward;
    const int words = (is_layer || p.dtype == Type::f32 ? 2 : 1) + (p.weight ? 1 : 0) + (p.bias ? 1 : 0);
    return (std::min(255, 65'536 / std::max(threads, 32)) - (is_layer ? 52 : 44)) / words;
  }
  if (p.operation == Operation::cross_entropy)  // more as they came, with exponentials computed twice
    return p.dtype == Type::f32 ? 32 : std::min(128, 2 * (65'536 / std::max(threads, 32) - 40));
  if (is_elementwise(p.operation)) return p.dtype == Type::f32 ? 16 : 32;  // of both factors
  if (p.dtype == Type::f32 || p.operation == Operation::softmax || p.residual) return 32;
  return p.operation >= Operation::softmax_backward ? 32 : 64;
}

/// Rows copied ahead, in as many blocks of a multiprocessor as their registers and rings leave room for.
void add_ahead(const Problem& p, const Recipe& recipe, Recipes& all) {
  for (const int resident : {1, 2, 3, 4, 6, 8}) {
    const int threads = recipe.threads * resident;
    const int kept = recipe.passes * recipe.vector, registers = std::min(255, 65'536 / threads);
    if (threads < 256 || threads > 1024 || kept > most_kept(p, threads) || kept * (p.residual ? 5 : 4) >= registers)
      continue;  // or ptxas spills
    for (const int ahead : {2, 3, 4}) {
      Recipe r = recipe;
      r.resident = resident, r.ahead = ahead;
      constexpr std::uint32_t of_processor = 227 * 1024, of_block = 1024;
      if (!serves(r, p) || static_cast<std::uint32_t>(resident) * (ring_bytes(r) + of_block) > of_processor) continue;
      all.push_back(r);
      if (!p.weight && !p.bias) continue;
      all.push_back(r);
      all.back().early = true;
    }
  }
}

/// The same in other ways: exponentials computed twice, the weight loaded early, fewer registers for more blocks.
void add_variants(const Problem& p, const Recipe& recipe, Recipes& all) {
  const auto add = [&](bool Recipe::* flag) {
    all.push_back(recipe);
    all.back().*flag = true;
  };
  const bool keeps = p.operation == Operation::softmax || p.operation == Operation::cross_entropy;
  if (keeps && p.dtype != Type::f32 && !recipe.anew) add(&Recipe::anew);
  const int words = recipe.passes * recipe.vector * bytes_of(p.dtype) / 4;
  if ((p.weight || p.bias) && words <= 32) add(&Recipe::early);
  add(&Recipe::hold);
  add_ahead(p, recipe, all);
  if (p.operation != Operation::cross_entropy || !recipe.anew || recipe.rows != 1) return;
  for (const int resident : {2, 3, 4, 6}) {  // without spills
    const int registers = 65'536 / (recipe.threads * resident) / 8 * 8;
    if (resident * recipe.threads > 2048 || registers < 2 * words + 8) continue;
    all.push_back(recipe);
    all.back().resident = resident;
  }
}

Recipes of_rows(const Problem& p, int vector) {
  Recipes all;
  for (int cluster = 1; cluster <= (p.architecture < 90 ? 1 : 8); cluster *= 2) {
    for (int threads = 4; threads <= 1024; threads *= 2) {
      Recipe r = like(p, vector);
      r.threads = threads;
      r.cluster = cluster;
      const auto step = static_cast<std::uint64_t>(threads) * static_cast<std::uint64_t>(cluster * vector);
      const std::uint64_t passes = (p.columns + step - 1) / step;
      if (passes > 64 || static_cast<int>(passes) * vector > std::max(most_kept(p, threads), vector)) continue;
      r.passes = static_cast<int>(passes);
      // of more elements the exponentials would not stay in registers
      const bool keeps = p.operation == Operation::softmax || p.operation == Operation::cross_entropy;
      r.anew = keeps && r.passes * vector > 32;
      // ptxas would rather spill a little than use more than 48 registers
      const bool is_norm = p.operation == Operation::rms_norm || p.operation == Operation::layer_norm;
      const int kept = r.passes * vector;
      const bool spills = kept == 32 || (kept == 24 && p.operation == Operation::layer_norm);
      if (is_norm && p.dtype != Type::f32 && cluster > 1 && threads <= 256 && spills) r.resident = 1024 / threads;
      if (threads <= 32) r.rows = 128 / threads;
      if (cluster > 1 && (threads < 128 || p.columns < 4096)) continue;
      if (threads > 32 && p.columns * 2 <= step) continue;  // more than half of the threads would have nothing
      if (threads <= 32 && threads > 4 && p.columns * 2 <= step) continue;
      if (threads < 128 && p.columns >= 4096) continue;  // too few for a row so long
      all.push_back(r);
      add_variants(p, r, all);
    }
  }
  if (!all.empty() || !is_norm_backward(p.operation) || p.architecture < 90) return all;
  for (const int threads : {256, 512}) {  // no thread keeps its part of a row so long
    Recipe r = like(p, vector);
    r.threads = threads, r.cluster = 8, r.anew = true;
    const auto step = static_cast<std::uint64_t>(threads) * 8 * static_cast<std::uint64_t>(vector);
    const std::uint64_t passes = (p.columns + step - 1) / step;
    r.passes = static_cast<int>(passes);
    if (passes <= 64) all.push_back(r);
  }
  return all;
}

Recipes of_elements(const Problem& p, int vector) {
  Recipes all;
  for (const int threads : {64, 128, 256}) {
    for (const int passes : {1, 2, 4, 8, 16}) {
      if (passes * vector > (p.operation == Operation::rescale ? 128 : 32)) continue;
      Recipe r = like(p, vector);
      r.threads = threads;
      r.passes = passes;
      all.push_back(r);
      r.hold = true;
      all.push_back(r);
    }
  }
  return all;
}

Recipes of_columns(const Problem& p, int vector) {
  Recipes all;
  for (const int threads : {128, 256, 512, 1024}) {
    Recipe r = like(p, vector);
    r.threads = threads;
    if (serves(r, p)) all.push_back(r);
  }
  return all;
}

/// How far from what was best of 17 shapes of backwards of norms, with rows copied ahead: how much is under way to a
/// multiprocessor, how much of a row a thread has, how many threads. Within 5 % of the best of each, 1 % in the mean.
double distance_ahead(const Recipe& r, const Problem& p) {
  const int kept = r.passes * r.vector;
  const double under_way = 2.0 * r.resident * r.ahead * static_cast<double>(capacity(r)) * bytes_of(r.dtype);
  const double used = static_cast<double>(p.columns) / static_cast<double>(capacity(r));
  return std::abs(std::log2(under_way / (48 * 1024))) + 0.4 * std::abs(std::log2(kept / 16.0)) +
         0.5 * std::abs(std::log2(r.threads * r.resident / 512.0)) + (1 - used) + (r.ahead > 2 ? 0.05 : 0) + (r.early ? 0.01 : 0);
}

/// How far from what was best of the shapes that were measured (tables/h200.inc): how much of a row a thread has, how many
/// blocks.
double distance(const Recipe& r, const Problem& p) {
  if (r.operation == Operation::column_sums)  // four rows a thread, as far as there are so many
    return std::abs(std::log2(static_cast<double>(p.rows) * 2 / r.threads));
  if (r.ahead != 0) return distance_ahead(r, p) - 100;  // before any that are not
  const int element = bytes_of(r.dtype);
  // Matrices much larger than the L2 cache, written as much as they are read.
  const bool holds = cost(p).bytes > (std::uint64_t{128} << 20) && p.columns <= 32 * 1024 && p.operation != Operation::swiglu &&
                     p.operation != Operation::geglu && p.operation != Operation::cross_entropy;
  if (is_elementwise(r)) {
    if (r.operation == Operation::rescale)  // few blocks, as most of them end at once
      return std::abs(std::log2(r.passes / 16.0)) + std::abs(std::log2(r.threads / 256.0)) + (r.hold ? 0.05 : 0);
    const int wanted = p.operation >= Operation::swiglu_backward ? 128 : 256;
    return std::abs(std::log2(r.passes * r.vector * element / 16.0)) + std::abs(std::log2(1.0 * r.threads / wanted)) / 2 +
           (r.hold != holds ? 0.05 : 0);
  }
  const bool few = p.rows < 8 * static_cast<std::uint64_t>(p.processors);
  double wanted = element == 4 ? (p.columns <= 1024 ? 12 : 8) : few ? 8 : 24;
  if (r.operation >= Operation::softmax_backward) wanted = element == 4 ? 12 : 16;
  if (p.columns > 16 * 1024) wanted = 32;  // several blocks a row
  const bool is_loss = r.operation == Operation::cross_entropy;
  if (is_loss) wanted = 32;
  double far = std::abs(std::log2(r.passes * r.vector / wanted));
  if (is_loss && element == 2 && p.columns > 16 * 1024)  // many loads on the way, of few threads
    far = std::abs(std::log2(r.passes * r.vector / 64.0)) / 2 + std::abs(std::log2(r.threads / 256.0));
  if (r.threads <= 32 && p.columns > 512) far += 1;  // as long as there are others
  // Of layer norm they need more registers than two such blocks of a multiprocessor have.
  if (r.threads == 1024) far += r.operation == Operation::layer_norm ? 2 : element == 4 ? 0.1 : 0.5;
  if (r.cluster > 1) far += p.columns > 32 * 1024 ? (8 / r.cluster - 1) * 0.1 : 4;
  if (p.columns > 32 * 1024 && r.cluster == 1) far += 2;
  // A last pass with little to do.
  const double used = static_cast<double>(p.columns) / static_cast<double>(capacity(r));
  return far + (1 - used) + (r.anew ? 0.01 : 0) + (r.early && !few ? 0.01 : 0) + (r.resident != 0 ? 0.02 : 0) +
         (r.hold != holds ? 0.05 : 0);
}

struct Measured {
  std::uint64_t rows, columns;
  std::string_view recipe;
};
constexpr Measured measured[] = {
#include "ptx/kernels/tables/h200.inc"
};

/// The recipe that was measured for rows of this length, and about as many.
std::optional<Recipe> known(const Problem& p) {
  std::optional<Recipe> best;
  double nearest = 2.1;  // a factor of four, about
  for (const Measured& row : measured) {
    if (row.columns != p.columns) continue;
    const double away =
        std::abs(std::log2(static_cast<double>(std::max<std::uint64_t>(p.rows, 1)) / static_cast<double>(row.rows)));
    if (away >= nearest) continue;
    auto recipe = recipe_from_name(row.recipe);
    if (!recipe) continue;
    recipe->in_place = p.in_place, recipe->int32 = p.int32, recipe->e4m3 = p.e4m3, recipe->given = p.given;  // of the same shape
    if (!serves(*recipe, p)) continue;
    best = *recipe;
    nearest = away;
  }
  return best;
}

}  // namespace

Expected<Recipes> recipes(const Problem& problem) {
  const auto vector = vector_of(problem);
  if (!vector) return Unexpected{vector.error()};
  if (problem.operation == Operation::column_sums) return of_columns(problem, *vector);
  return is_elementwise(problem) ? of_elements(problem, *vector) : of_rows(problem, *vector);
}

Expected<Recipe> choose(const Problem& problem) {
  const auto all = recipes(problem);
  if (!all) return Unexpected{all.error()};
  if (const auto best = known(problem)) return *best;
  const auto best = std::min_element(
      all->begin(), all->end(), [&](const Recipe& a, const Recipe& b) { return distance(a, problem) < distance(b, problem); });
  if (best == all->end())
    return Unexpected{{.kind = Kind::bad_tile,
                       .message = cat("a row of ", problem.columns, " elements for `", name(problem.operation), "`, ",
                                      problem.alignment, " bytes aligned: no kernel keeps so many at once")}};
  return *best;
}

}  // namespace ptx::kernels
