#include "ptx/launch/call.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "tests/launch/twice.hpp"

namespace ptx::launch {

std::size_t allocations_of_this_thread();  // image_test.cpp, which counts them for the whole program

namespace {

const cuda::api::Stream some_stream = reinterpret_cast<cuda::api::Stream>(std::uintptr_t{0x77});

/// A library that notes what a call asks of it.
struct Noting : CallLibrary {
  std::vector<std::string> asked;
  std::vector<TensorView> outputs;  // that are there
  std::vector<std::vector<float>> made;
  void* address = nullptr;  // of new memory, in place of `made`
  bool quiet = false;

  void note(std::string what) {
    if (!quiet) asked.push_back(std::move(what));
  }
  Expected<TensorView> given(std::size_t output) {
    note(cat("given ", output));
    return outputs[output];
  }
  void changes(std::size_t output, std::size_t input) { note(cat("changes ", output, " at ", input)); }
  Expected<void*> allocate(std::size_t output) {
    note(cat("allocate ", output));
    if (address != nullptr) return address;
    return made.emplace_back(32).data();
  }
  Expected<cuda::api::Stream> stream(int ordinal) {
    note(cat("stream ", ordinal));
    return some_stream;
  }
  void loading() { note("loading"); }
  Expected<void> loaded(const KernelImage&, Expected<void> ready) {
    note("loaded");
    return ready;
  }
};

class CallTest : public ::testing::Test {
 protected:
  static Tile vector() { return Tile::make({32}, Type::f32).value(); }
  static Plan plan_of(std::size_t inputs, std::size_t outputs, std::shared_ptr<const KernelImage> image) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < inputs + outputs; ++i) names.push_back(cat("T", i));
    return Plan(Signature::make("k", std::vector(inputs, vector()), std::vector(outputs, vector()), names).value(),
                [image = std::move(image)](const tile::Env&) { return Expected(image); });
  }
  TensorView view(void* data, DeviceId device = {}) const {
    return {.data = data, .dtype = {2, 32}, .device = device, .rank = 1, .shape = shape};
  }
  static std::shared_ptr<const KernelImage> image_with(std::uint32_t inputs, std::uint32_t outputs, std::vector<Alias> aliases,
                                                       std::uint32_t smem) {
    const auto spec = LaunchSpec::make("kernel", {.dynamic_smem_bytes = smem}, inputs, outputs).value().with_aliases(aliases);
    return KernelImage::from_text(".version 8.5\n.target sm_90a\n", spec->serialise()).value();
  }
  const std::int64_t shape[1] = {32};
  std::vector<float> x = std::vector<float>(32, 3.0f), y = std::vector<float>(32);
  Noting library;
};

TEST_F(CallTest, new_outputs_are_allocated_and_a_run_on_the_host_asks_for_no_stream) {
  Plan plan = plan_of(1, 1, twice_image());
  const TensorView inputs[] = {view(x.data())};
  const auto ran = run({.plan = plan, .specialisation = *plan.get(inputs).value(), .inputs = inputs}, library);
  ASSERT_TRUE(ran) << render(ran.error());
  EXPECT_EQ(library.asked, (std::vector<std::string>{"allocate 0"}));
  EXPECT_EQ(library.made.at(0), std::vector<float>(32, 6.0f));
}

TEST_F(CallTest, outputs_that_are_given_are_checked_and_written) {
  Plan plan = plan_of(1, 1, twice_image());
  const TensorView inputs[] = {view(x.data())};
  const Call call{.plan = plan, .specialisation = *plan.get(inputs).value(), .inputs = inputs, .gives_outputs = true};
  library.outputs = {view(y.data())};
  ASSERT_TRUE(run(call, library));
  EXPECT_EQ(library.asked, (std::vector<std::string>{"given 0"}));
  EXPECT_EQ(y, std::vector<float>(32, 6.0f));
  library.outputs[0].data = x.data() + 1;
  const auto refused = run(call, library);
  EXPECT_EQ(refused.error().kind, Kind::argument_memory);
  EXPECT_TRUE(says(refused.error(), "output 0 (`T1`) of kernel `k`: the tensor overlaps argument 0 (`T0`)"));
}

TEST_F(CallTest, an_input_that_is_changed_is_the_output) {
  FakeCuda& fake = fake_driver();
  Plan plan = plan_of(2, 2, image_with(2, 2, {{.input = 1, .output = 0}}, 16));
  const DeviceId gpu{DeviceId::Kind::cuda, 0};
  TensorView inputs[] = {view(reinterpret_cast<void*>(0x1000), gpu), view(reinterpret_cast<void*>(0x2000), gpu)};
  fake.kernels["kernel"].params = {{0, 8}, {8, 8}, {16, 8}, {24, 8}};
  library.address = reinterpret_cast<void*>(0x3000);
  const Specialisation& specialisation = *plan.get(inputs).value();
  const auto ran = run({.plan = plan, .specialisation = specialisation, .inputs = inputs}, library);
  ASSERT_TRUE(ran) << render(ran.error());
  EXPECT_EQ(library.asked, (std::vector<std::string>{"changes 0 at 1", "allocate 1", "stream 0", "loading", "loaded"}));
  std::vector<std::uintptr_t> passed(4);
  for (std::size_t i = 0; i < 4; ++i) std::memcpy(&passed[i], fake.launches.back().params.at(i).data(), 8);
  EXPECT_EQ(passed, (std::vector<std::uintptr_t>{0x1000, 0x2000, 0x2000, 0x3000}));
  EXPECT_EQ(fake.launches.back().config.stream, some_stream);

  library.address = inputs[1].data;
  const auto shared = run({.plan = plan, .specialisation = specialisation, .inputs = inputs}, library);
  EXPECT_TRUE(says(shared.error(), "output 1 (`T3`) of kernel `k` shares memory with output 0"));
  inputs[1].read_only = true;
  const auto refused = run({.plan = plan, .specialisation = specialisation, .inputs = inputs}, library);
  EXPECT_EQ(refused.error().kind, Kind::argument_memory);
  EXPECT_TRUE(says(refused.error(), "argument 1 (`T1`) of kernel `k`: the kernel writes it, and it is read-only"));
}

TEST_F(CallTest, on_a_gpu_it_loads_once_and_then_neither_allocates_nor_asks_again) {
  FakeCuda& fake = fake_driver();
  Plan plan = plan_of(1, 1, image_with(1, 1, {}, 32));
  const TensorView inputs[] = {view(reinterpret_cast<void*>(0x1000), {DeviceId::Kind::cuda, 1})};
  library.address = reinterpret_cast<void*>(0x3000);
  const Call call{.plan = plan, .specialisation = *plan.get(inputs).value(), .inputs = inputs};
  ASSERT_TRUE(run(call, library));
  EXPECT_EQ(library.asked, (std::vector<std::string>{"allocate 0", "stream 1", "loading", "loaded"}));
  library.asked.clear();
  ASSERT_TRUE(run(call, library));
  EXPECT_EQ(library.asked, (std::vector<std::string>{"allocate 0", "stream 1"}));
  EXPECT_EQ(fake.launches.size(), 2u);
  fake.recording = false;
  library.quiet = true;
  const std::size_t before = allocations_of_this_thread();
  const auto* specialisation = plan.last(inputs);
  ASSERT_TRUE(specialisation != nullptr && run(call, library));
  EXPECT_EQ(allocations_of_this_thread(), before);
}

TEST_F(CallTest, a_load_that_fails_is_told_to_the_library) {
  FakeCuda& fake = fake_driver();
  fake.fail["cuLibraryLoadData"] = cuda::api::Result::out_of_memory;
  Plan plan = plan_of(1, 1, image_with(1, 1, {}, 48));
  const TensorView inputs[] = {view(reinterpret_cast<void*>(0x1000), {DeviceId::Kind::cuda, 0})};
  library.address = reinterpret_cast<void*>(0x3000);
  EXPECT_FALSE(run({.plan = plan, .specialisation = *plan.get(inputs).value(), .inputs = inputs}, library));
  EXPECT_EQ(library.asked.back(), "loaded");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CallTest, addresses_alone_are_held_apart) {
  (void)fake_driver();
  const auto image = image_with(1, 1, {}, 64);
  const DeviceId gpu{DeviceId::Kind::cuda, 0};
  void* const addresses[] = {reinterpret_cast<void*>(0x1000), reinterpret_cast<void*>(0x1010)};
  const std::size_t bytes[] = {128, 128};
  const auto refused = run_apart(*image, gpu, addresses, bytes, {}, true, library);
  EXPECT_TRUE(says(refused.error(), "output 0 of kernel `kernel` overlaps input 0 in memory"));
  EXPECT_TRUE(library.asked.empty());
}

}  // namespace
}  // namespace ptx::launch
