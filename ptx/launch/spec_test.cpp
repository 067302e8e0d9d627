#include "ptx/launch/spec.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

TEST(LaunchSpec, survives_the_trip_through_bytes) {
  const Param number{.kind = Param::Kind::scalar, .size_bytes = 2, .align_bytes = 2, .bits = 0xBEEF};
  const auto spec = LaunchSpec::make(
      "gemm", {.grid = {16, 4, 2}, .block = {128, 2, 1}, .cluster = {2, 1, 1}, .dynamic_smem_bytes = 99840}, 2, 1, {number});
  ASSERT_TRUE(spec) << render(spec.error());
  const auto back = LaunchSpec::parse(spec->serialise());
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(*back, *spec);
  EXPECT_EQ(back->params[3].bits, 0xBEEFu);
}

TEST(LaunchSpec, every_way_of_launching_survives_the_trip) {
  for (const LaunchAttribute& row : launch_attributes) {
    Geometry geometry;
    geometry.attributes.*row.value = true;
    const auto spec = LaunchSpec::make("kernel", geometry, 2, 2).value().with_aliases({{1, 1}, {0, 0}});
    ASSERT_TRUE(spec) << render(spec.error());
    EXPECT_EQ(spec->aliases, (std::vector<Alias>{{0, 0}, {1, 1}}));
    const auto apart = LaunchSpec::make("kernel", geometry, 3, 1).value().with_aliases({{1, 0}})->with_inputs_apart({2, 0, 2});
    ASSERT_TRUE(apart) << render(apart.error());
    EXPECT_EQ(apart->inputs_apart, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(LaunchSpec::parse(apart->serialise()).value(), *apart);
    EXPECT_EQ(apart->with_inputs_apart({1}).error().kind, Kind::launch_config);
    EXPECT_EQ(apart->with_inputs_apart({3}).error().kind, Kind::launch_config);
    EXPECT_EQ(LaunchSpec::parse(spec->serialise()).value(), *spec);
  }
}

TEST(LaunchSpec, refuses_aliases_of_what_is_not_there_or_taken) {
  const LaunchSpec spec = LaunchSpec::make("kernel", {}, 2, 2).value();
  for (const std::vector<Alias>& aliases : {std::vector<Alias>{{2, 0}}, {{0, 2}}, {{0, 0}, {0, 1}}, {{0, 0}, {1, 0}}}) {
    const auto refused = spec.with_aliases(aliases);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::launch_config);
    EXPECT_TRUE(says(refused.error(), "kernel `kernel` cannot write output"));
  }
}

Tile matrix() { return Tile::make({"M", 64}, Type::bf16, Layout::tma_128b, std::vector<tile::Dim>{64, 64}).value(); }

/// Two tensors, a scalar, and the descriptors of the second and the first.
LaunchSpec described() {
  const std::vector<Descriptor> maps{{.arg = 1, .map = tile::tensor_map(matrix(), {{"M", 256}}).value()},
                                     {.arg = 0, .map = tile::tensor_map(matrix(), {{"M", 512}}).value()}};
  return LaunchSpec::make("kernel", {}, 1, 1, {{.kind = Param::Kind::scalar, .size_bytes = 4, .align_bytes = 4, .bits = 7}}, maps)
      .value();
}

TEST(LaunchSpec, descriptors_survive_the_trip_too) {
  const LaunchSpec spec = described();
  ASSERT_EQ(spec.params.size(), 5u);
  EXPECT_EQ(spec.params[3], (Param{.kind = Param::Kind::tensor_map, .arg = 1, .bits = 0}));
  EXPECT_EQ(spec.params[4], (Param{.kind = Param::Kind::tensor_map, .arg = 0, .bits = 1}));
  EXPECT_EQ(spec.offsets(), (std::vector<std::size_t>{0, 8, 16, 24, 32}));
  const auto back = LaunchSpec::parse(spec.serialise());
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(*back, spec);
  EXPECT_EQ(to_string(back->tensor_maps[1]), "bf16 (512, 64) in boxes of (64, 64), swizzle 128B");
  EXPECT_EQ(back->serialise(), spec.serialise());
}

TEST(LaunchSpec, descriptors_follow_the_entry) {
  const ir::Module module = twice_module(true, true);
  const ir::Function& entry = module.functions[0];
  EXPECT_EQ(descriptor_count(entry), 2u);
  EXPECT_EQ(descriptor_count(twice_module().functions[0]), 0u);
  const Scalar three = 3.0;
  const std::array tiles{matrix(), matrix()};
  const auto spec = LaunchSpec::make(module, entry, {}, 1, 1, {&three, 1}, tiles, {{"M", 192}});
  ASSERT_TRUE(spec) << render(spec.error());
  EXPECT_EQ(spec->params[3], (Param{.kind = Param::Kind::tensor_map, .arg = 1, .bits = 0}));
  EXPECT_EQ(spec->params[4], (Param{.kind = Param::Kind::tensor_map, .arg = 0, .bits = 1}));
  EXPECT_EQ(to_string(spec->tensor_maps[0]), "bf16 (192, 64) in boxes of (64, 64), swizzle 128B");

  const auto without = LaunchSpec::make(module, entry, {}, 1, 1, {&three, 1});
  EXPECT_EQ(without.error().kind, Kind::param_layout);
  EXPECT_TRUE(says(without.error(),
                   "parameter `Y_tma_desc` of kernel `twice` is a TMA descriptor; the launch has no Tile to make it from"));
  const auto unbound = LaunchSpec::make(module, entry, {}, 1, 1, {&three, 1}, tiles);
  EXPECT_EQ(unbound.error().kind, Kind::dim_unbound);
  EXPECT_TRUE(says(unbound.error(), "the TMA descriptor of tensor `Y` of kernel `twice`: the dimension `M`"));
  const std::array odd{matrix(), Tile::make({"M", 9}, Type::f32).value()};
  const auto refused = LaunchSpec::make(module, entry, {}, 1, 1, {&three, 1}, odd, {{"M", 192}});
  EXPECT_EQ(refused.error().kind, Kind::bad_tile);
  EXPECT_TRUE(says(refused.error(), "a tensor map needs a multiple of 16"));
  EXPECT_TRUE(says(LaunchSpec::make(module, entry, {}, 1, 1, {}, tiles, {{"M", 192}}).error(),
                   "kernel `twice` takes 5 parameters; the launch has 1 inputs, 1 outputs and 0 scalars"))
      << "`factor` is no descriptor";
}

TEST(LaunchSpec, descriptors_are_passed_as_the_entry_takes_them) {
  const ir::Module module = twice_module(false, true, true);
  EXPECT_EQ(descriptor_count(module.functions[0]), 2u);
  const std::array tiles{matrix(), matrix()};
  const auto spec = LaunchSpec::make(module, module.functions[0], {}, 1, 1, {}, tiles, {{"M", 192}});
  ASSERT_TRUE(spec) << render(spec.error());
  EXPECT_EQ(spec->params[2],
            (Param{.kind = Param::Kind::tensor_map_value, .arg = 1, .size_bytes = 128, .align_bytes = 128, .bits = 0}));
  EXPECT_EQ(spec->offsets(), (std::vector<std::size_t>{0, 8, 128, 256}));
  EXPECT_EQ(LaunchSpec::parse(spec->serialise()).value(), *spec);
  const std::array other{Descriptor{.arg = 0, .map = tile::tensor_map(matrix(), {{"M", 64}}).value()}};
  const auto own = LaunchSpec::make(module, module.functions[0], {}, 1, 1, {}, tiles, {{"M", 192}}, other);
  EXPECT_EQ(to_string(own->tensor_maps[0]), "bf16 (192, 64) in boxes of (64, 64), swizzle 128B");
  EXPECT_EQ(to_string(own->tensor_maps[1]), "bf16 (64, 64) in boxes of (64, 64), swizzle 128B") << "the author's own";
}

TEST(LaunchSpec, a_name_alone_makes_no_descriptor) {
  ir::Module module = twice_module(false, true);
  ir::Function& entry = module.functions[0];
  entry.params[2].describes = {};
  EXPECT_EQ(descriptor_count(entry), 1u) << "the last one, of X";
  const std::array tiles{matrix(), matrix()};
  EXPECT_TRUE(says(LaunchSpec::make(module, entry, {}, 1, 1, {}, tiles, {{"M", 192}}).error(), "takes 4 parameters"));
  entry.params[2].describes = entry.params[0].name;  // whatever it is called
  const auto spec = LaunchSpec::make(module, entry, {}, 1, 1, {}, tiles, {{"M", 192}});
  ASSERT_TRUE(spec) << render(spec.error());
  EXPECT_EQ(spec->params[2].arg, 0u);
}

TEST(LaunchSpec, im2col_maps_survive_the_trip) {
  layout::TensorMap map{.type = layout::TensorMapType::f16, .rank = 4, .swizzle = layout::Swizzle::b64};
  map.sizes = {32, 8, 8, 2};
  map.strides = {64, 512, 4096};
  map.fill = layout::TensorMapFill::nan;
  map.element_strides = {1, 2, 2, 1, 1};
  map.im2col =
      layout::Im2col{.lower_corner = {-1, -2}, .upper_corner = {1, -1}, .channels_per_pixel = 32, .pixels_per_column = 64};
  const auto spec = LaunchSpec::make("kernel", {}, 1, 1, {}, {{.arg = 0, .map = map}});
  ASSERT_TRUE(spec) << render(spec.error());
  EXPECT_EQ(LaunchSpec::parse(spec->serialise()).value(), *spec);
}

TEST(LaunchSpec, a_parameter_may_be_named_like_a_descriptor_and_be_a_scalar) {
  const ir::Module module = twice_module(false, true);
  const std::array<Scalar, 2> addresses{std::int64_t{0x1000}, std::int64_t{0x2000}};
  const auto spec = LaunchSpec::make(module, module.functions[0], {}, 1, 1, addresses);
  ASSERT_TRUE(spec) << render(spec.error());
  EXPECT_EQ(spec->params[2].kind, Param::Kind::scalar);
  EXPECT_EQ(spec->params[2].bits, 0x1000u);
  EXPECT_TRUE(spec->tensor_maps.empty());
}

TEST(LaunchSpec, refuses_descriptors_that_do_not_belong_together) {
  LaunchSpec spec = described();
  spec.params[4].bits = 0;
  EXPECT_EQ(spec.validate().error().kind, Kind::param_layout);
  spec = described();
  spec.params[4].arg = 2;
  EXPECT_EQ(spec.validate().error().kind, Kind::param_layout);
  spec = described();
  spec.params.pop_back();
  EXPECT_TRUE(says(spec.validate().error(), "has 1 parameters that are TMA descriptors and 2 descriptors"));
  spec = described();
  spec.tensor_maps[0].box[0] = 512;
  EXPECT_EQ(spec.validate().error().kind, Kind::bad_tile);
}

TEST(LaunchSpec, bytes_are_little_endian_and_fixed) {
  const std::string bytes = LaunchSpec::make("k", {.grid = {0x01020304, 1, 1}}, 0, 0).value().serialise();
  EXPECT_EQ(bytes.substr(0, 4), "ptxL");
  EXPECT_EQ(bytes.substr(4, 8), std::string("\x02\0\0\0\x04\x03\x02\x01", 8));
}

TEST(LaunchSpec, refuses_every_shorter_or_longer_record) {
  const std::string bytes = described().serialise();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto parsed = LaunchSpec::parse(std::string_view(bytes).substr(0, length));
    ASSERT_FALSE(parsed) << length;
    EXPECT_EQ(parsed.error().kind, Kind::bad_image);
  }
  EXPECT_EQ(LaunchSpec::parse(bytes + "x").error().kind, Kind::bad_image);
}

TEST(LaunchSpec, a_damaged_byte_is_refused_or_still_a_valid_launch) {
  const std::string bytes = described().serialise();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      const auto parsed = LaunchSpec::parse(damaged);
      if (parsed) {
        EXPECT_TRUE(parsed->validate()) << at;
        EXPECT_EQ(parsed->serialise(), damaged) << at;
      } else {
        EXPECT_EQ(parsed.error().kind, Kind::bad_image) << at;
      }
    }
  }
}

TEST(LaunchSpec, names_the_other_version) {
  std::string bytes = LaunchSpec::make("kernel", {}, 1, 1).value().serialise();
  bytes[4] = 7;
  EXPECT_TRUE(says(LaunchSpec::parse(bytes).error(), "a launch record of ABI 7; this process reads ABI 2"));
}

TEST(LaunchSpec, places_parameters_by_their_natural_alignment) {
  const auto scalar = [](std::uint32_t bytes) {
    return Param{.kind = Param::Kind::scalar, .size_bytes = bytes, .align_bytes = bytes};
  };
  const auto spec = LaunchSpec::make("k", {}, 1, 0, {scalar(1), scalar(4), scalar(2), scalar(8)}).value();
  EXPECT_EQ(spec.offsets(), (std::vector<std::size_t>{0, 8, 12, 16, 24}));
}

TEST(LaunchSpec, follows_the_entry) {
  const ir::Module module = twice_module(true);
  const Scalar three = 3.0;
  const auto spec = LaunchSpec::make(module, module.functions[0], {.block = {32, 1, 1}}, 1, 1, {&three, 1});
  ASSERT_TRUE(spec) << render(spec.error());
  EXPECT_EQ(spec->entry, "twice");
  EXPECT_EQ(spec->params[2],
            (Param{.kind = Param::Kind::scalar, .size_bytes = 4, .align_bytes = 4, .bits = std::bit_cast<std::uint32_t>(3.0f)}));

  const auto fewer = LaunchSpec::make(module, module.functions[0], {}, 1, 1);
  EXPECT_EQ(fewer.error().kind, Kind::param_layout);
  EXPECT_TRUE(says(fewer.error(), "kernel `twice` takes 3 parameters; the launch has 1 inputs, 1 outputs and 0 scalars"));
  EXPECT_TRUE(
      says(LaunchSpec::make(module, module.functions[0], {}, 2, 1).error(), "parameter `factor` of kernel `twice` is 4 bytes"));
}

TEST(LaunchSpec, refuses_a_geometry_that_no_gpu_has) {
  const auto refused = [](const Geometry& geometry) {
    const auto made = LaunchSpec::make("k", geometry, 0, 0);
    EXPECT_FALSE(made);
    return made ? std::string() : render(made.error());
  };
  EXPECT_NE(refused({.grid = {16, 0, 1}}).find("grid (16, 0, 1) is empty: y is 0"), std::string::npos);
  EXPECT_NE(refused({.block = {2048, 1, 1}}).find("block (2048, 1, 1) has 2048 threads in x; at most 1024 fit"),
            std::string::npos);
  EXPECT_NE(refused({.block = {4294967295, 4294967295, 2}}).find("has 4294967295 threads in x; at most 1024 fit"),
            std::string::npos);
  EXPECT_NE(
      refused({.grid = {5, 1, 1}, .cluster = {2, 1, 1}}).find("grid (5, 1, 1) is not a whole number of clusters (2, 1, 1) in x"),
      std::string::npos);
  EXPECT_FALSE(LaunchSpec::make("", {}, 0, 0));
  EXPECT_FALSE(LaunchSpec::make("k", {}, max_params, 1));
}

TEST(PackScalar, rounds_floats_to_the_parameter) {
  const auto packed = [](Type type, double value) { return pack_scalar(type, value).value(); };
  EXPECT_EQ(packed(Type::f16, 1.0), 0x3C00u);
  EXPECT_EQ(packed(Type::f16, -2.0), 0xC000u);
  EXPECT_EQ(packed(Type::f16, 65504.0), 0x7BFFu);
  EXPECT_EQ(packed(Type::f16, 65519.9), 0x7BFFu);
  EXPECT_TRUE(says(pack_scalar(Type::f16, 65520.0).error(), "65520 is too large for a `.f16`"));
  EXPECT_TRUE(says(pack_scalar(Type::f32, -1e300).error(), "-1e+300 is too large for a `.f32`"));
  EXPECT_TRUE(says(pack_scalar(Type::bf16, 3.4e38).error(), "3.4e+38 is too large for a `.bf16`"));
  EXPECT_EQ(packed(Type::f16, std::ldexp(1.0, -24)), 1u);
  EXPECT_EQ(packed(Type::f16, std::ldexp(1.0, -25)), 0u);  // a tie goes to even
  EXPECT_EQ(packed(Type::f16, std::ldexp(1.5, -25)), 1u);
  EXPECT_EQ(packed(Type::f16, std::numeric_limits<double>::infinity()), 0x7C00u);
  EXPECT_EQ(packed(Type::f16, std::numeric_limits<double>::quiet_NaN()), 0x7E00u);
  EXPECT_EQ(packed(Type::bf16, 1.0 / 3), 0x3EABu);
  EXPECT_EQ(packed(Type::bf16, -0.0), 0x8000u);
  EXPECT_EQ(packed(Type::f64, 0.1), std::bit_cast<std::uint64_t>(0.1));
  for (const double value : {0.1, -1e-6, 1e-40, 3.4e38, 1.0 + std::ldexp(1.0, -24), 2.0 - std::ldexp(1.0, -25), 7.0}) {
    EXPECT_EQ(packed(Type::f32, value), std::bit_cast<std::uint32_t>(static_cast<float>(value))) << value;
  }
}

TEST(PackScalar, masks_integers) {
  const auto packed = [](Type type, std::int64_t value) { return pack_scalar(type, value).value(); };
  EXPECT_EQ(packed(Type::u8, -1), 0xFFu);
  EXPECT_EQ(packed(Type::s32, -2), 0xFFFFFFFEu);
  EXPECT_EQ(packed(Type::u64, -1), 0xFFFFFFFFFFFFFFFFu);
  EXPECT_EQ(packed(Type::pred, 8), 1u);
  EXPECT_EQ(packed(Type::s16, -32768), 0x8000u);
  EXPECT_EQ(packed(Type::b16, 0xFFFF), 0xFFFFu);
  EXPECT_TRUE(says(pack_scalar(Type::s16, 40000).error(), "40000 does not fit in a `.s16`; what fits is -32768 to 32767"));
  EXPECT_TRUE(says(pack_scalar(Type::u8, 256).error(), "256 does not fit in a `.u8`; what fits is 0 to 255"));
  EXPECT_TRUE(says(pack_scalar(Type::u32, -1 - (std::int64_t{1} << 31)).error(), "does not fit in a `.u32`"));
  const std::vector<Scalar> sizes = {std::size_t{7}, 2u, true, 1.5f};  // whatever numbers a program has
  EXPECT_EQ(std::get<std::int64_t>(sizes[0]) + std::get<std::int64_t>(sizes[2]), 8);
  EXPECT_EQ(std::get<double>(sizes[3]), 1.5);
  EXPECT_EQ(packed(Type::f32, 2), std::bit_cast<std::uint32_t>(2.0f));
  EXPECT_TRUE(says(pack_scalar(Type::u32, 1.5).error(), "a `.u32` parameter takes an integer"));
  EXPECT_FALSE(pack_scalar(Type::b128, std::int64_t{1}));
}

}  // namespace
}  // namespace ptx::launch
