#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <numeric>
#include <stdexcept>

#include "ptx/ffi/ffi.hpp"
#include "ptx/ffi/torch_abi.hpp"
#include "tests/launch/twice.hpp"

// Plays torch's part: lists, strings and tensors, what is registered, and who owns what.
namespace ptx::ffi {
namespace torch {

struct TensorOpaque {
  std::vector<float> memory;
  std::vector<std::int64_t> sizes, strides;
  std::size_t offset = 0;
  int owners = 1;
};
struct ListOpaque {
  std::vector<Value> values;
};
struct StringOpaque {
  std::string text;
};
struct LibraryOpaque {
  std::string backend;
};

}  // namespace torch

namespace {

using namespace torch;  // the structures

constexpr std::int32_t float_number = 6;

struct Torch {
  std::map<std::string, Boxed> kernels;
  std::vector<std::string> schemas;
  int tensors = 0, lists = 0, strings = 0;  // alive
  bool out_of_memory = false;

  static Torch& process() {
    static Torch& torch = *new Torch;
    return torch;
  }
  Tensor tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, float first = 0) {
    ++tensors;
    auto* made = new TensorOpaque{.memory = {}, .sizes = std::move(sizes), .strides = std::move(strides)};
    std::size_t room = 1;
    for (std::size_t i = 0; i < made->sizes.size(); ++i)
      room += static_cast<std::size_t>((made->sizes[i] - 1) * made->strides[i]);
    made->memory.resize(room);
    std::iota(made->memory.begin(), made->memory.end(), first);
    return made;
  }
  Value list(std::vector<Value> values) {
    ++lists;
    return reinterpret_cast<Value>(new ListOpaque{std::move(values)});
  }
  Value string(std::string text) {
    ++strings;
    return reinterpret_cast<Value>(new StringOpaque{std::move(text)});
  }
};

Api played() {
  Api api;
  api.library_init_fragment = [](const char*, const char*, std::uint32_t, Library* out) {
    static LibraryOpaque fragment;
    *out = &fragment;
    return 0;
  };
  api.library_init_impl = [](const char*, const char* backend, const char*, std::uint32_t, Library* out) {
    static std::map<std::string, LibraryOpaque> libraries;
    *out = &(libraries[backend] = {backend});
    return 0;
  };
  api.library_def = [](Library, const char* schema) {
    Torch::process().schemas.emplace_back(schema);
    return 0;
  };
  api.library_impl = [](Library library, const char* name, Boxed kernel, std::uint64_t version) {
    EXPECT_EQ(version, spoken_version);
    Torch::process().kernels[cat(name, '/', library->backend)] = kernel;
    return 0;
  };
  api.list_new = [](std::size_t, List* out) {
    *out = reinterpret_cast<List>(Torch::process().list({}));
    return 0;
  };
  api.list_size = [](List list, std::size_t* size) {
    *size = list->values.size();
    return 0;
  };
  api.list_get = [](List list, std::size_t i, Value* out) {
    *out = list->values.at(i);
    return 0;
  };
  api.list_push = [](List list, Value value) {
    list->values.push_back(value);
    return 0;
  };
  api.list_delete = [](List list) {
    --Torch::process().lists;
    delete list;
    return 0;
  };
  api.string_length = [](String string, std::size_t* length) {
    *length = string->text.size();
    return 0;
  };
  api.string_data = [](String string, const char** data) {
    *data = string->text.data();
    return 0;
  };
  api.string_delete = [](String string) {
    --Torch::process().strings;
    delete string;
    return 0;
  };
  api.tensor_delete = [](Tensor tensor) {
    if (--tensor->owners != 0) return 0;
    --Torch::process().tensors;
    delete tensor;
    return 0;
  };
  api.tensor_data = [](Tensor tensor, void** data) {
    *data = tensor->memory.data() + tensor->offset;
    return 0;
  };
  api.tensor_rank = [](Tensor tensor, std::int64_t* rank) {
    *rank = static_cast<std::int64_t>(tensor->sizes.size());
    return 0;
  };
  api.tensor_sizes = [](Tensor tensor, std::int64_t** sizes) {
    *sizes = tensor->sizes.data();
    return 0;
  };
  api.tensor_strides = [](Tensor tensor, std::int64_t** strides) {
    *strides = tensor->strides.data();
    return 0;
  };
  api.tensor_dtype = [](Tensor, std::int32_t* dtype) {
    *dtype = float_number;
    return 0;
  };
  api.tensor_device_type = [](Tensor, std::int32_t* type) {
    *type = 0;
    return 0;
  };
  api.tensor_device_index = [](Tensor, std::int32_t* index) {
    *index = -1;
    return 0;
  };
  api.tensor_empty = [](std::int64_t rank, const std::int64_t* sizes, const std::int64_t* strides, std::int32_t dtype,
                        std::int32_t, std::int32_t, Tensor* out) {
    EXPECT_EQ(dtype, float_number);
    if (Torch::process().out_of_memory) return 1;
    *out = Torch::process().tensor({sizes, sizes + rank}, {strides, strides + rank}, -100);
    return 0;
  };
  api.tensor_copy = [](Tensor to, Tensor from, std::int32_t) {
    for (std::size_t i = 0; i < to->memory.size(); ++i)
      to->memory[i] = from->memory[i * static_cast<std::size_t>(from->strides[0])];
    return 0;
  };
  api.types[float_number] = *launch::element_type_from_name("float32");
  return api;
}

std::string adopted;

/// Y = 2 * X for 32 elements.
launch::Plan& twice_plan() {
  static launch::Plan& plan = *[] {
    const Tile tile = Tile::make({32}, Type::f32).value();
    return new launch::Plan(launch::Signature::make("twice", {tile}, {tile}, {"X", "Y"}).value(),
                            [](const tile::Env&) { return Expected(launch::twice_image()); });
  }();
  return plan;
}

/// X = 2 * X for 32 elements.
launch::Plan& doubling_plan() {
  static launch::Plan& plan = *[] {
    const Tile tile = Tile::make({32}, Type::f32).value();
    const auto twice = launch::twice_image();
    const auto doubling = launch::KernelImage::from_text(
        std::string(twice->text()), twice->spec().with_aliases({{.input = 0, .output = 0}}).value().serialise());
    return new launch::Plan(launch::Signature::make("doubling", {tile}, {tile}, {"X", "Y"}).value(),
                            [image = doubling.value()](const tile::Env&) { return Expected(image); });
  }();
  return plan;
}

class TorchTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto adopt = [](std::string_view key, std::string_view payload) -> Expected<void> {
      adopted = payload;
      if (payload == "spoiled") return Unexpected{{.kind = Kind::bad_image, .message = "the payload is spoiled"}};
      if (payload != "another") add_torch_kernel(key, {.plan = &twice_plan(), .aliases = {}});
      return {};
    };
    ASSERT_TRUE(register_torch_operators(played(), TorchSchemas::define, {.adopt = adopt}));
    add_torch_kernel("twice", {.plan = &twice_plan(), .aliases = {}});
    add_torch_kernel("in place", {.plan = &twice_plan(), .aliases = {{0, 0}}});
  }
  void TearDown() override {
    EXPECT_EQ(torch.tensors, 0);
    EXPECT_EQ(torch.lists, 0);
    EXPECT_EQ(torch.strings, 0);
  }

  Tensor ramp(std::int64_t size = 32, std::int64_t stride = 1) { return torch.tensor({size}, {stride}); }
  static Value borrow(Tensor tensor) {
    ++tensor->owners;
    return reinterpret_cast<Value>(tensor);
  }
  static Value give(Tensor tensor) { return reinterpret_cast<Value>(tensor); }
  static void drop(Tensor tensor) { played().tensor_delete(tensor); }

  /// The results of `pyptx::launch`; the error's text when it throws.
  std::string launch(const std::string& key, std::vector<Value> inputs, std::vector<Value> scalars = {},
                     const std::string& payload = {}) {
    std::array<Value, 4> stack = {torch.string(key), torch.string(payload), torch.list(std::move(inputs)),
                                  torch.list(std::move(scalars))};
    try {
      torch.kernels.at("launch/CPU")(stack.data(), 4, 1);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    auto* list = reinterpret_cast<List>(stack[0]);
    for (const Value value : list->values) {
      results.push_back(reinterpret_cast<Tensor>(value)->memory);
      drop(reinterpret_cast<Tensor>(value));
    }
    played().list_delete(list);
    return {};
  }
  std::string launch_into(const std::string& key, std::vector<Value> inputs, std::vector<Value> outputs) {
    std::array<Value, 5> stack = {torch.string(key), torch.string({}), torch.list(std::move(inputs)),
                                  torch.list(std::move(outputs)), torch.list({0})};
    try {
      torch.kernels.at("launch_/CPU")(stack.data(), 5, 0);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  }
  static bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

  Torch& torch = Torch::process();
  std::vector<std::vector<float>> results;
};

TEST_F(TorchTest, registers_its_operators_once) {
  EXPECT_TRUE(register_torch_operators(played(), TorchSchemas::define));
  ASSERT_EQ(torch.schemas.size(), 4u);
  EXPECT_EQ(torch.schemas[0], "launch(str key, str payload, Tensor[] inputs, int[] scalars) -> Tensor[]");
  for (const char* name : {"launch", "launch_", "exported", "exported_"})
    EXPECT_TRUE(torch.kernels.contains(std::string(name) + "/CPU")) << name;
  EXPECT_EQ(torch.kernels.size(), 8u);
}

TEST_F(TorchTest, a_tensor_that_no_output_has_is_not_handed_over) {
  add_torch_kernel("changes and does not say so", {.plan = &doubling_plan(), .aliases = {}});
  const Tensor x = ramp();
  const std::string said = launch("changes and does not say so", {borrow(x)});
  EXPECT_TRUE(has(said, "writes its argument 0; `pyptx::launch_` is the operator that does")) << said;
  EXPECT_TRUE(results.empty());
  drop(x);
}

TEST_F(TorchTest, a_process_without_torch_is_told_so) {
  const auto found = Api::find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, Kind::torch_abi);
  EXPECT_TRUE(launch::says(found.error(), "`torch_library_impl`"));
}

TEST_F(TorchTest, launches) {
  for (int again = 0; again < 2; ++again) EXPECT_EQ(launch("twice", {give(ramp())}), "");
  ASSERT_EQ(results.size(), 2u);
  for (const auto& result : results)
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], 2.0f * static_cast<float>(i));
}

TEST_F(TorchTest, inputs_are_put_in_row_major_order) {
  EXPECT_EQ(launch("twice", {give(ramp(32, 3))}), "");
  EXPECT_EQ(results.at(0).at(7), 42.0f);
  const Tensor out = ramp();
  EXPECT_EQ(launch_into("twice", {give(ramp(32, 2))}, {borrow(out)}), "");
  EXPECT_EQ(out->memory[7], 28.0f);
  drop(out);
}

TEST_F(TorchTest, launches_into_the_callers_tensors) {
  const Tensor out = ramp(), both = ramp();
  EXPECT_EQ(launch_into("twice", {give(ramp())}, {borrow(out)}), "");
  EXPECT_EQ(out->memory[31], 62.0f);
  EXPECT_EQ(launch_into("in place", {}, {borrow(both)}), "");
  EXPECT_EQ(both->memory[31], 62.0f);
  EXPECT_EQ(launch_into("in place", {give(ramp(3))}, {borrow(both)}), "") << "one tensor may stand in for no inputs";
  EXPECT_EQ(both->memory[31], 124.0f);
  drop(out);
  drop(both);
  EXPECT_TRUE(has(launch_into("twice", {give(ramp())}, {}), "gives 1 tensors; the call has 0"));
  EXPECT_TRUE(has(launch_into("twice", {give(ramp())}, {give(ramp(16))}), "[argument_dim]"));
  EXPECT_TRUE(has(launch_into("twice", {give(ramp())}, {give(ramp(32, 2))}), "[argument_layout]"));
  EXPECT_TRUE(has(launch_into("in place", {give(ramp()), give(ramp())}, {give(ramp())}), "[argument_count]"));
  EXPECT_TRUE(has(launch("in place", {give(ramp())}), "`pyptx::launch_` is the operator that does"));
}

TEST_F(TorchTest, errors_are_thrown_and_nothing_is_lost) {
  EXPECT_TRUE(has(launch("twice", {}), "takes 1 tensor (`X`); the call has 0"));
  EXPECT_TRUE(has(launch("twice", {give(ramp(16))}), "[argument_dim]"));
  EXPECT_TRUE(has(launch("twice", {give(ramp())}, {1}), "two numbers for each"));
  EXPECT_TRUE(has(launch("twice", {give(ramp())}, {~Value{0}}), "two numbers for each"));
  EXPECT_TRUE(has(launch("twice", {give(ramp())}, {1, 1, 7}), "has 0 scalar parameters; the launch has 1"));
  std::vector<Value> many;
  for (int i = 0; i < 20; ++i) many.push_back(give(ramp()));
  EXPECT_TRUE(has(launch("twice", std::move(many)), "the call has 20"));
  torch.out_of_memory = true;
  EXPECT_EQ(launch("twice", {give(ramp())}), "pyptx: torch cannot allocate a tensor");
  torch.out_of_memory = false;
  EXPECT_TRUE(results.empty());
}

TEST_F(TorchTest, a_key_that_is_not_known_needs_a_payload) {
  EXPECT_TRUE(has(launch("nobody", {give(ramp())}), "no kernel of this process has the key `nobody`"));
  EXPECT_TRUE(has(launch("nobody", {give(ramp())}, {}, "spoiled"), "the payload is spoiled"));
  EXPECT_TRUE(has(launch("nobody", {give(ramp())}, {}, "another"), "holds another kernel than `nobody`"));
  EXPECT_EQ(launch("newcomer", {give(ramp())}, {0}, "packed"), "");
  EXPECT_EQ(adopted, "packed");
  adopted.clear();
  EXPECT_EQ(launch("newcomer", {give(ramp())}, {0}, "packed"), "");
  EXPECT_EQ(adopted, "");
  EXPECT_FALSE(add_torch_kernel("newcomer", {}));
}

}  // namespace
}  // namespace ptx::ffi
