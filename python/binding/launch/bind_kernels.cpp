// `pyptx.kernels`: recipes of the kernel library, by their names, and the modules made of them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/cuda/cuda.hpp"
#include "ptx/kernels/kernels.hpp"
#include "ptx/kernels/tuned.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/base/traced_module.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

// Of this process's first GPU.
int architecture_here() {
  static const int known = [] {
    const auto count = cuda::device_count();
    return count && *count > 0 ? kernels::architecture_of(launch::Cuda{}) : kernels::Problem().architecture;
  }();
  return known;
}

kernels::Problem problem_of(std::string_view operation, std::string_view dtype, std::uint64_t rows, std::uint64_t columns,
                            int alignment, const std::vector<std::string>& has) {
  kernels::Problem problem{.operation = unwrap_here(kernels::operation_from_name(operation)),
                           .dtype = tile::type_from_dtype_name(dtype).value_or(Type::none),
                           .rows = rows,
                           .columns = columns,
                           .alignment = alignment,
                           .architecture = architecture_here()};
  for (const std::string& word : has) {
    problem.weight |= word == "weight";
    problem.bias |= word == "bias";
    problem.residual |= word == "residual";
    problem.gradient |= word == "gradient";
    problem.packed |= word == "packed";
    problem.strided |= word == "strided";
    problem.in_place |= word == "in_place";
    problem.int32 |= word == "int32";
    problem.e4m3 |= word == "e4m3";
    problem.given |= word == "given";
  }
  return problem;
}

nb::list tensors_of(const std::vector<kernels::TensorOf>& tensors) {
  nb::list all;
  for (const kernels::TensorOf& tensor : tensors)
    all.append(nb::make_tuple(tensor.name, unwrap_here(Tile::make(tensor.shape, tensor.dtype))));
  return all;
}

nb::dict aliases_of(const std::vector<AliasSpec>& aliases) {
  nb::dict all;
  for (const AliasSpec& alias : aliases) all[nb::int_(alias.input)] = nb::int_(alias.output);
  return all;
}

nb::tuple kernel_boundary(std::string_view name) {
  const auto recipe = unwrap_here(kernels::recipe_from_name(name));
  const kernels::BoundaryOf boundary = kernels::boundary(recipe);
  nb::list scalars;
  for (const ScalarSpec& scalar : boundary.scalars)
    scalars.append(nb::make_tuple(std::string(isa::name(scalar.type)), scalar.name));
  return nb::make_tuple(tensors_of(boundary.inputs), tensors_of(boundary.outputs), scalars, kernels::block(recipe),
                        recipe.cluster, kernels::shared_bytes(recipe), kernels::needs_hopper(recipe),
                        aliases_of(boundary.aliases));
}

bool is_product(std::string_view name) { return name.starts_with("matmul__"); }

kernels::product::Problem product_of(std::string_view dtype, std::string_view out, const std::array<std::uint64_t, 4>& sizes,
                                     const std::vector<std::string>& has) {
  kernels::product::Problem problem{.dtype = tile::type_from_dtype_name(dtype).value_or(Type::none),
                                    .out = tile::type_from_dtype_name(out).value_or(Type::none),
                                    .m = sizes[0],
                                    .n = sizes[1],
                                    .k = sizes[2],
                                    .batch = sizes[3],
                                    .b_transposed = false};
  for (const std::string& word : has) {
    if (word == "batched")
      problem.batched = true;
    else if (word == "a_transposed")
      problem.a_transposed = true;
    else if (word == "b_transposed")
      problem.b_transposed = true;
    else if (word == "alpha")
      problem.alpha = true;
    else if (word == "bias")
      problem.bias = true;
    else if (word == "residual")
      problem.residual = true;
    else if (word == "wide")
      problem.wide = true;
    else if (word == "gated")
      problem.gated = true;
    else if (word == "grouped")
      problem.grouped = true;
    else if (word == "ragged")
      problem.ragged = true;
    else if (word == "promoted")
      problem.promoted = true;
    else if (word == "columnscales")
      problem.scales_transposed = true;
    else if (word == "tensorwise")
      problem.scaling = kernels::product::Scaling::tensorwise;
    else if (word == "rowwise")
      problem.scaling = kernels::product::Scaling::rowwise;
    else if (word == "blockwise")
      problem.scaling = kernels::product::Scaling::blockwise;
    else
      problem.activation = unwrap_here(kernels::product::activation_from_name(word));
  }
  return problem;
}

nb::list tiles_of(const std::vector<ptx::TensorSpec>& tensors) {
  nb::list all;
  for (const ptx::TensorSpec& tensor : tensors) {
    const auto box = tensor.tma_box.empty() ? std::nullopt : std::optional(tensor.tma_box);
    all.append(
        nb::make_tuple(tensor.name, unwrap_here(Tile::make(tensor.shape, tensor.dtype, tensor.layout, box, tensor.tma_rank))));
  }
  return all;
}

nb::tuple product_boundary(std::string_view name) {
  const auto recipe = unwrap_here(kernels::product::recipe_from_name(name));
  const auto boundary = kernels::product::boundary(recipe);
  nb::list scalars;
  for (const ScalarSpec& scalar : boundary.scalars)
    scalars.append(nb::make_tuple(std::string(isa::name(scalar.type)), scalar.name));
  return nb::make_tuple(tiles_of(boundary.inputs), tiles_of(boundary.outputs), scalars, kernels::product::block(recipe),
                        kernels::product::cluster(recipe), kernels::product::shared_bytes(recipe), aliases_of(boundary.aliases),
                        boundary.inputs_apart);
}

TracedModule kernel_module(std::string_view name) {
  if (is_product(name)) {
    const auto recipe = unwrap_here(kernels::product::recipe_from_name(name));
    Kernel kernel = unwrap_here(kernels::product::kernel(recipe));
    return unwrap_here(checked_module(unwrap_here(kernel.module()), kernels::product::name(recipe)));
  }
  const auto recipe = unwrap_here(kernels::recipe_from_name(name));
  Kernel kernel = unwrap_here(kernels::kernel(recipe));
  return unwrap_here(checked_module(unwrap_here(kernel.module()), kernels::name(recipe)));
}

using Sizes4 = std::array<std::uint64_t, 4>;
using Words = std::vector<std::string>;

void bind_products(nb::module_& m) {
  function(
      m,
      "product_recipes(dtype: str, out: str, sizes: tuple[int, int, int, int], has: Sequence[str], most: int = 24) -> list[str]",
      "The ways to make a matrix product of M, N, K, times a batch, by name, the likely best first.",
      [](std::string_view dtype, std::string_view out, const Sizes4& sizes, const Words& has, std::size_t most) {
        std::vector<std::string> names;
        for (const auto& recipe : unwrap_here(kernels::product::recipes(product_of(dtype, out, sizes, has), most)))
          names.push_back(kernels::product::name(recipe));
        return names;
      });
  function(m, "choose_product(dtype: str, out: str, sizes: tuple[int, int, int, int], has: Sequence[str]) -> str",
           "The recipe that is taken.", [](std::string_view dtype, std::string_view out, const Sizes4& sizes, const Words& has) {
             return kernels::product::name(unwrap_here(kernels::product::choose(product_of(dtype, out, sizes, has))));
           });
  function(m, "product_cost(dtype: str, out: str, sizes: tuple[int, int, int, int], has: Sequence[str]) -> tuple[int, int]",
           "Bytes moved at least, and operations.",
           [](std::string_view dtype, std::string_view out, const Sizes4& sizes, const Words& has) {
             const kernels::Cost cost = kernels::product::cost(product_of(dtype, out, sizes, has));
             return std::pair(cost.bytes, cost.operations);
           });
  function(m,
           "product_boundary(recipe: str) -> tuple[list[tuple[str, Tile]], list[tuple[str, Tile]], list[tuple[str, str]], int, "
           "int, int, dict[int, int], list[int]]",
           "What a product's kernel takes: inputs, outputs, scalars; threads of a block, blocks of a cluster, bytes of shared "
           "memory; outputs that lie where inputs do; inputs that no output may be.",
           product_boundary);
  function(m, "product_grid(recipe: str, m: int, n: int, batch: int = 1) -> tuple[int, int, int]", "Blocks of a launch.",
           [](std::string_view name, std::uint64_t rows, std::uint64_t columns, std::uint64_t batch) {
             const auto recipe = unwrap_here(kernels::product::recipe_from_name(name));
             const auto grid = unwrap_here(kernels::product::grid(recipe, rows, columns, batch));
             return nb::make_tuple(grid[0], grid[1], grid[2]);
           });
}

}  // namespace

void bind_kernels(nb::module_& m) {
  bind_products(m);
  function(m,
           "kernel_recipes(operation: str, dtype: str, rows: int, columns: int, alignment: int, has: Sequence[str]) -> list[str]",
           "The ways to make a kernel of the library, by name.",
           [](std::string_view operation, std::string_view dtype, std::uint64_t rows, std::uint64_t columns, int alignment,
              const std::vector<std::string>& has) {
             std::vector<std::string> names;
             for (const auto& recipe : unwrap_here(kernels::recipes(problem_of(operation, dtype, rows, columns, alignment, has))))
               names.push_back(kernels::name(recipe));
             return names;
           });
  function(m, "choose_kernel(operation: str, dtype: str, rows: int, columns: int, alignment: int, has: Sequence[str]) -> str",
           "The recipe that is taken.",
           [](std::string_view operation, std::string_view dtype, std::uint64_t rows, std::uint64_t columns, int alignment,
              const std::vector<std::string>& has) {
             return kernels::name(unwrap_here(kernels::choose(problem_of(operation, dtype, rows, columns, alignment, has))));
           });
  function(
      m,
      "kernel_cost(operation: str, dtype: str, rows: int, columns: int, alignment: int, has: Sequence[str]) -> tuple[int, int]",
      "Bytes moved at least, and operations.",
      [](std::string_view operation, std::string_view dtype, std::uint64_t rows, std::uint64_t columns, int alignment,
         const std::vector<std::string>& has) {
        const kernels::Cost cost = kernels::cost(problem_of(operation, dtype, rows, columns, alignment, has));
        return std::pair(cost.bytes, cost.operations);
      });
  function(m,
           "kernel_boundary(recipe: str) -> tuple[list[tuple[str, Tile]], list[tuple[str, Tile]], list[tuple[str, str]], int, "
           "int, int, bool, dict[int, int]]",
           "What a recipe's kernel takes: inputs, outputs, scalars; threads of a block, blocks of a cluster, bytes of shared "
           "memory to ask for, whether it takes sm_90; outputs that lie where inputs do, by the inputs' numbers.",
           kernel_boundary);
  function(m, "kernel_partial_rows(recipe: str, rows: int) -> int", "P, the rows of partial sums that the kernel leaves.",
           [](std::string_view name, std::uint64_t rows) {
             return kernels::partial_rows(unwrap_here(kernels::recipe_from_name(name)), rows);
           });
  function(m, "kernel_grid(recipe: str, rows: int, columns: int, partial: int = 0) -> tuple[int, int, int]",
           "Blocks of a launch.", [](std::string_view name, std::uint64_t rows, std::uint64_t columns, std::uint64_t partial) {
             const auto recipe = unwrap_here(kernels::recipe_from_name(name));
             const auto grid = unwrap_here(kernels::grid(recipe, rows, columns, partial));
             return nb::make_tuple(grid[0], grid[1], grid[2]);
           });
  function(m, "kernel_module(recipe: str) -> Module", "The recipe's kernel, written and checked.", kernel_module);
}

}  // namespace ptx::python
