// A kernel as a C++ author writes it, through to a run on the executor.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx {
namespace {

bool says(const Diagnostic& error, std::string_view text) { return render(error).find(text) != std::string::npos; }

/// Y = 2 X, 32 threads a block.
Kernel twice(const std::vector<tile::Dim>& shape, const Extent& grid) {
  Kernel k({.name = "twice", .in_specs = {{"X", shape, f32}}, .out_specs = {{"Y", shape, f32}}, .grid = grid, .block = 32});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto i = k.from_<u32>(special.ctaid.x()) * 32 + k.from_<u32>(special.tid.x());
  auto v = k.scalar<f32>();
  k << inst.ld.global_.f32(v, addr(x + i * 4));
  k << inst.add.f32(v, v, v);
  k << inst.st.global_.f32(addr(y + i * 4), v);
  k << inst.ret();
  return k;
}

TEST(Compile, takes_a_kernel_with_its_boundary) {
  const auto kernel = compile(twice({64}, 2));
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<float> x(64, 4.0f), y(64);
  ASSERT_TRUE(kernel->run(cpu(), {x}, {y}));
  EXPECT_EQ(y, std::vector<float>(64, 8.0f));
  EXPECT_EQ(kernel->run(cpu(), {std::vector<int>(64)}, {y}).error().kind, Kind::argument_dtype);
  Kernel broken({.name = "broken"});
  broken << inst.bra("nowhere");
  EXPECT_EQ(compile(std::move(broken)).error().kind, Kind::undefined_label);
}

TEST(Compile, errors_of_calls_and_declarations_have_a_line) {
  const auto kernel = compile(twice({64}, 2));
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<float> y(64);
  const auto ran = kernel->run(cpu(), {std::vector<int>(64)}, {y});
  EXPECT_EQ(ran.error().where, (SourceLocation{__FILE__, __LINE__ - 1}));

  Kernel named({.name = "größe", .in_specs = {{"X", {64}, f32}}, .grid = 1});
  const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
  named << inst.ret();
  EXPECT_EQ(compile(std::move(named)).error().where, (SourceLocation{__FILE__, line}));
  Kernel wide({.name = "wide", .in_specs = {{"X", {64}, f32}}, .grid = 1, .block = 2048});
  wide << inst.ret();
  EXPECT_EQ(compile(std::move(wide)).error().where, (SourceLocation{__FILE__, line + 4}));
}

TEST(Compile, a_descriptor_is_of_a_tensor) {
  Kernel k({.name = "k", .in_specs = {{"X", {64, 64}, f32}}, .grid = 1});
  k.tma_desc("Z");
  const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
  k << inst.ret();
  const auto compiled = compile(std::move(k));
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().kind, Kind::undefined_symbol);
  EXPECT_EQ(compiled.error().where, (SourceLocation{__FILE__, line}));
  EXPECT_TRUE(says(compiled.error(), "kernel `k` has no tensor `Z`, whose TMA descriptor is asked for"))
      << render(compiled.error());
  EXPECT_TRUE(says(compiled.error(), "its tensors are `X`")) << render(compiled.error());
}

TEST(Compile, blocks_of_a_cluster_reach_each_other) {
  Kernel k({.name = "other",
            .in_specs = {{"X", {64}, u32}},
            .out_specs = {{"Y", {64}, u32}},
            .grid = 4,
            .block = 16,
            .cluster = 2,
            .arch = sm_90a});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto tile = k.smem.alloc<u32>({16});
  auto t = k.from_<u32>(special.tid.x());
  auto i = k.from_<u32>(special.ctaid.x()) * 16 + t;
  auto mine = k.scalar<u32>(), word = k.scalar<u32>(), rank = k.from_<u32>(special.cluster_ctarank());
  k << inst.mov.u32(mine, tile.name());
  mine += t * 4;
  k << inst.ld.global_.u32(word, addr(x + i * 4));
  k << inst.st.shared.u32(addr(mine), word);
  k.cluster.sync();
  k << inst.ld.shared__cluster.u32(word, addr(k.cluster.map_shared_u32(mine, rank ^ 1)));
  k << inst.st.global_.u32(addr(y + i * 4), word);
  k.cluster.sync();
  k << inst.ret();
  const auto kernel = compile(std::move(k));
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<std::uint32_t> in(64), out(64);
  std::iota(in.begin(), in.end(), 0u);
  const auto ran = kernel->run(cpu(), {in}, {out});
  ASSERT_TRUE(ran) << render(ran.error());
  for (std::uint32_t n = 0; n < 64; ++n) EXPECT_EQ(out[n], n ^ 16);
}

TEST(Compile, a_grid_follows_from_the_tensors) {
  const auto kernel = compile(twice({"M", 32}, dim("M")));
  ASSERT_TRUE(kernel) << render(kernel.error());
  for (const std::size_t rows : {1u, 7u}) {
    std::vector<float> x(rows * 32), y(rows * 32);
    std::iota(x.begin(), x.end(), 0.0f);
    const auto ran = kernel->run(cpu(), {x}, {y});
    ASSERT_TRUE(ran) << render(ran.error());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 2 * x[i]);
  }
}

TEST(Compile, a_scalar_named_as_a_dimension_is_its_size) {
  Kernel k({.name = "fill",
            .out_specs = {{"Y", {"N"}, u32}},
            .raw_params = {{"step", u32}, {"N", u32}},
            .grid = dim("N"),
            .block = 1});
  auto [y] = k.global_ptrs("Y");
  auto i = k.from_<u32>(special.ctaid.x());
  k << inst.st.global_.u32(addr(y + i * 4), i * k.param<u32>("step") + k.param<u32>("N"));
  k << inst.ret();
  const auto kernel = compile(std::move(k), {std::int64_t{10}});
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<std::uint32_t> four(4);
  ASSERT_TRUE(kernel->run(cpu(), {}, {four}));
  EXPECT_EQ(four, (std::vector<std::uint32_t>{4, 14, 24, 34}));
}

TEST(Compile, operands_are_matched_once_by_the_author_and_once_by_check) {
  std::uint64_t written_from = 0, written_to = 0;
  const KernelSpec spec{.name = "k", .out_specs = {{"Y", {32}, u32}}, .grid = 1, .block = 32};
  const auto kernel = compile(spec, [&](Kernel& k) {
    auto [y] = k.global_ptrs("Y");
    auto a = k.reg<u32>(), b = k.reg<u32>();
    auto p = k.reg<pred>();
    written_from = isa::fits_asked();
    for (int again = 0; again < 3; ++again) {
      k << inst.mov.u32(a, special.tid.x());
      k << inst.mul.lo.u32(b, a, a);
      k << inst.xor_.b32(a, a, b);
      k << inst.setp.lt.u32(p, a, b);
      k << inst.st.global_.u32(addr(y), a);
    }
    written_to = isa::fits_asked();
    k << inst.ret();
  });
  ASSERT_TRUE(kernel) << render(kernel.error());
  EXPECT_EQ(written_to - written_from, 5u) << "once each, however often they are written";
  const std::uint64_t compiled = isa::fits_asked();
  EXPECT_GE(compiled - written_to, 5u) << "check is told nothing";
  EXPECT_LE(compiled - written_to, 10u) << "five, and those around them";
  std::vector<std::uint32_t> y(32);
  ASSERT_TRUE(kernel->run(cpu(), {}, {y}));
  EXPECT_EQ(isa::fits_asked() - compiled, 0u) << "nobody asks for a launch";
}

TEST(Compile, an_alias_and_a_tensor_map_of_the_kernel_are_the_launchs) {
  KernelSpec spec{.name = "k",
                  .in_specs = {{"X", {32}, f32}},
                  .out_specs = {{"Y", {32}, f32}},
                  .grid = 1,
                  .block = 32,
                  .input_output_aliases = {{0, 0}}};
  const auto kernel = compile(spec, [](Kernel& k) { k << inst.ret(); });
  ASSERT_TRUE(kernel) << render(kernel.error());
  EXPECT_EQ(kernel->image().spec().aliases, (std::vector<launch::Alias>{{0, 0}}));
  std::vector<float> x(32), y(32);
  EXPECT_TRUE(kernel->run(cpu(), {x}, {x}));
  EXPECT_EQ(kernel->run(cpu(), {x}, {y}).error().kind, Kind::argument_memory);

  const auto map_of = [](std::int64_t rows) {
    return layout::tiled_tensor_map(layout::TensorMapType::f32, std::vector<std::int64_t>{rows, 64},
                                    std::vector<std::int64_t>{8, 32}, layout::Swizzle::b128);
  };
  const auto with_map = [&](std::vector<TensorMapSpec> maps) {
    return compile(
        {.name = "k", .in_specs = {{"A", {"M", 64}, f32}}, .grid = dim("M"), .block = 32, .tensor_maps = std::move(maps)},
        [](Kernel& k) {
          (void)k.tma_desc("A");
          k << inst.ret();
        });
  };
  const auto mapped = with_map({{.tensor = "A", .of_sizes = [&](const Sizes& sizes) { return map_of(sizes.at("M")); }}});
  ASSERT_TRUE(mapped) << render(mapped.error());
  for (const std::int64_t rows : {64, 128}) {
    const auto fixed = mapped->at({{"M", rows}});
    ASSERT_TRUE(fixed) << render(fixed.error());
    EXPECT_EQ(fixed->image().spec().tensor_maps, std::vector<layout::TensorMap>{map_of(rows).value()});
  }
  const auto fixed = with_map({{.tensor = "A", .map = map_of(64).value()}});
  EXPECT_TRUE(fixed->at({{"M", 64}}));
  EXPECT_EQ(fixed->at({{"M", 32}}).error().kind, Kind::bad_tile) << "a map of more rows than there are";
  const auto wrong = with_map({{.tensor = "A", .of_sizes = [&](const Sizes&) { return map_of(-1); }}});
  EXPECT_TRUE(says(wrong->at({{"M", 64}}).error(), "the tensor map of `A` of kernel `k`: "));
  // without one, the descriptor is the tile's
  EXPECT_EQ(with_map({})->at({{"M", 64}})->image().spec().tensor_maps[0].sizes[1], 64u);
}

// Thread 0 writes the last word of its shared memory and reads it again.
void use_shared(Kernel& k, std::int64_t bytes) {
  auto [y] = k.global_ptrs("Y");
  auto all = k.smem.alloc<u32>({1, bytes / 4});
  auto v = k.scalar<u32>(7);
  all.store(0, bytes / 4 - 1, v);
  k << inst.st.global_.u32(addr(y), all.load(0, bytes / 4 - 1));
  k << inst.ret();
}

TEST(Compile, much_shared_memory_becomes_dynamic) {
  const auto kernel_of = [](std::int64_t bytes, std::uint32_t smem = 0) {
    return compile({.name = "k", .out_specs = {{"Y", {1}, u32}}, .grid = 1, .smem = smem},
                   [&](Kernel& k) { use_shared(k, bytes); });
  };
  for (const std::int64_t bytes : {4096, 48 * 1024, 48 * 1024 + 4, 200 * 1024}) {
    const auto kernel = kernel_of(bytes);
    ASSERT_TRUE(kernel) << render(kernel.error());
    const bool dynamic = bytes > 48 * 1024;
    EXPECT_EQ(kernel->image().spec().geometry.dynamic_smem_bytes, dynamic ? static_cast<std::uint32_t>(bytes) : 0u);
    EXPECT_EQ(kernel->ptx().find("dyn_smem") != std::string::npos, dynamic);
    std::vector<std::uint32_t> y(1);
    const auto ran = kernel->run(cpu(), {}, {y});
    ASSERT_TRUE(ran) << render(ran.error());
    EXPECT_EQ(y[0], 7u);
  }
  EXPECT_EQ(kernel_of(60000, 70000)->image().spec().geometry.dynamic_smem_bytes, 70000u) << "as much as was asked for";
  EXPECT_EQ(kernel_of(300 * 1024).error().kind, Kind::shared_memory_size);
}

TEST(Compile, a_launch_has_a_grid) {
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  Kernel k({.name = "k", .out_specs = {{"Y", {"N"}, u32}}, .block = 32});
  k << inst.ret();
  const auto kernel = compile(std::move(k));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, Kind::launch_config);
  EXPECT_EQ(kernel.error().where.line, line);
  EXPECT_EQ(kernel.error().message, "kernel `k` has no grid");
  EXPECT_TRUE(compile({.name = "k", .grid = 1}, [](Kernel& one) { one << inst.ret(); }));
}

TEST(Compile, raw_parameters_have_values) {
  const auto error_of = [](std::vector<TensorSpec> outputs, std::vector<ScalarSpec> raw, std::vector<launch::Scalar> values) {
    const auto kernel = compile(
        {.name = "k", .out_specs = std::move(outputs), .raw_params = std::move(raw), .grid = 1},
        [](Kernel& k) { k << inst.ret(); }, std::move(values));
    return kernel ? Diagnostic{} : kernel.error();
  };
  const Diagnostic none = error_of({}, {{"n", u32}}, {});
  EXPECT_EQ(none.kind, Kind::argument_count);
  EXPECT_EQ(none.message, "kernel `k` has 1 raw parameter, `n`; 0 values are given");
  EXPECT_TRUE(says(none, "`compile` takes them behind the kernel, in this order\n") ||
              render(none).ends_with("`compile` takes them behind the kernel, in this order"))
      << render(none);
  EXPECT_EQ(error_of({}, {{"p", u64}}, {}).kind, Kind::argument_count) << "no tensor's address";
  EXPECT_EQ(error_of({}, {}, {1}).message, "kernel `k` has 0 raw parameters; 1 value is given");
  const Diagnostic named = error_of({{"Y", {"N"}, u32}}, {{"step", u32}, {"N", u32}}, {1, 2, 3});
  EXPECT_EQ(named.message, "kernel `k` has 2 raw parameters, `step`, `N`; 3 values are given");
  EXPECT_TRUE(says(named, "or without `N`, which the tensors say")) << render(named);
  EXPECT_EQ(error_of({{"Y", {"N"}, u32}}, {{"step", u32}, {"N", u32}}, {1}).message, "");
  EXPECT_EQ(error_of({}, {{"p", u64}}, {1}).message, "");
}

TEST(Compile, errors_are_at_the_authors_line) {
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  const auto kernel = compile({.name = "k", .grid = 0}, [](Kernel& k) { k << inst.ret(); });
  EXPECT_EQ(kernel.error().kind, Kind::launch_config);
  EXPECT_EQ(kernel.error().where.line, line);
}

TEST(Specialise, a_body_is_written_for_the_sizes_of_a_call) {
  std::vector<std::int64_t> written;
  const auto kernel = specialise(
      {.name = "sum", .in_specs = {{"X", {"B", "N"}, f32}}, .out_specs = {{"Y", {"B"}, f32}}, .grid = dim("B"), .block = 1},
      [&](Kernel& k, const Sizes& sizes) {
        const std::int64_t n = sizes.at("N");
        written.push_back(n);
        auto [x, y] = k.global_ptrs("X", "Y");
        auto row = k.from_<u32>(special.ctaid.x());
        auto sum = k.scalar<f32>(0.0), v = k.scalar<f32>();
        auto from = x + row * (n * 4);
        for (std::int64_t i = 0; i < n; ++i) {
          k << inst.ld.global_.f32(v, addr(from, i * 4));
          k << inst.add.f32(sum, sum, v);
        }
        k << inst.st.global_.f32(addr(y + row * 4), sum);
        k << inst.ret();
      });
  ASSERT_TRUE(kernel) << render(kernel.error());
  EXPECT_TRUE(written.empty()) << "nothing is written before a call";
  for (const std::int64_t n : {2, 5, 2}) {
    std::vector<float> x(static_cast<std::size_t>(3 * n), 1.0f), y(3);
    const auto ran = kernel->run(cpu(), {shaped(x, {3, n})}, {y});
    ASSERT_TRUE(ran) << render(ran.error());
    EXPECT_EQ(y, std::vector<float>(3, static_cast<float>(n)));
  }
  EXPECT_EQ(written, (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(kernel->size(), 2u);
  const auto known = kernel->at({{"B", 3}, {"N", 5}});
  ASSERT_TRUE(known) << render(known.error());
  EXPECT_EQ(kernel->size(), 2u);
  EXPECT_EQ(known->image().spec().geometry.grid, (launch::Dims{3, 1, 1}));
  EXPECT_EQ(kernel->at({{"B", 3}}).error().kind, Kind::dim_unbound);
  EXPECT_EQ(kernel->at({{"B", 3}, {"N", 5}, {"K", 1}}).error().kind, Kind::argument_kind);
  std::vector<float> y(3);
  EXPECT_EQ(kernel->run(cpu(), {std::vector<int>(6)}, {y}).error().kind, Kind::argument_dtype);
}

TEST(Specialise, what_is_no_kernel_is_said_at_once) {
  const auto none = specialise({.name = "k", .in_specs = {{"X", {"N"}, f32}}, .grid = dim("M")}, [](Kernel&, const Sizes&) {});
  EXPECT_EQ(none.error().kind, Kind::dim_unbound);
  const auto fails =
      specialise({.name = "k", .out_specs = {{"X", {"N"}, f32}}}, [](Kernel& k, const Sizes&) { k << inst.bra("nowhere"); });
  ASSERT_TRUE(fails) << render(fails.error());
  std::vector<float> y(3);
  EXPECT_EQ(fails->run(cpu(), {}, {y}).error().kind, Kind::undefined_label);
}

}  // namespace
}  // namespace ptx
