// Which recipes there are for a problem, and which of them is taken: measured ones by the table, others by a rule.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
namespace {

using Recipes = std::vector<Recipe>;

Expected<int> vector_of(const Problem& p) {
  const auto bad = [](std::string message, std::string hint) {
    return Unexpected{Diagnostic{.kind = Kind::bad_tile, .message = std::move(message)}.hint(std::move(hint))};
  };
  if (p.dtype != Type::f32 && p.dtype != Type::f16 && p.dtype != Type::bf16)
    return bad(cat('`', name(p.operation), "` of .", isa::name(p.dtype), " elements"), "what fits is f32, f16 or bf16");
  if (p.columns == 0 || (!is_gated(p.operation) && p.columns > longest_row))
    return bad(cat("a row of ", p.columns, " elements for `", name(p.operation), '`'), cat("what fits is 1 to ", longest_row));
  int vector = std::max(1, std::min(p.alignment, 16) / bytes_of(p.dtype));
  const bool flat = is_gated(p.operation) && !p.packed && !p.strided;
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
          .strided = p.strided};
}

/// Elements of a row that a thread may keep, so that no register is spilled.
int most_kept(const Problem& p, int threads) {
  if (p.operation == Operation::rms_norm_backward || p.operation == Operation::layer_norm_backward) {
    // x, dy, and f32 sums, beside what the arithmetic needs
    const int words = (p.dtype == Type::f32 ? 2 : 1) + (p.weight ? 1 : 0) + (p.bias ? 1 : 0);
    return (std::min(255, 65'536 / std::max(threads, 32)) - 44) / words;
  }
  if (p.operation == Operation::cross_entropy) return 32;

  if (p.dtype == Type::f32 || p.operation == Operation::softmax || p.residual) return 32;
  return p.operation >= Operation::softmax_backward ? 32 : 64;
}

/// Registers of a thread, about.
int registers_of(const Problem& p, const Recipe& r) {
  const int words = r.passes * r.vector * bytes_of(p.dtype) / 4;
  const int kept = words * (1 + (p.weight ? 1 : 0) + (p.bias ? 1 : 0) + (r.ahead ? 1 : 0));
  return kept + (p.dtype == Type::f32 ? 28 : 40);
}

/// Blocks that stay, with the weight in their registers.
void add_loops(const Problem& p, const Recipe& recipe, Recipes& all) {
  const int threads = recipe.threads * recipe.rows;
  for (const bool ahead : {false, true}) {
    Recipe loop = recipe;
    loop.ahead = ahead;
    loop.stay = std::min({2048 / threads, 65'536 / (threads * ((registers_of(p, loop) + 7) / 8 * 8)), 16});
    if (loop.stay < 1 || loop.stay * threads < 384 || registers_of(p, loop) > 200 || (ahead && p.residual)) continue;
    loop.min_blocks = loop.stay;
    all.push_back(loop);
    loop.bypass = true;
    all.push_back(loop);
  }
}

/// The same in other ways: the weight loaded early, fewer registers so that more blocks fit, other caches, loops.
void add_variants(const Problem& p, const Recipe& recipe, Recipes& all) {
  const Operation o = p.operation;
  const bool is_norm = o == Operation::rms_norm || o == Operation::layer_norm;
  const bool is_softmax = o == Operation::softmax || o == Operation::cross_entropy;
  const int words = recipe.passes * recipe.vector * bytes_of(p.dtype) / 4, threads = recipe.threads * recipe.rows;
  const auto add = [&](auto... flags) {
    Recipe other = recipe;
    ((other.*flags = true), ...);
    all.push_back(other);
  };
  add(&Recipe::bypass);
  if (is_softmax && p.dtype != Type::f32 && !recipe.anew) add(&Recipe::anew);
  if (o == Operation::rms_norm_backward || o == Operation::layer_norm_backward) add(&Recipe::early);
  if (!is_norm) return;
  if ((p.weight || p.bias) && words <= 32) add(&Recipe::early);
  if (words <= (p.dtype == Type::f32 && o == Operation::rms_norm ? 16 : 8) && threads >= 128 && recipe.cluster == 1) {
    Recipe full = recipe;
    full.min_blocks = 2048 / threads;
    all.push_back(full);
  }
  if (p.rows >= 1024) add_loops(p, recipe, all);
}

Recipes of_rows(const Problem& p, int vector) {
  Recipes all;
  for (int cluster = 1; cluster <= 8; cluster *= 2) {
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
      if (threads <= 32) r.rows = 128 / threads;
      if (cluster > 1 && (threads < 128 || p.columns < 4096)) continue;
      if (threads > 32 && p.columns * 2 <= step) continue;  // more than half of the threads would have nothing
      if (threads <= 32 && threads > 4 && p.columns * 2 <= step) continue;
      if (threads < 128 && p.columns >= 4096) continue;  // too few for a row so long
      all.push_back(r);
      add_variants(p, r, all);
    }
  }
  return all;
}

Recipes of_elements(const Problem& p, int vector) {
  Recipes all;
  for (const int threads : {64, 128, 256}) {
    for (const int passes : {1, 2, 4}) {
      if (passes * vector > 32) continue;
      Recipe r = like(p, vector);
      r.threads = threads;
      r.passes = passes;
      all.push_back(r);
      r.bypass = true;
      all.push_back(r);
      r.stream = true;
      all.push_back(r);
    }
  }
  return all;
}

/// How far from what usually is best: a row's elements a thread, blocks enough for the machine, no cluster without need.
double distance(const Recipe& r, const Problem& p) {
  const int element = bytes_of(r.dtype), bytes = r.passes * r.vector * element;
  if (is_gated(r.operation)) {
    const int wanted = p.rows * p.columns < (std::uint64_t{1} << 20) ? 16 : 32;
    return std::abs(std::log2(double(bytes) / wanted)) + std::abs(std::log2(r.threads / 128.0)) / 2;
  }
  const std::uint64_t blocks = (p.rows + static_cast<std::uint64_t>(r.rows) - 1) / static_cast<std::uint64_t>(r.rows);
  double far = 0;
  const double kept = r.passes * r.vector, wanted = r.vector == 1 ? 8 : element == 4 ? 16 : 16;
  far += std::abs(std::log2(kept / wanted));
  if (r.threads <= 32 && p.columns > 256 && blocks < 4 * static_cast<std::uint64_t>(p.processors)) far += 2;
  if (r.threads == 1024) far += 0.75;  // two blocks at most on a multiprocessor
  far += std::log2(r.cluster) * (p.columns * static_cast<std::uint64_t>(element) > 64 * 1024 ? 0.25 : 1.5);
  return far;
}

struct Measured {
  Operation operation;
  Type dtype;
  std::uint64_t columns, rows;  ///< at least so many rows of at most so many columns
  std::string_view recipe;
};

}  // namespace

Expected<Recipes> recipes(const Problem& problem) {
  const auto vector = vector_of(problem);
  if (!vector) return Unexpected{vector.error()};
  return is_gated(problem.operation) ? of_elements(problem, *vector) : of_rows(problem, *vector);
}

Expected<Recipe> choose(const Problem& problem) {
  const auto all = recipes(problem);
  if (!all) return Unexpected{all.error()};
  const auto best = std::min_element(
      all->begin(), all->end(), [&](const Recipe& a, const Recipe& b) { return distance(a, problem) < distance(b, problem); });
  if (best == all->end())
    return Unexpected{{.kind = Kind::bad_tile,
                       .message = cat("a row of ", problem.columns, " elements for `", name(problem.operation), "`, ",
                                      problem.alignment, " bytes aligned: no kernel keeps so many at once")}};
  return *best;
}

}  // namespace ptx::kernels
