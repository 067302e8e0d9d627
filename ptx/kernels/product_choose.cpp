// Which recipes there are for a product, and which of them is taken: measured ones by the table, others by a model.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ptx/kernels/product_layout.hpp"

namespace ptx::kernels::product {
namespace {

// Clocks and bytes a clock, fitted to 22 shapes on an H200 (bench/kernels.py --only gemm, 2026-11-26), each with 30 to 70
// recipes: what they choose takes 1.007 of the best recipe's time on average.
constexpr double bytes_a_clock = 54;      // that a multiprocessor gets from the L2 cache
constexpr double cached_a_clock = 9'000;  // all of them together
constexpr double moved_a_clock = 840;     // a floor for what is bound by memory: below it recipes differ by what follows alone
constexpr double latency = 1'630;         // from the begin of a copy to its end
constexpr double begin_and_end = 5'500, of_a_split = 1'970, of_a_store = 1'280, of_a_cluster = 1'360;
constexpr double not_hidden = 0.08;  // of the smaller one of products and memory

constexpr int widths[] = {8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256};
struct Cluster {
  int down, across, splits;
};
constexpr Cluster clusters[] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 4}, {1, 1, 8}};

std::uint64_t up(std::uint64_t x, int y) { return (x + static_cast<std::uint64_t>(y) - 1) / static_cast<std::uint64_t>(y); }

/// What a problem says of its kernel, beside how it is made.
Recipe like(const Problem& p, const Recipe& made) {
  Recipe r = made;
  r.dtype = p.dtype, r.out = p.out, r.batched = p.batched;
  r.a_transposed = p.a_transposed, r.b_transposed = p.b_transposed;
  r.alpha = p.alpha, r.bias = p.bias, r.residual = p.residual, r.wide = p.wide, r.gated = p.gated, r.grouped = p.grouped,
  r.strided = p.strided, r.ragged = p.ragged, r.scaling = p.scaling, r.promoted = p.promoted,
  r.scales_transposed = p.scales_transposed, r.activation = p.activation;
  const auto whole = [&](int elements) {
    return p.n % static_cast<std::uint64_t>(elements) == 0 && (!p.strided || p.apart % elements == 0);
  };
  const bool boxes = p.out != Type::f32 && !r.swapped && r.splits == 1 && whole(8) && results(r) % 16 == 0;
  r.store = boxes ? Store::boxes : whole(2) ? Store::pairs : Store::singles;
  return r;
}

/// The deepest ring that shared memory has room for.
int deepest(Recipe r) {
  r.stages = 12;
  while (r.stages > 2 && shared_bytes(r) > most_shared) --r.stages;
  return r.stages;
}

struct Measured {
  std::uint64_t m, n, k;
  std::string_view recipe;
};
constexpr Measured measured[] = {
    {0, 0, 0, ""},  // fits nothing
#include "ptx/kernels/tables/products_h200.inc"
};

/// Whether sums of so many rows of a group, on average, are like those that were measured.
bool is_like(std::uint64_t k, std::uint64_t measured_k) { return 2 * k > measured_k && k <= 2 * measured_k; }

/// The recipe that was measured for a product of this size; of few rows, for about as many.
std::optional<Recipe> known(const Problem& p) {
  for (const Measured& row : measured) {
    if (row.n != (p.gated ? 2 * p.n : p.n) || (p.batch != 1 && !p.grouped && !p.ragged)) continue;
    if (p.ragged ? !is_like(p.k, row.k) : row.k != p.k) continue;
    if (row.m != p.m && (p.m > 128 || row.m < p.m || row.m > 2 * p.m)) continue;
    const auto recipe = recipe_from_name(row.recipe);
    if (!recipe || recipe->grouped != p.grouped || recipe->ragged != p.ragged || recipe->scaling != p.scaling ||
        recipe->promoted != p.promoted)
      continue;
    // Of columns that lie in rows, tiles that are no multiple of a slab were not measured, and are copied in more parts.
    if (!p.b_transposed && recipe->b_transposed && recipe->columns % slab != 0 && !recipe->swapped) continue;
    Recipe r = like(p, *recipe);
    r.stages = std::min(r.stages, deepest(r));
    if (serves(r, p)) return r;
  }
  return std::nullopt;
}

}  // namespace

double predicted(const Recipe& r, const Problem& p) {
  const std::uint64_t left = r.swapped ? p.n : p.m, right = r.swapped ? p.m : p.n;
  const double tiles = static_cast<double>(p.batch * up(left, r.rows * r.down) * up(right, results(r) * r.across));
  const double at_once = clusters_at_once(cluster(r), p.processors);
  const double waves = std::ceil(tiles / at_once);
  const double steps = std::ceil(static_cast<double>(up(p.k, step_k(p.dtype))) / r.splits);
  const double products = r.rows / 64.0 * std::max(r.columns, 32) / 2.0 * 4;
  // Columns that lie in rows are copied by slabs of 64, of which the last one is short, and they begin inside of lines.
  const bool is_short = !(r.swapped ? !r.a_transposed : r.b_transposed) && r.columns % slab != 0;
  const double copied =
      128.0 * (static_cast<double>(r.rows) / r.across + static_cast<double>(r.columns) * (is_short ? 2 : 1) / r.down);
  const double busy = std::min(tiles, at_once) * cluster(r);
  const double step = std::max({products, copied / std::min(bytes_a_clock, cached_a_clock / busy), latency / r.stages});
  const double stored = r.rows * results(r) / 32'768.0 * of_a_store * (r.store == Store::boxes ? 1 : 2);
  // One warpgroup stores while the other multiplies, but for the last tile.
  const double computed = waves * steps * step + (r.pingpong ? stored : waves * stored),
               moved = static_cast<double>(cost(p).bytes) / moved_a_clock;
  const double shared = cluster(r) > 1 && r.splits == 1 ? waves * of_a_cluster : 0;
  return std::max(computed, moved) + not_hidden * std::min(computed, moved) + begin_and_end + shared +
         (r.splits > 1 ? of_a_split : 0);
}

Expected<std::vector<Recipe>> recipes(const Problem& p, std::size_t most) {
  if (!are_types(p.dtype, p.out) || (p.dtype == Type::e4m3) != (p.scaling != Scaling::none))
    return Unexpected{Diagnostic{.kind = Kind::argument_dtype,
                                 .message = cat("`matmul` of .", isa::name(p.dtype), " to .", isa::name(p.out), " elements")}
                          .hint("what fits is bf16 or f16, to the same type or to f32, or with scales e4m3 to any of these")};
  if (p.k == 0) return Unexpected{Diagnostic{.kind = Kind::bad_tile, .message = "`matmul` of K = 0: a sum of nothing"}};
  std::vector<Recipe> all, wide;
  for (const bool swapped : {false, true}) {
    if (swapped && p.m > 256) continue;
    for (const int rows : {64, 128, 192}) {
      for (const int columns : widths) {
        for (const Cluster& c : clusters) {
          for (const bool pingpong : {false, true}) {
            Recipe r{
                .rows = rows, .columns = columns, .down = c.down, .across = c.across, .splits = c.splits, .swapped = swapped};
            r.pingpong = pingpong;
            r = like(p, r);
            r.stages = deepest(r);
            if (!serves(r, p)) continue;
            // A tile that hangs over by more than half is a worse one, where there are others.
            const bool hangs = columns > 16 && static_cast<std::uint64_t>(results(r)) >= 2 * (swapped ? p.m : p.n);
            (hangs ? wide : all).push_back(r);
          }
        }
      }
    }
  }
  if (all.empty()) all = std::move(wide);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(predicted(all[i], p), i);
  std::sort(order.begin(), order.end());
  std::vector<Recipe> best;
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) best.push_back(all[order[i].second]);
  return best;
}

Expected<Recipe> choose(const Problem& problem) {
  if (problem.k > 0)
    if (const auto best = known(problem)) return *best;
  const auto all = recipes(problem, 1);
  if (!all) return Unexpected{all.error()};
  if (all->empty())
    return Unexpected{Diagnostic{
        .kind = Kind::bad_tile, .message = cat("no kernel makes a `matmul` of ", problem.m, " x ", problem.n, " x ", problem.k)}};
  return all->front();
}

}  // namespace ptx::kernels::product
