#include "ptx/kernels/tuned.hpp"

#include <bit>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "ptx/cuda/cuda.hpp"
#include "ptx/tile/tile.hpp"
#include "ptx/version.hpp"

namespace ptx::kernels {
namespace {

using Word = std::pair<bool, std::string_view>;

/// "[\"weight\", \"bias\"]"
std::string list_of(std::span<const Word> words) {
  std::string text = "[";
  for (const auto& [there, word] : words)
    if (there) text += cat(text.size() > 1 ? ", \"" : "\"", word, '"');
  return text + "]";
}

/// Of more than 256 rows, one of 8 steps an octave.
std::uint64_t like_rows(std::uint64_t m) {
  if (m <= 256) return m;
  const std::uint64_t step = std::bit_ceil(m) >> 4;
  return (m + step - 1) / step * step;
}

/// The one that is kept for a GPU; nothing on the host.
template <class Of>
std::optional<std::string> recipe_at(const Place& place, const Of& problem) {
  const auto* gpu = std::get_if<launch::Cuda>(&place);
  if (gpu == nullptr) return std::nullopt;
  const auto device = cuda::device(gpu->ordinal);
  return device ? tuned_recipe((*device)->name(), tuning_key(problem)) : std::nullopt;
}

}  // namespace

std::string tuning_key(const Problem& p) {
  const Word words[] = {{p.residual, "residual"}, {p.weight, "weight"},     {p.bias, "bias"},   {p.packed, "packed"},
                        {p.gradient, "gradient"}, {p.in_place, "in_place"}, {p.int32, "int32"}, {p.e4m3, "e4m3"},
                        {p.given, "given"},       {p.strided, "strided"}};
  return cat("[\"rows\", \"", name(p.operation), "\", \"", tile::numpy_name(p.dtype), "\", ", std::bit_floor(p.rows), ", ",
             p.columns, ", ", p.alignment, ", ", list_of(words), ']');
}

std::string tuning_key(const product::Problem& p) {
  const bool active = p.activation != product::Activation::none;
  const Word words[] = {{p.batched, "batched"},
                        {p.a_transposed, "a_transposed"},
                        {p.b_transposed, "b_transposed"},
                        {p.alpha, "alpha"},
                        {p.bias, "bias"},
                        {p.residual, "residual"},
                        {p.wide, "wide"},
                        {p.gated, "gated"},
                        {active, product::name(p.activation)}};
  return cat("[\"product\", \"", tile::numpy_name(p.dtype), "\", \"", tile::numpy_name(p.out), "\", [", like_rows(p.m), ", ", p.n,
             ", ", p.k, ", ", p.batch, "], ", list_of(words), ']');
}

std::optional<std::string> tuned_recipe(std::string_view device, const std::string& key) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<std::string>> all;
  const cuda::DiskCache cache = cuda::DiskCache::from_environment();
  if (!cache.on()) return std::nullopt;
  const std::string whole = cat("[\"", device, "\", \"", version, "\", ", key, ']');
  const std::string path = cat(cache.folder(), "/tuned/", cuda::to_hex(sha256(whole)).substr(0, 32), ".json");
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = all.try_emplace(path);
  if (!is_new) return at->second;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view before = "\"recipe\": \"";  // names have no character that JSON would escape
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t first = begin + before.size(), end = text.find('"', first);
  if (end != std::string::npos) at->second = text.substr(first, end - first);
  return at->second;
}

int architecture_of(const Place& place) {
  const auto* gpu = std::get_if<launch::Cuda>(&place);
  if (gpu == nullptr) return Problem().architecture;
  const auto device = cuda::device(gpu->ordinal);
  if (!device) return Problem().architecture;  // the launch says why there is none
  return (*device)->capability().major * 10 + (*device)->capability().minor;
}

Expected<Recipe> chosen(const Place& place, Problem problem) {
  problem.architecture = architecture_of(place);
  if (const auto name = recipe_at(place, problem))
    if (const auto recipe = recipe_from_name(*name); recipe && serves(*recipe, problem)) return *recipe;
  return choose(problem);
}

Expected<product::Recipe> chosen(const Place& place, const product::Problem& problem) {
  if (const auto name = recipe_at(place, problem))
    if (const auto recipe = product::recipe_from_name(*name); recipe && product::serves(*recipe, problem)) return *recipe;
  return product::choose(problem);
}

}  // namespace ptx::kernels
