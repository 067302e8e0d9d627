#include "ptx/launch/archive.hpp"

#include "ptx/cuda/cuda.hpp"
#include "ptx/launch/ready.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/fake_ptxas.hpp"
#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

constexpr std::string_view plain_text =
    ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 a, .param .u64 b)\n{\n\tret;\n}\n";

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() { unsetenv("PYPTX_JIT"); }
  static Compiled scaled() {
    const std::vector<Tile> tiles{Tile::make({"M"}, Type::f32).value(), Tile::make({32}, Type::f32).value()};
    return compile(twice_module(true), {.block = {32}, .scalars = {3.0}, .tiles = tiles}).value();
  }
  std::string bytes() const { return cuda::read_file(path).value(); }
  static Diagnostic refusal(std::string_view saved) {
    const auto read = read_saved(saved, "it");
    EXPECT_FALSE(read);
    return read ? Diagnostic{} : read.error();
  }

  FakeCuda& fake = fake_driver();
  cuda::FakePtxas ptxas;
  const std::string path = (ptxas.folder() / "twice.ptxk").string();
};

TEST_F(ArchiveTest, a_saved_kernel_runs_on_the_cpu) {
  const Compiled kernel = scaled();
  const auto saved = kernel.save(path);
  ASSERT_TRUE(saved) << render(saved.error());
  EXPECT_TRUE(saved->empty());
  const auto loaded = load(path);
  ASSERT_TRUE(loaded) << render(loaded.error());
  EXPECT_EQ(loaded->image().key(), kernel.image().key());
  EXPECT_EQ(loaded->ptx(), kernel.ptx());
  std::vector<float> x(32, 2.0f), y(32);
  ASSERT_TRUE(loaded->run(cpu(), {x}, {y}));
  EXPECT_EQ(y[31], 6.0f);
  ASSERT_TRUE(loaded->with_scalars({-1.0})->run(cpu(), {x}, {y}));
  EXPECT_EQ(y[31], -2.0f);
  y.resize(31);
  EXPECT_TRUE(says(loaded->run(cpu(), {x}, {y}).error(), "output 0 (`Y`) of kernel `twice` is 31 elements; float32[32] has 32"));
  y.resize(32);
  x.resize(16);
  EXPECT_TRUE(says(loaded->run(cpu(), {x}, {y}).error(), "`X`")) << "tensors keep their names";
}

TEST_F(ArchiveTest, and_on_a_gpu_without_a_compiler) {
  ASSERT_TRUE(scaled().save(path));
  EXPECT_EQ(ptxas.compiles(), 1u);
  fake.kernels["twice"].params = {{0, 8}, {8, 8}, {16, 4}};
  ptxas.remove();
  const ScopedVariable off("PYPTX_CACHE_DIR", "off");
  const ScopedVariable forbidden("PYPTX_NO_COMPILE", "1");
  const auto loaded = load(path).value();
  const auto ready = loaded.image().prepare(0);
  ASSERT_TRUE(ready) << render(ready.error());
  EXPECT_EQ(fake.images, std::vector<std::string>{"cubin"});
  // It can be saved again, too.
  const std::string before = bytes();
  ASSERT_TRUE(loaded.save(path));
  EXPECT_EQ(bytes(), before);
}

TEST_F(ArchiveTest, machine_code_for_several_targets) {
  auto image = KernelImage::from_text(std::string(plain_text), LaunchSpec::make("kernel", {}, 1, 1).value().serialise()).value();
  ASSERT_TRUE(save(path, *image, {.targets = {{"sm_90", "sm_80", "sm_90"}}}));
  const auto loaded = load_saved(path).value();
  ASSERT_EQ(loaded.image->ready_cubins().size(), 2u);
  EXPECT_EQ(loaded.image->ready_cubins()[0].target, "sm_80");
  EXPECT_EQ(loaded.image->ready_cubins()[1].bytes,
            "\x7f"
            "ELF sm_90");
  EXPECT_TRUE(loaded.image->prepare(0));
  EXPECT_EQ(fake.images, std::vector<std::string>{"cubin"});
  EXPECT_EQ(ptxas.compiles(), 2u);
  EXPECT_EQ(save(path, *image, {.targets = {{"sm_75"}}}).error().kind, Kind::wrong_device);
  EXPECT_EQ(save(path, *image, {.targets = {{"h100"}}}).error().kind, Kind::unknown_target);
  EXPECT_EQ(load_saved(path)->image->ready_cubins().size(), 2u) << "a failure leaves the old file";
  // With another GPU's code alone, or with none, the text is compiled.
  for (const auto& targets : {std::vector<std::string>{}, std::vector<std::string>{"sm_80"}}) {
    fake.images.clear();
    const std::size_t before = ptxas.compiles();
    ASSERT_TRUE(save(path, *image, {.targets = targets}));
    EXPECT_TRUE(load_saved(path)->image->prepare(0));
    EXPECT_EQ(ptxas.compiles(), before) << "sm_90 is in the cache";
    EXPECT_EQ(fake.images, std::vector<std::string>{"cubin"});
  }
}

TEST_F(ArchiveTest, warnings_come_back_when_it_is_saved_and_when_it_is_loaded) {
  ptxas.install("13.0",
                "echo \"ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register "
                "requirements.\"");
  const auto warnings = scaled().save(path);
  ASSERT_TRUE(warnings);
  ASSERT_EQ(warnings->size(), 1u);
  EXPECT_EQ((*warnings)[0].kind, Kind::setmaxnreg_ignored);
  fake.kernels["twice"].params = {{0, 8}, {8, 8}, {16, 4}};
  const auto loaded = load(path).value();
  ASSERT_TRUE(loaded.image().prepare(0));
  EXPECT_EQ(loaded.image().take_load_warnings().size(), 1u);
  const ScopedVariable strict("PYPTX_STRICT", "1");
  EXPECT_EQ(load(path)->image().prepare(0).error().kind, Kind::setmaxnreg_ignored);
  EXPECT_EQ(scaled().save(path).error().kind, Kind::setmaxnreg_ignored);
}

TEST_F(ArchiveTest, files_that_are_none_say_so) {
  EXPECT_EQ(load(path).error().kind, Kind::file_error);
  EXPECT_EQ(load(ptxas.folder().string()).error().kind, Kind::file_error) << "a folder";
  ASSERT_TRUE(scaled().save(path));
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 8)
    EXPECT_EQ(refusal(std::string_view(whole).substr(0, length)).kind, Kind::bad_image) << length;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    if (at >= 8 && at < 12) continue;  // the version: an older format would be read
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_EQ(refusal(changed).kind, Kind::bad_image) << at;
  }
  EXPECT_TRUE(says(refusal("#!/bin/sh\n"), "saved kernel `it` is not one: it does not begin with pyptx's mark"));
  std::string newer = whole;
  newer[8] = 2;
  EXPECT_TRUE(says(refusal(newer), "saved kernel `it` has format 2; this pyptx reads formats up to 1"));
}

TEST_F(ArchiveTest, whole_files_with_parts_that_do_not_fit_are_refused) {
  ASSERT_TRUE(scaled().save(path));
  const auto sections = cuda::unpack_sections("ptxsaved", 1, bytes(), "it").value();
  const auto with = [&](std::string_view name, std::optional<std::string> replaced) {
    std::vector<cuda::Section> changed;
    for (const cuda::Section& section : sections)
      if (section.name != name || replaced) changed.push_back({section.name, section.name == name ? *replaced : section.bytes});
    return cuda::pack_sections("ptxsaved", 1, changed);
  };
  EXPECT_TRUE(read_saved(with("none", std::nullopt), "it"));
  EXPECT_TRUE(says(refusal(with("launch", std::nullopt)), "it has no launch record"));
  EXPECT_TRUE(says(refusal(with("ptx", std::nullopt)), "it has no PTX"));
  EXPECT_TRUE(says(refusal(with("ptx", "hello")), "the text of kernel `twice` is not PTX"));
  EXPECT_EQ(refusal(with("launch", "x")).kind, Kind::bad_image);
  EXPECT_TRUE(says(refusal(with("cubin sm_90a", "no ELF")), "its machine code for `sm_90a` cannot be read"));
  EXPECT_TRUE(says(refusal(with("tiles", std::string(4, '\xff'))), "its tiles cannot be read"));
  EXPECT_TRUE(says(refusal(with("names", "x")), "its names cannot be read"));
  std::string scalar;
  cuda::put32(scalar, 1);
  cuda::put32(scalar, 3);
  EXPECT_TRUE(says(refusal(with("scalars", scalar + "f99")), "a scalar's type is `f99`"));
  cuda::put32(scalar, 0);
  EXPECT_TRUE(says(refusal(with("scalars", scalar)), "its scalars cannot be read"));
  auto more = sections;
  more.push_back({"from the future", "?"});
  EXPECT_TRUE(read_saved(cuda::pack_sections("ptxsaved", 1, more), "it")) << "unknown sections are passed over";
}

TEST_F(ArchiveTest, what_cannot_be_saved_says_so) {
  EXPECT_EQ(scaled().save(cat(path, "/in/no/folder")).error().kind, Kind::file_error);
  const auto image = twice_image();
  EXPECT_EQ(save(path, *image, {.tiles = {Tile::make({32}, Type::f32).value()}}).error().kind, Kind::argument_count);
  EXPECT_EQ(save(path, *image, {.scalar_types = {Type::f32}}).error().kind, Kind::argument_count);
  const ScopedVariable forbidden("PYPTX_NO_COMPILE", "1");
  EXPECT_EQ(save(path, *image).error().kind, Kind::compile_needed);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FromPtx, makes_a_kernel_of_text) {
  const std::string text = compile(twice_module(), {.block = {32}})->ptx();
  for (const std::string_view entry : {"twice", ""}) {
    const auto kernel = from_ptx(text, entry, {.block = {32}});
    ASSERT_TRUE(kernel) << render(kernel.error());
    std::vector<float> x(32, 2.0f), y(32);
    ASSERT_TRUE(kernel->run(cpu(), {x}, {y}));
    EXPECT_EQ(y[0], 4.0f);
  }
  EXPECT_EQ(from_ptx(text, "thrice", {}).error().kind, Kind::unknown_kernel);
  std::string broken = text;
  broken.replace(broken.find("ret;"), 4, "ret ret;");
  const auto refused = from_ptx(broken, "twice", {});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(std::string_view(refused.error().where.file).ends_with("twice.ptx"));
}

}  // namespace
}  // namespace ptx::launch
