#include "ptx/launch/signature.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

constexpr ElementType float32{2, 32, 1};
constexpr ElementType float64{2, 64, 1};

Tile tile(std::vector<tile::Dim> dims, Type dtype = Type::f32) { return Tile::make(std::move(dims), dtype).value(); }

/// A tensor that owns its numbers.
struct Tensor {
  std::vector<std::int64_t> shape, strides;
  ElementType dtype = float32;
  DeviceId device;
  void* data = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  [[nodiscard]] TensorView view() const {
    return {.data = data,
            .dtype = dtype,
            .device = device,
            .rank = static_cast<std::int32_t>(shape.size()),
            .shape = shape.data(),
            .strides = strides.empty() ? nullptr : strides.data()};
  }
};

class SignatureTest : public ::testing::Test {
 protected:
  Signature matmul = Signature::make("matmul", {tile({"M", "K"}), tile({"K", "N"})}, {tile({"M", "N"})}, {"A", "B", "C"}).value();
  Signature rms_norm = Signature::make("rms_norm", {tile({16, 512}), tile({512})}, {tile({16, 512})}, {"X", "W", "Y"}).value();

  static Expected<Bound> bind(const Signature& signature, const std::vector<Tensor>& tensors) {
    std::vector<TensorView> views;
    for (const Tensor& tensor : tensors) views.push_back(tensor.view());
    return signature.bind(views);
  }
  /// The rendered error of a call that must fail with `kind`.
  static std::string refused(const Signature& signature, const std::vector<Tensor>& tensors, Kind kind) {
    const auto bound = bind(signature, tensors);
    EXPECT_FALSE(bound);
    if (bound) return {};
    EXPECT_EQ(name(bound.error().kind), name(kind));
    return render(bound.error());
  }
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(SignatureTest, binds_dimensions_and_gives_the_outputs) {
  const auto bound = bind(matmul, {{.shape = {128, 64}}, {.shape = {64, 32}}});
  ASSERT_TRUE(bound) << render(bound.error());
  EXPECT_EQ(bound->env, (tile::Env{{"K", 64}, {"M", 128}, {"N", 32}}));
  ASSERT_EQ(bound->outputs.size(), 1u);
  EXPECT_EQ(bound->outputs[0].shape, (std::vector<std::int64_t>{128, 32}));
  EXPECT_EQ(bound->outputs[0].strides, (std::vector<std::int64_t>{32, 1}));
  EXPECT_EQ(bound->outputs[0].bytes, 128u * 32 * 4);
  EXPECT_EQ(bound->outputs[0].dtype, float32);
}

TEST_F(SignatureTest, names_a_wrong_element_type) {
  const std::string error = refused(rms_norm, {{.shape = {16, 512}, .dtype = float64}, {.shape = {512}}}, Kind::argument_dtype);
  EXPECT_SAYS(error, "argument 0 (`X`) of kernel `rms_norm`: the element type is float64; the kernel takes float32");
  EXPECT_SAYS(error, "= takes: float32[16, 512]");
  EXPECT_SAYS(error, "= given: float64[16, 512]");
}

TEST_F(SignatureTest, takes_integers_of_either_sign_and_bits_of_any_type) {
  constexpr ElementType int32{0, 32}, uint32{1, 32}, complex64{5, 64};
  const auto binds = [](Type type, ElementType given, ElementType out) {
    const Signature copy = Signature::make("copy", {tile({4}, type)}, {tile({4}, type)}, {"X", "Y"}, {}).value();
    std::vector<std::uint64_t> memory(8);
    const Tensor x{.shape = {4}, .dtype = given}, y{.shape = {4}, .dtype = out, .data = memory.data()};
    const std::array inputs{x.view()};
    const auto bound = copy.bind(inputs);
    return bound && copy.check_output(0, bound->outputs[0], y.view(), inputs, DeviceId{});
  };
  EXPECT_TRUE(binds(Type::u32, int32, int32));
  EXPECT_TRUE(binds(Type::s32, uint32, uint32));
  EXPECT_TRUE(binds(Type::b32, float32, float32));
  EXPECT_TRUE(binds(Type::b64, complex64, complex64));
  EXPECT_FALSE(binds(Type::b64, float64, int32));
  EXPECT_FALSE(binds(Type::f32, int32, float32));
  EXPECT_FALSE(binds(Type::u32, float32, int32));
}

TEST_F(SignatureTest, names_a_wrong_rank) {
  const std::string error = refused(rms_norm, {{.shape = {16, 512}}, {.shape = {1, 512}}}, Kind::argument_rank);
  EXPECT_SAYS(error, "argument 1 (`W`) of kernel `rms_norm`");
  EXPECT_SAYS(error, "= takes: float32[512]");
  EXPECT_SAYS(error, "= given: float32[1, 512]");
}

TEST_F(SignatureTest, names_a_wrong_fixed_dimension) {
  const std::string error = refused(rms_norm, {{.shape = {16, 256}}, {.shape = {512}}}, Kind::argument_dim);
  EXPECT_SAYS(error, "argument 0 (`X`) of kernel `rms_norm`");
  EXPECT_SAYS(error, "512");
  EXPECT_SAYS(error, "256");
}

TEST_F(SignatureTest, names_both_sides_of_a_conflict) {
  const std::string error = refused(matmul, {{.shape = {128, 64}}, {.shape = {32, 16}}}, Kind::dim_conflict);
  EXPECT_SAYS(error,
              "argument 1 (`B`) of kernel `matmul`: conflicting sizes of dimension `K`: 32 here, 64 from argument 0 (`A`)");
}

TEST_F(SignatureTest, names_the_strides_of_a_transposed_tensor) {
  const std::string error =
      refused(matmul, {{.shape = {128, 64}, .strides = {1, 128}}, {.shape = {64, 32}}}, Kind::argument_layout);
  EXPECT_SAYS(error, "argument 0 (`A`) of kernel `matmul`: strides are (1, 128) elements; the kernel takes row-major (64, 1)");
  EXPECT_SAYS(error, ".contiguous()");
}

TEST_F(SignatureTest, a_dimension_of_one_may_have_any_stride) {
  EXPECT_TRUE(bind(matmul, {{.shape = {1, 64}, .strides = {7, 1}}, {.shape = {64, 1}, .strides = {1, 1}}}));
  EXPECT_TRUE(bind(matmul, {{.shape = {1, 64}, .strides = {64, 1}}, {.shape = {64, 1}, .strides = {1, 99}}}));
}

TEST_F(SignatureTest, names_both_devices) {
  const DeviceId gpu{DeviceId::Kind::cuda, 1};
  const std::string error = refused(rms_norm, {{.shape = {16, 512}}, {.shape = {512}, .device = gpu}}, Kind::argument_device);
  EXPECT_SAYS(error, "argument 0 (`X`) on cpu, argument 1 (`W`) on cuda:1");
}

TEST_F(SignatureTest, names_a_missing_or_misaligned_memory) {
  EXPECT_SAYS(refused(rms_norm, {{.shape = {16, 512}, .data = nullptr}, {.shape = {512}}}, Kind::argument_memory),
              "argument 0 (`X`)");
  Tensor odd{.shape = {512}};
  odd.data = reinterpret_cast<void*>(std::uintptr_t{0x1002});
  EXPECT_SAYS(refused(rms_norm, {{.shape = {16, 512}}, odd}, Kind::argument_alignment), "0x1002 is not a multiple of 4 bytes");
}

TEST_F(SignatureTest, counts_arguments) {
  EXPECT_SAYS(refused(rms_norm, {{.shape = {16, 512}}}, Kind::argument_count),
              "kernel `rms_norm` takes 2 tensors (`X`, `W`); the call has 1");
  EXPECT_SAYS(refused(rms_norm, {{.shape = {16, 512}}, {.shape = {512}}, {.shape = {16, 512}}}, Kind::argument_count),
              "outputs are returned, not passed");
  EXPECT_FALSE(Signature::make("k", {tile({1})}, {}, {"X", "Y"}));
}

TEST_F(SignatureTest, says_what_is_no_tensor) {
  const Diagnostic error = rms_norm.not_a_tensor(1, "an `int`");
  EXPECT_EQ(error.kind, Kind::argument_kind);
  EXPECT_TRUE(says(error, "argument 1 (`W`) of kernel `rms_norm` is an `int`; it takes a tensor"));
  EXPECT_TRUE(says(error, "takes: float32[512]"));
}

TEST_F(SignatureTest, an_output_dimension_can_be_given_by_name) {
  const auto grow = [](tile::Env fixed) {
    return Signature::make("grow", {tile({"M"})}, {tile({"M", "R"})}, {"X", "Y"}, std::move(fixed)).value();
  };
  EXPECT_EQ(bind(grow({{"R", 3}}), {{.shape = {4}}})->outputs[0].shape, (std::vector<std::int64_t>{4, 3}));
  const std::string error = refused(grow({}), {{.shape = {4}}}, Kind::dim_unbound);
  EXPECT_SAYS(error, "output `Y` of kernel `grow`");
  EXPECT_SAYS(refused(grow({{"M", 5}}), {{.shape = {4}}}, Kind::dim_conflict), "4 here, 5 from the call");
}

TEST_F(SignatureTest, an_output_needs_a_type_that_tensors_have) {
  const auto made = Signature::make("k", {}, {tile({4}, Type::b128)}, {"Y"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, Kind::bad_tile);
  EXPECT_TRUE(says(made.error(), "no tensor has elements of type `b128`"));
}

TEST(TensorView, knows_its_size_and_its_names) {
  const Tensor tensor{.shape = {3, 5}, .dtype = {4, 16, 1}};
  EXPECT_EQ(tensor.view().bytes(), 30u);
  EXPECT_EQ(describe(tensor.view()), "bfloat16[3, 5]");
  EXPECT_EQ(numpy_name({3, 8, 1}), "");
  EXPECT_EQ(element_type_from_name("float8_e4m3fn"), (ElementType{10, 8, 1}));
  EXPECT_FALSE(element_type_from_name("float31"));
  EXPECT_EQ(to_string(DeviceId{DeviceId::Kind::cuda, 3}), "cuda:3");
}

// -- plans
// ----------------------------------------------------------------------------------------------------------------------------

class PlanTest : public SignatureTest {
 protected:
  Plan plan{matmul, [this](const tile::Env& env) -> Expected<std::shared_ptr<const KernelImage>> {
              ++made;
              if (env.at("M") == 13) return Unexpected{{.kind = Kind::bad_control_flow, .message = "no thirteen"}};
              return KernelImage::from_text(cat(".target sm_90a\n// ", env.at("M"), ' ', env.at("K"), ' ', env.at("N")),
                                            LaunchSpec::make("matmul", {}, 2, 1).value().serialise());
            }};
  int made = 0;
};

TEST_F(PlanTest, specialises_once_for_each_set_of_shapes) {
  const Tensor a{.shape = {128, 64}}, b{.shape = {64, 32}}, wide{.shape = {64, 8}};
  const std::vector<TensorView> first{a.view(), b.view()}, second{a.view(), wide.view()};
  EXPECT_EQ(plan.last(first), nullptr);
  const Specialisation* one = plan.find(first).value();
  EXPECT_EQ(plan.last(first), one);
  EXPECT_EQ(plan.last(second), nullptr);
  const Specialisation* two = plan.find(second).value();
  EXPECT_NE(one, two);
  EXPECT_EQ(plan.find(first).value(), one);
  EXPECT_EQ(plan.last(first), one);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(plan.size(), 2u);
  EXPECT_EQ(one->index, 0u);
  EXPECT_EQ(two->index, 1u);
}

TEST_F(PlanTest, the_fast_path_lets_nothing_odd_through) {
  const Tensor a{.shape = {128, 64}, .strides = {64, 1}}, b{.shape = {64, 32}, .strides = {32, 1}};
  ASSERT_TRUE(plan.find(std::vector{a.view(), b.view()}));
  const auto hits = [&](const Tensor& odd) { return plan.last(std::vector{odd.view(), b.view()}) != nullptr; };
  EXPECT_TRUE(hits(a));
  Tensor odd = a;
  odd.strides = {1, 128};
  EXPECT_FALSE(hits(odd));
  odd = a;
  odd.dtype = float64;
  EXPECT_FALSE(hits(odd));
  odd = a;
  odd.shape = {128, 64, 1};
  odd.strides = {64, 1, 1};
  EXPECT_FALSE(hits(odd));
  odd = a;
  odd.device = {DeviceId::Kind::cuda, 0};
  EXPECT_FALSE(hits(odd));
  odd = a;
  odd.data = reinterpret_cast<void*>(std::uintptr_t{0x1001});
  EXPECT_FALSE(hits(odd));
  odd = a;
  odd.data = nullptr;
  EXPECT_FALSE(hits(odd));
}

TEST_F(PlanTest, one_specialisation_serves_every_device) {
  Tensor a{.shape = {128, 64}}, b{.shape = {64, 32}};
  const Specialisation* one = plan.find(std::vector{a.view(), b.view()}).value();
  a.device = b.device = {DeviceId::Kind::cuda, 1};
  EXPECT_EQ(plan.last(std::vector{a.view(), b.view()}), one);
}

TEST_F(PlanTest, an_error_of_the_maker_comes_through_and_is_not_kept) {
  const Tensor a{.shape = {13, 64}}, b{.shape = {64, 32}};
  EXPECT_EQ(plan.find(std::vector{a.view(), b.view()}).error().kind, Kind::bad_control_flow);
  EXPECT_EQ(plan.find(std::vector{a.view(), b.view()}).error().kind, Kind::bad_control_flow);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(plan.size(), 0u);
}

TEST_F(PlanTest, an_image_of_another_kernel_is_refused) {
  Plan wrong(matmul, [](const tile::Env&) { return Expected<std::shared_ptr<const KernelImage>>(text_image()); });
  const Tensor a{.shape = {1, 1}};
  EXPECT_EQ(wrong.find(std::vector{a.view(), a.view()}).error().kind, Kind::param_layout);
}

TEST_F(SignatureTest, where_the_caller_wants_an_output) {
  const Signature fill = Signature::make("fill", {}, {tile({32}), tile({32})}, {"Y", "Z"}).value();
  const std::vector<Output> outputs = fill.bind({}).value().outputs;
  const Tensor fits{.shape = {32}};
  EXPECT_TRUE(fill.check_output(0, outputs[0], fits.view(), {}, DeviceId{}));
  const auto refused = [&](const Tensor& tensor, Kind kind) {
    const auto ok = fill.check_output(0, outputs[0], tensor.view(), {}, DeviceId{});
    EXPECT_FALSE(ok);
    if (ok) return std::string();
    EXPECT_EQ(name(ok.error().kind), name(kind));
    return render(ok.error());
  };
  const Tensor on_gpu{.shape = {32}, .device = {DeviceId::Kind::cuda, 0}};
  EXPECT_SAYS(refused(on_gpu, Kind::argument_device),
              "output 0 (`Y`) of kernel `fill`: the tensor is on cuda:0, the call runs on cpu");
  const Tensor odd{.shape = {32}, .data = reinterpret_cast<void*>(std::uintptr_t{0x1002})};
  EXPECT_SAYS(refused(odd, Kind::argument_alignment), "the data pointer 0x1002 is not a multiple of 4 bytes");
}

TEST_F(SignatureTest, outputs_lie_apart) {
  const Signature fill = Signature::make("fill", {}, {tile({32}), tile({32})}, {"Y", "Z"}).value();
  const std::vector<Output> outputs = fill.bind({}).value().outputs;
  std::array<float, 96> memory{};
  void* const apart[] = {memory.data(), memory.data() + 32};
  EXPECT_TRUE(fill.check_apart(outputs, apart));
  void* const shared[] = {memory.data(), memory.data() + 31};
  const auto refused = fill.check_apart(outputs, shared);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::argument_memory);
  EXPECT_SAYS(render(refused.error()), "output 1 (`Z`) of kernel `fill` shares memory with output 0");
}

}  // namespace
}  // namespace ptx::launch
