#include "ptx/ffi/ffi.hpp"

#include <cstring>
#include <deque>

#include "ptx/ffi/xla_abi.hpp"
#include "tests/launch/twice.hpp"

// Plays XLA's part: builds call frames, answers the handler's questions, keeps its errors.
namespace ptx::ffi {
namespace {

using namespace xla;
using launch::KernelImage;

struct Runtime {
  std::string error;
  std::int32_t code = 0;
  void* stream = reinterpret_cast<void*>(std::uintptr_t{0xabc});
  std::int32_t ordinal = 0;
  static Runtime* current;

  Api api{};
  Runtime() {
    current = this;
    api.struct_size = sizeof(Api);
    api.version = {sizeof(Version), nullptr, 0, 3};
    api.error_create = [](ErrorCreateArgs* args) -> void* {
      EXPECT_EQ(args->struct_size, 28u);  // XLA checks it
      current->error = args->message;
      current->code = args->code;
      return current;
    };
    api.stream_get = [](StreamGetArgs* args) -> void* {
      args->stream = current->stream;
      return nullptr;
    };
    api.device_ordinal_get = [](DeviceOrdinalGetArgs* args) -> void* {
      args->ordinal = current->ordinal;
      return nullptr;
    };
  }
};
Runtime* Runtime::current = nullptr;

/// One call site: attributes, arguments, results.
class Site {
 public:
  explicit Site(Runtime& runtime) : runtime_(runtime) {}
  Site(Runtime& runtime, const KernelImage& image) : runtime_(runtime) {
    integer("abi", DataType::s32, launch::abi_version);
    integer("cubin_handle", DataType::s64, image.handle());
    string("key", std::string(image.key().begin(), image.key().end()));
    string("meta", image.meta());
    string("ptx", image.text());
  }

  void integer(const char* name, DataType type, std::int64_t value) {
    integers_.push_back(value);
    scalars_.push_back({type, &integers_.back()});
    attribute(name, AttributeType::scalar, &scalars_.back());
  }
  void string(const char* name, std::string value) {
    strings_.push_back(std::move(value));
    spans_.push_back({strings_.back().data(), strings_.back().size()});
    attribute(name, AttributeType::string, &spans_.back());
  }
  void argument(void* data, std::vector<std::int64_t> dims, DataType type = DataType::f32) {
    arguments_.push_back(buffer(data, std::move(dims), type));
  }
  void result(void* data, std::vector<std::int64_t> dims, DataType type = DataType::f32) {
    results_.push_back(buffer(data, std::move(dims), type));
  }

  /// What the handler returned: null for success.
  void* call(void* (*handler)(void*) noexcept, Stage stage) {
    runtime_.error.clear();
    runtime_.code = 0;
    CallFrame frame{};
    frame.struct_size = sizeof frame;
    frame.api = &runtime_.api;
    frame.stage = stage;
    frame.args = {sizeof(Buffers), nullptr, static_cast<std::int64_t>(arguments_.size()), types_.data(), arguments_.data()};
    frame.results = {sizeof(Buffers), nullptr, static_cast<std::int64_t>(results_.size()), types_.data(), results_.data()};
    frame.attributes = {sizeof(Attributes),
                        nullptr,
                        static_cast<std::int64_t>(attribute_values_.size()),
                        attribute_types_.data(),
                        attribute_names_.data(),
                        attribute_values_.data()};
    return handler(&frame);
  }
  void* cpu(Stage stage) { return call(pyptx_xla_launch_cpu, stage); }
  void* cuda(Stage stage) { return call(pyptx_xla_launch_cuda, stage); }

 private:
  void attribute(const char* name, AttributeType type, void* value) {
    spans_.push_back({name, std::strlen(name)});
    attribute_names_.push_back(&spans_.back());
    attribute_types_.push_back(type);
    attribute_values_.push_back(value);
  }
  void* buffer(void* data, std::vector<std::int64_t> dims, DataType type) {
    dims_.push_back(std::move(dims));
    buffers_.push_back(
        {sizeof(Buffer), nullptr, type, data, static_cast<std::int64_t>(dims_.back().size()), dims_.back().data()});
    return &buffers_.back();
  }

  Runtime& runtime_;
  std::deque<std::int64_t> integers_;
  std::deque<Scalar> scalars_;
  std::deque<std::string> strings_;
  std::deque<ByteSpan> spans_;
  std::deque<std::vector<std::int64_t>> dims_;
  std::deque<Buffer> buffers_;
  std::vector<ByteSpan*> attribute_names_;
  std::vector<AttributeType> attribute_types_;
  std::vector<void*> attribute_values_, arguments_, results_;
  std::vector<std::int32_t> types_ = std::vector<std::int32_t>(8, 1);
};

class XlaTest : public ::testing::Test {
 protected:
  bool error_says(std::string_view text) const { return runtime.error.find(text) != std::string::npos; }
  Runtime runtime;
  std::vector<float> x = std::vector<float>(32, 1.5f), y = std::vector<float>(32);
};

TEST_F(XlaTest, answers_with_the_version_of_the_runtime_and_never_writes_past_the_traits) {
  for (const auto& [runtime_minor, answered] : {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 4}, {9, 4}}) {
    struct {
      Metadata metadata{};
      std::uint64_t canary = 0x1122334455667788;
    } reply;
    std::memset(&reply.metadata, 0xEE, sizeof reply.metadata);
    MetadataExtension extension{{sizeof(MetadataExtension), ExtensionType::metadata, nullptr}, &reply.metadata};
    CallFrame frame{};
    frame.extension = &extension.base;
    runtime.api.version.minor = runtime_minor;
    frame.api = &runtime.api;
    ASSERT_EQ(pyptx_xla_launch_cuda(&frame), nullptr);
    EXPECT_EQ(reply.metadata.version.major, 0);
    EXPECT_EQ(reply.metadata.version.minor, answered);
    EXPECT_EQ(reply.metadata.traits, command_buffer_compatible);
    EXPECT_EQ(reply.canary, 0x1122334455667788u);
    std::uint32_t behind = 0;
    std::memcpy(&behind, reinterpret_cast<const char*>(&reply.metadata) + offsetof(Metadata, traits) + 4, 4);
    EXPECT_EQ(behind, 0xEEEEEEEEu);
    frame.api = nullptr;  // jaxlib 0.5.0
    ASSERT_EQ(pyptx_xla_launch_cpu(&frame), nullptr);
    EXPECT_EQ(reply.metadata.version.minor, 1);
  }
}

TEST_F(XlaTest, runs_a_registered_kernel_on_the_cpu) {
  const auto image = launch::twice_image();
  ASSERT_TRUE(launch::Registry::process().add(image));
  Site site(runtime, *image);
  EXPECT_EQ(site.cpu(Stage::instantiate), nullptr) << runtime.error;
  site.argument(x.data(), {4, 8});
  site.result(y.data(), {32});
  EXPECT_EQ(site.cpu(Stage::execute), nullptr) << runtime.error;
  for (const float value : y) EXPECT_EQ(value, 3.0f);
}

TEST_F(XlaTest, a_handle_alone_names_a_kernel_of_this_process) {
  const auto image = launch::twice_image();
  ASSERT_TRUE(launch::Registry::process().add(image));
  Site site(runtime);
  site.integer("cubin_handle", DataType::s64, image->handle());
  site.argument(x.data(), {32});
  site.result(y.data(), {32});
  EXPECT_EQ(site.cpu(Stage::execute), nullptr) << runtime.error;
  EXPECT_EQ(y[5], 3.0f);

  Site unknown(runtime);
  unknown.integer("cubin_handle", DataType::s64, 42);
  EXPECT_NE(unknown.cpu(Stage::instantiate), nullptr);
  EXPECT_EQ(runtime.code, static_cast<std::int32_t>(ErrorCode::not_found));
  EXPECT_TRUE(error_says("no kernel with handle 42 is registered in this process"));
}

TEST_F(XlaTest, a_buffer_that_is_too_small_is_an_error_of_the_kernel) {
  const auto image = launch::twice_image();
  ASSERT_TRUE(launch::Registry::process().add(image));
  Site site(runtime, *image);
  site.argument(x.data(), {31});
  site.result(y.data(), {32});
  EXPECT_NE(site.cpu(Stage::execute), nullptr);
  EXPECT_EQ(runtime.code, static_cast<std::int32_t>(ErrorCode::out_of_range));
  EXPECT_TRUE(error_says("[out_of_bounds]")) << runtime.error;
}

TEST_F(XlaTest, refuses_another_number_of_buffers) {
  const auto image = launch::twice_image();
  ASSERT_TRUE(launch::Registry::process().add(image));
  Site site(runtime, *image);
  site.argument(x.data(), {32});
  EXPECT_NE(site.cpu(Stage::execute), nullptr);
  EXPECT_TRUE(error_says("kernel `twice` takes 1 inputs and 1 outputs; the call has 1 and 0"));
}

TEST_F(XlaTest, a_text_without_the_kernel_is_the_drivers_to_refuse_and_says_why_not_on_the_cpu) {
  FakeCuda& fake = launch::fake_driver();
  const auto foreign = launch::text_image("kernel", {.grid = {16, 1, 1}, .block = {64, 1, 1}});  // never registered here
  ASSERT_EQ(launch::Registry::process().find(foreign->key()), nullptr);
  Site site(runtime, *foreign);
  EXPECT_NE(site.cpu(Stage::instantiate), nullptr);
  EXPECT_TRUE(error_says("the text has no kernel `kernel`"));

  EXPECT_EQ(site.cuda(Stage::instantiate), nullptr) << runtime.error;
  runtime.ordinal = 1;
  EXPECT_EQ(site.cuda(Stage::prepare), nullptr) << runtime.error;
  const std::size_t loads = fake.count("cuLibraryLoadData");
  EXPECT_EQ(loads, 1u);
  EXPECT_EQ(site.cuda(Stage::initialize), nullptr) << runtime.error;
  site.argument(x.data(), {32});
  site.result(y.data(), {32});
  EXPECT_EQ(site.cuda(Stage::execute), nullptr) << runtime.error;
  EXPECT_EQ(fake.count("cuLibraryLoadData"), loads);
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].config.stream, runtime.stream);
  EXPECT_EQ(fake.launches[0].context, fake_context(1));
  EXPECT_EQ(fake.launches[0].config.grid_x, 16u);
}

TEST_F(XlaTest, prepares_nothing_where_xla_does_not_say_which_gpu) {
  FakeCuda& fake = launch::fake_driver();
  const auto image = launch::text_image("kernel", {.grid = {3, 1, 1}});
  Site site(runtime, *image);
  runtime.ordinal = -1;
  EXPECT_EQ(site.cuda(Stage::prepare), nullptr) << runtime.error;
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 0u);
  runtime.api.struct_size = offsetof(Api, device_ordinal_get);  // jaxlib 0.5
  EXPECT_NE(site.cuda(Stage::execute), nullptr);
  EXPECT_TRUE(error_says("jaxlib 0.6 or later does"));
}

TEST_F(XlaTest, refuses_attributes_that_it_did_not_write) {
  const auto image = launch::text_image("kernel", {.grid = {5, 1, 1}});
  const std::string key(image->key().begin(), image->key().end());
  const auto refused = [&](Site& site, std::string_view part) {
    EXPECT_NE(site.cuda(Stage::instantiate), nullptr);
    EXPECT_EQ(runtime.code, static_cast<std::int32_t>(ErrorCode::invalid_argument));
    EXPECT_TRUE(error_says(part)) << runtime.error;
  };
  Site nothing(runtime);
  refused(nothing, "neither `key` nor `cubin_handle`");
  Site newer(runtime);
  newer.integer("abi", DataType::s32, 3);
  newer.string("key", key);
  refused(newer, "made for launch ABI 3; this process has ABI 2");
  Site narrow(runtime);
  narrow.integer("cubin_handle", DataType::s32, 2);
  refused(narrow, "does not know the attribute `cubin_handle` in this form");
  Site shorter(runtime);
  shorter.string("key", key.substr(1));
  refused(shorter, "31 bytes, not 32");
  Site bare(runtime);
  bare.string("key", key);
  refused(bare, "carries a key, but not the kernel's `meta` and `ptx`");
  Site forged(runtime);
  forged.string("key", key);
  forged.string("meta", image->meta());
  forged.string("ptx", image->text() + "// more\n");
  refused(forged, "do not have the key that the call names");
  Site damaged(runtime);
  damaged.string("key", key);
  damaged.string("meta", image->meta().substr(1));
  damaged.string("ptx", image->text());
  refused(damaged, "not a launch record");
}

}  // namespace
}  // namespace ptx::ffi
