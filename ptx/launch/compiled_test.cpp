// A compiled kernel whose tensors are described: types, shapes, open dimensions, overlaps, aliases, warnings, inspection.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdlib>

#include "ptx/launch/run.hpp"

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/inspect.hpp"
#include "tests/launch/twice.hpp"

namespace ptx {
namespace {

using launch::fake_driver;
using launch::says;
using launch::twice_module;

Tile tile(std::vector<tile::Dim> dims, Type type = Type::f32) { return Tile::make(std::move(dims), type).value(); }

/// Y = 2 X, one thread an element of a single block.
CompileOptions doubling(const Tile& shape) { return {.block = 32, .tiles = {shape, shape}}; }
/// The same in blocks of 32 threads; each element is the first of its block's.
Compiled open_kernel() {
  return compile(twice_module(), {.grid = dim("N") / 32, .block = 32, .tiles = {tile({"N"}), tile({"N"})}}).value();
}

TEST(TypedCalls, memory_of_another_type_is_refused) {
  const auto kernel = compile(twice_module(), doubling(tile({32}))).value();
  std::vector<float> x(32, 1.5f), y(32);
  ASSERT_TRUE(kernel.run(cpu(), {x}, {y}));
  EXPECT_EQ(y[31], 3.0f);
  std::vector<int> ints(32);
  const auto in = kernel.run(cpu(), {ints}, {y});
  EXPECT_EQ(in.error().kind, Kind::argument_dtype);
  EXPECT_TRUE(says(in.error(), "argument 0 (`X`) of kernel `twice`: the element type is int32; the kernel takes float32"));
  EXPECT_TRUE(says(in.error(), "given: int32[32]"));
  const auto out = kernel.run(cpu(), {x}, {ints});
  EXPECT_EQ(out.error().kind, Kind::argument_dtype);
  EXPECT_TRUE(says(out.error(), "output 0 (`Y`) of kernel `twice`: the element type is int32; the kernel writes float32"));
  EXPECT_EQ(kernel.run(cpu(), {std::vector<std::uint32_t>(32)}, {y}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(kernel.run(cpu(), {std::vector<double>(16)}, {y}).error().kind, Kind::argument_dtype);
  enum class Word : std::uint32_t {};
  EXPECT_EQ(kernel.run(cpu(), {std::vector<Word>(32)}, {y}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(kernel.run(cpu(), {std::vector<std::array<int, 4>>(8)}, {y}).error().kind, Kind::argument_dtype);
}

TEST(TypedCalls, what_cpp_has_no_type_for_fits_by_its_bits) {
  const auto kernel = compile(twice_module(), doubling(tile({32}))).value();
  struct Vec4 {
    float x, y, z, w;
  };
  std::vector<float> y(32);
  EXPECT_TRUE(kernel.run(cpu(), {std::vector<std::byte>(128)}, {y}));
  EXPECT_TRUE(kernel.run(cpu(), {std::vector<Vec4>(8)}, {y}));
  EXPECT_TRUE(kernel.run(cpu(), {std::vector<std::array<float, 4>>(8)}, {y}));
  const float plain[32] = {};
  EXPECT_TRUE(kernel.run(cpu(), {plain}, {y}));
  const auto half = compile(twice_module(), doubling(tile({64}, Type::bf16))).value();
  std::vector<std::uint16_t> bits(64), more(64);
  EXPECT_TRUE(half.run(cpu(), {bits}, {more}));
  EXPECT_EQ(half.run(cpu(), {std::vector<std::int16_t>(64)}, {more}).error().kind, Kind::argument_dtype);
  EXPECT_EQ(half.run(cpu(), {std::vector<std::uint32_t>(32)}, {more}).error().kind, Kind::argument_dtype);
  const auto words = compile(twice_module(), doubling(tile({32}, Type::b32))).value();
  EXPECT_TRUE(words.run(cpu(), {std::vector<int>(32)}, {y})) << "bits take every type of their width";
}

TEST(TypedCalls, sizes_are_compared) {
  const auto kernel = compile(twice_module(), doubling(tile({32}))).value();
  std::vector<float> x(31), y(32);
  const auto shorter = kernel.run(cpu(), {x}, {y});
  EXPECT_EQ(shorter.error().kind, Kind::argument_dim);
  EXPECT_TRUE(says(shorter.error(), "argument 0 (`X`) of kernel `twice` is 31 elements; float32[32] has 32"));
  x.resize(32);
  y.resize(33);
  EXPECT_TRUE(says(kernel.run(cpu(), {x}, {y}).error(), "output 0 (`Y`) of kernel `twice` is 33 elements; float32[32] has 32"));
  const auto odd = kernel.run(cpu(), {std::vector<std::byte>(126)}, {y});
  EXPECT_TRUE(says(odd.error(), "argument 0 (`X`) of kernel `twice` is 126 bytes, no whole number of elements of 4 bytes"));
}

TEST(TypedCalls, shapes_are_compared_where_they_are_said) {
  const auto kernel = compile(twice_module(), doubling(tile({4, 8}))).value();
  std::vector<float> x(32, 1.0f), y(32);
  EXPECT_TRUE(kernel.run(cpu(), {shaped(x, {4, 8})}, {shaped(y, {4, 8})}));
  EXPECT_EQ(kernel.run(cpu(), {shaped(x, {8, 4})}, {y}).error().kind, Kind::argument_dim);
  EXPECT_EQ(kernel.run(cpu(), {x}, {shaped(y, {8, 4})}).error().kind, Kind::argument_dim);
  const auto rank = kernel.run(cpu(), {shaped(x, {32})}, {y});
  EXPECT_EQ(rank.error().kind, Kind::argument_rank);
  EXPECT_TRUE(says(rank.error(), "the tensor has 1 dimensions; float32[4, 8] has 2"));
  const auto count = kernel.run(cpu(), {shaped(x, {4, 9})}, {y});
  EXPECT_TRUE(says(count.error(), "argument 0 (`X`) of kernel `twice` is 32 elements; its shape (4, 9) has 36"));
  EXPECT_EQ(kernel.run(cpu(), {shaped(x, {-4, -8})}, {y}).error().kind, Kind::argument_dim);
}

TEST(OpenDimensions, a_call_says_their_sizes) {
  const Compiled kernel = open_kernel();
  EXPECT_EQ(kernel.dims(), std::vector<std::string>{"N"});
  for (const std::size_t n : {32u, 64u, 32u, 320u}) {
    std::vector<float> x(n, 2.0f), y(n);
    const auto ran = kernel.run(cpu(), {x}, {y});
    ASSERT_TRUE(ran) << render(ran.error());
    EXPECT_EQ(y[31], 4.0f);
  }
  std::vector<float> x(64), y(32);
  const auto conflict = kernel.run(cpu(), {x}, {y});
  EXPECT_EQ(conflict.error().kind, Kind::argument_dim);
  EXPECT_TRUE(says(conflict.error(), "output 0 (`Y`) of kernel `twice` is 32 elements; float32[N], here (64,), has 64"));
  const auto said = kernel.run(cpu(), {x}, {shaped(y, {32})});
  EXPECT_EQ(said.error().kind, Kind::argument_dim);
  // a grid of no blocks
  std::vector<float> few(31), out(31);
  const auto none = kernel.run(cpu(), {few}, {out});
  EXPECT_EQ(none.error().kind, Kind::launch_config);
  EXPECT_TRUE(says(none.error(), "the grid of kernel `twice` has 0 (`N / 32`) in x"));
  // no elements, no launch
  EXPECT_TRUE(kernel.run(cpu(), {std::vector<float>()}, {std::vector<float>()}));
}

TEST(OpenDimensions, the_inputs_agree_on_them) {
  const auto matmul = from_ptx(
                          ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry mm(.param .u64 A, .param .u64 B, "
                          ".param .u64 C) { ret; }\n",
                          "mm", {.tiles = {tile({"M", "K"}), tile({"K", "N"}), tile({"M", "N"})}})
                          .value();
  EXPECT_EQ(matmul.dims(), (std::vector<std::string>{"M", "K", "N"}));
  std::vector<float> a(6), b(12), c(8);
  EXPECT_TRUE(matmul.run(cpu(), {shaped(a, {2, 3}), shaped(b, {3, 4})}, {c}));
  EXPECT_TRUE(matmul.run(cpu(), {shaped(a, {2, 3}), b}, {c})) << "one open dimension follows";
  EXPECT_TRUE(matmul.run(cpu(), {a, b}, {shaped(c, {2, 4})}));
  const auto conflict = matmul.run(cpu(), {shaped(a, {2, 3}), shaped(b, {4, 3})}, {c});
  EXPECT_EQ(conflict.error().kind, Kind::dim_conflict);
  EXPECT_TRUE(says(conflict.error(), "conflicting sizes of dimension `K`: 4 here, 3 from argument 0 (`A`)"));
  const auto flat = matmul.run(cpu(), {a, b}, {c});
  EXPECT_EQ(flat.error().kind, Kind::dim_unbound);
  EXPECT_TRUE(
      says(flat.error(), "argument 0 (`A`) of kernel `mm` is 6 elements without a shape; float32[M, K] leaves `M`, `K` open"));
  const auto part = matmul.run(cpu(), {shaped(a, {3, 2}), std::vector<float>(7)}, {c});
  EXPECT_TRUE(says(part.error(), "argument 1 (`B`) of kernel `mm` is 7 elements; what fits float32[K, N] is a multiple of 2"));
}

TEST(OpenDimensions, only_an_output_may_have_one) {
  const auto fill = from_ptx(
      ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry fill(.param .u64 Y, .param .u32 N) {\n"
      ".reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
      "ld.param.u64 %rd0, [Y]; ld.param.u32 %r0, [N]; mov.u32 %r1, %ctaid.x;\n"
      "mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %rd0, %rd1; st.global.u32 [%rd2], %r0; ret; }\n",
      "fill", {.grid = dim("N"), .tiles = {tile({"N"}, Type::u32)}});
  ASSERT_TRUE(fill) << render(fill.error());
  for (const std::size_t n : {3u, 5u, 3u}) {
    std::vector<std::uint32_t> y(n);
    const auto ran = fill->run(cpu(), {}, {y});
    ASSERT_TRUE(ran) << render(ran.error());
    EXPECT_EQ(y, std::vector<std::uint32_t>(n, static_cast<std::uint32_t>(n))) << "a scalar named as a dimension is its size";
  }
  const auto other = fill->with_scalars({std::int64_t{9}}).value();
  std::vector<std::uint32_t> y(2);
  ASSERT_TRUE(other.run(cpu(), {}, {y}));
  EXPECT_EQ(y[1], 9u);
  EXPECT_EQ(fill->with_scalars({}).value().run(cpu(), {}, {y}).has_value(), true);
  EXPECT_EQ(y[1], 2u);
  EXPECT_EQ(fill->with_scalars({std::int64_t{1}, std::int64_t{2}}).error().kind, Kind::argument_count);
}

TEST(OpenDimensions, can_be_fixed) {
  const Compiled kernel = open_kernel();
  const auto fixed = kernel.at({{"N", 64}});
  ASSERT_TRUE(fixed) << render(fixed.error());
  EXPECT_TRUE(fixed->dims().empty());
  EXPECT_EQ(fixed->image().spec().geometry.grid, (launch::Dims{2, 1, 1}));
  EXPECT_EQ(&fixed->image(), &kernel.at({{"N", 64}})->image()) << "made once";
  EXPECT_EQ(fixed->ptx(), kernel.ptx());
  std::vector<float> x(64), y(64);
  EXPECT_TRUE(fixed->run(cpu(), {x}, {y}));
  std::vector<float> x2(32), y2(32);
  EXPECT_EQ(fixed->run(cpu(), {x2}, {y2}).error().kind, Kind::argument_dim);
  EXPECT_TRUE(says(fixed->run(cpu(), {shaped(x2, {32})}, {y2}).error(),
                   "conflicting sizes of dimension `N`: 32 here, 64 from the kernel"));
  EXPECT_EQ(kernel.at({}).error().kind, Kind::dim_unbound);
  EXPECT_TRUE(says(kernel.at({{"N", 64}, {"M", 1}}).error(), "kernel `twice` has no open dimension `M`; it has `N`"));
  EXPECT_EQ(kernel.at({{"N", -1}}).error().kind, Kind::argument_dim);
  // what needs a size says so
  EXPECT_EQ(kernel.prepare(0).error().kind, Kind::dim_unbound);
  EXPECT_EQ(kernel.save("/nonexistent/x").error().kind, Kind::dim_unbound);
  EXPECT_TRUE(says(kernel.variable("v").error(), "hint: give it by name: `kernel.at({{\"N\", 1024}})`"));
}

TEST(OpenDimensions, that_no_launch_depends_on_leave_one_image) {
  const auto kernel = compile(twice_module(), {.block = 32, .tiles = {tile({"M", 32}), tile({"M", 32})}}).value();
  EXPECT_EQ(kernel.dims(), std::vector<std::string>{"M"});
  EXPECT_EQ(kernel.image().spec().geometry.block[0], 32u);
  std::vector<float> x(64), y(64), odd(40);
  EXPECT_TRUE(kernel.run(cpu(), {x}, {y}));
  EXPECT_EQ(kernel.run(cpu(), {odd}, {y}).error().kind, Kind::argument_dim);
  EXPECT_EQ(&kernel.at({{"M", 2}})->image(), &kernel.image());
  EXPECT_EQ(kernel.at({{"M", 1}})->run(cpu(), {x}, {y}).error().kind, Kind::argument_dim);
}

TEST(OpenDimensions, a_launch_is_of_dimensions_that_there_are) {
  const auto kernel = compile(twice_module(), {.grid = dim("M"), .block = 32, .tiles = {tile({"N"}), tile({"N"})}});
  EXPECT_EQ(kernel.error().kind, Kind::dim_unbound);
  EXPECT_EQ(kernel.error().message, "the grid of kernel `twice` is of dimension `M`, which no tensor has");
  EXPECT_EQ(compile(twice_module(), {.grid = dim("M")}).error().kind, Kind::dim_unbound);
  EXPECT_EQ(compile(twice_module(), {.grid = 0}).error().kind, Kind::launch_config);
}

TEST(Overlaps, outputs_lie_apart) {
  const auto kernel = compile(twice_module(), doubling(tile({32}))).value();
  std::vector<float> x(48, 1.0f);
  const std::span<float> whole(x.data(), 32), shifted(x.data() + 8, 32);
  EXPECT_TRUE(kernel.run(cpu(), {whole}, {whole})) << "an output may be an input";
  EXPECT_EQ(x[31], 2.0f);
  const auto overlap = kernel.run(cpu(), {whole}, {shifted});
  EXPECT_EQ(overlap.error().kind, Kind::argument_memory);
  EXPECT_TRUE(says(overlap.error(),
                   "output 0 (`Y`) of kernel `twice`: the tensor overlaps argument 0 (`X`) of kernel `twice` without being it"));

  // by addresses alone, on a GPU
  fake_driver().kernels["twice"].params = {{0, 8}, {8, 8}};
  const auto bare = compile(twice_module(), {.block = 32}).value();
  const auto at = [](std::uintptr_t address) { return gpu_memory(reinterpret_cast<float*>(address), 32); };
  EXPECT_TRUE(bare.run(gpu(0), {at(0x1000)}, {at(0x1000)}));
  const auto bad = bare.run(gpu(0), {at(0x1000)}, {at(0x1010)});
  EXPECT_TRUE(says(bad.error(), "output 0 of kernel `twice` overlaps input 0 in memory"));
}

TEST(Overlaps, an_alias_is_the_input) {
  CompileOptions options = doubling(tile({32}));
  options.aliases = {{.input = 0, .output = 0}};
  const auto kernel = compile(twice_module(), options).value();
  EXPECT_EQ(kernel.image().spec().aliases.size(), 1u);
  std::vector<float> x(32, 3.0f), y(32);
  ASSERT_TRUE(kernel.run(cpu(), {x}, {x}));
  EXPECT_EQ(x[0], 6.0f);
  const auto other = kernel.run(cpu(), {x}, {y});
  EXPECT_EQ(other.error().kind, Kind::argument_memory);
  EXPECT_TRUE(says(other.error(), "output 0 (`Y`) of kernel `twice` is written where argument 0 (`X`) of kernel `twice` lies"));
  options.aliases = {{.input = 1, .output = 0}};
  EXPECT_EQ(compile(twice_module(), options).error().kind, Kind::launch_config);
}

TEST(GpuCalls, take_pointers_and_streams_of_others) {
  FakeCuda& fake = fake_driver();
  fake.kernels["twice"].params = {{0, 8}, {8, 8}};
  const Compiled kernel = open_kernel();
  auto* const x = reinterpret_cast<const float*>(std::uintptr_t{0x10000});
  auto* const y = reinterpret_cast<float*>(std::uintptr_t{0x20000});
  void* const stream = reinterpret_cast<void*>(std::uintptr_t{0x77});
  const auto prepared = kernel.at({{"N", 64}})->prepare(0);
  ASSERT_TRUE(prepared) << render(prepared.error());
  EXPECT_TRUE(kernel.at({{"N", 64}})->image().prepared(0));
  const auto ran = kernel.run(gpu(0, stream), {gpu_memory(x, 64)}, {gpu_memory(y, 64)});
  ASSERT_TRUE(ran) << render(ran.error());
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].config.stream, static_cast<cuda::api::Stream>(stream));
  EXPECT_EQ(fake.launches[0].config.grid_x, 2u);
  EXPECT_TRUE(kernel.run(gpu(0), {gpu_memory(0x10000ull, 256)}, {gpu_memory(0x20000ull, 256)})) << "CUdeviceptr has no type";
  EXPECT_TRUE(kernel.run(gpu(0), {shaped(gpu_memory(x, 64), {64})}, {shaped(gpu_memory(y, 64), {64})}));
  auto* const ints = reinterpret_cast<int*>(std::uintptr_t{0x10000});
  EXPECT_EQ(kernel.run(gpu(0), {gpu_memory(ints, 64)}, {gpu_memory(y, 64)}).error().kind, Kind::argument_dtype);
  const auto other = kernel.run(gpu(0), {gpu_memory(x, 64, 1)}, {gpu_memory(y, 64)});
  EXPECT_EQ(other.error().kind, Kind::argument_device);
  EXPECT_TRUE(says(other.error(), "is in the memory of GPU 1; the call runs on GPU 0"));
  const auto null = kernel.run(gpu(0), {gpu_memory(static_cast<const float*>(nullptr), 64)}, {gpu_memory(y, 64)});
  EXPECT_EQ(null.error().kind, Kind::argument_memory);
  const std::vector<float> host(64);
  const auto on_host = kernel.run(gpu(0), {host}, {gpu_memory(y, 64)});
  EXPECT_TRUE(says(on_host.error(), "say so with `ptx::gpu_memory(pointer, elements)`"));
  static_assert(!std::is_convertible_v<View<false>, Out>, "what is const is not written");
}

TEST(Warnings, are_told_and_kept) {
  static std::vector<std::string> heard;
  heard.clear();
  const auto before = set_warning_handler([](const Diagnostic& warning) { heard.push_back(warning.message); });
  constexpr std::string_view text =
      ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      "  .reg .b16 %rs<2>;\n  mov.u16 %rs0, 65536;\n  ret;\n}\n";
  const auto kernel = from_ptx(text, "k", {});
  ASSERT_TRUE(kernel) << render(kernel.error());
  ASSERT_EQ(kernel->warnings().size(), 1u);
  EXPECT_EQ(kernel->warnings()[0].kind, Kind::immediate_range);
  EXPECT_EQ(kernel->warnings()[0].where.line, 7u);
  EXPECT_EQ(heard, std::vector<std::string>{kernel->warnings()[0].message});
  EXPECT_NE(set_warning_handler(nullptr), nullptr);
  heard.clear();
  EXPECT_EQ(from_ptx(text, "k", {})->warnings().size(), 1u) << "kept, also when nobody hears";
  EXPECT_TRUE(heard.empty());
  set_warning_handler(before);
}

TEST(Inspection, shows_what_the_assembler_makes) {
  if (!cuda::find_tool(cuda::Tool::ptxas)) GTEST_SKIP() << "there is no ptxas";
  const auto kernel = compile(twice_module(), doubling(tile({32}))).value();
  const auto used = kernel.resources();
  ASSERT_TRUE(used) << render(used.error());
  EXPECT_GT(used->registers, 0u);
  EXPECT_EQ(used->smem, 0u);
  EXPECT_EQ(used->spill_stores, 0u);
  if (!cuda::find_tool(cuda::Tool::nvdisasm) && !cuda::find_tool(cuda::Tool::cuobjdump)) GTEST_SKIP() << "no disassembler";
  const auto sass = kernel.sass();
  ASSERT_TRUE(sass) << render(sass.error());
  EXPECT_NE(sass->find("EXIT"), std::string::npos);
}

TEST(Inspection, shows_lines) {
  const auto kernel =
      from_ptx(".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n  ret;\n}\n", "k", {})
          .value();
  EXPECT_EQ(kernel.ptx().find(".loc"), std::string::npos);
  EXPECT_NE(kernel.ptx_with_lines().find(".loc 1 6"), std::string::npos) << kernel.ptx_with_lines();
  EXPECT_NE(kernel.ptx_with_lines().find("k.ptx"), std::string::npos);
}

}  // namespace
}  // namespace ptx
