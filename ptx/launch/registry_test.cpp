#include "ptx/launch/registry.hpp"

#include <thread>

#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

TEST(Registry, finds_by_handle_and_by_key) {
  Registry registry;
  const auto image = text_image();
  EXPECT_EQ(registry.find(image->handle()), nullptr);
  EXPECT_EQ(registry.share(image->handle()), nullptr);
  ASSERT_EQ(registry.pin(image).value(), image);
  EXPECT_EQ(registry.find(image->handle()), image.get());
  EXPECT_EQ(registry.find(image->key()), image.get());
  EXPECT_EQ(registry.share(image->handle()), image);
  Digest other = image->key();
  other[31] ^= 1;  // the same handle, another kernel
  EXPECT_EQ(registry.find(other), nullptr);
}

TEST(Registry, knows_an_image_while_somebody_holds_it) {
  Registry registry;
  auto image = text_image();
  const std::int64_t handle = image->handle();
  ASSERT_EQ(registry.add(image).value(), image);
  EXPECT_EQ(registry.share(handle), image);
  EXPECT_EQ(registry.find(handle), nullptr) << "only pinned images are found without a lock";
  EXPECT_EQ(registry.size(), 1u);
  image.reset();
  EXPECT_EQ(registry.share(handle), nullptr);
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_EQ(registry.pinned(), 0u);
  const auto again = text_image();
  EXPECT_EQ(registry.add(again).value(), again);
  EXPECT_EQ(registry.share(handle), again);
}

TEST(Registry, many_images_that_are_gone_leave_nothing) {
  Registry registry;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(registry.add(text_image(cat("kernel_", i))));
  EXPECT_EQ(registry.size(), 0u);
}

TEST(Registry, what_is_pinned_stays) {
  Registry registry;
  auto image = text_image();
  const std::int64_t handle = image->handle();
  ASSERT_TRUE(registry.add(image));
  ASSERT_EQ(registry.pin(image).value(), image);
  ASSERT_EQ(registry.pin(text_image()).value(), image);
  image.reset();
  ASSERT_NE(registry.find(handle), nullptr);
  EXPECT_EQ(registry.share(handle).get(), registry.find(handle));
  EXPECT_EQ(registry.pinned(), 1u);
}

TEST(Registry, equal_content_is_one_kernel) {
  Registry registry;
  const auto image = text_image();
  const auto again = text_image();
  EXPECT_NE(image, again);
  EXPECT_EQ(image->handle(), again->handle());
  ASSERT_TRUE(registry.pin(image));
  EXPECT_EQ(registry.pin(again).value(), image);
  EXPECT_EQ(registry.size(), 1u);
}

TEST(Registry, an_image_that_the_executor_runs_replaces_one_of_text) {
  Registry registry;
  const auto whole = twice_image();
  const auto text = KernelImage::from_text(whole->text(), whole->meta()).value();
  EXPECT_EQ(text->key(), whole->key());
  ASSERT_TRUE(registry.pin(text));
  EXPECT_EQ(registry.pin(whole).value(), whole);
  EXPECT_EQ(registry.find(whole->handle()), whole.get());
  EXPECT_EQ(registry.pin(text).value(), whole);
  EXPECT_EQ(registry.size(), 1u);
}

TEST(Registry, grows_while_others_read) {
  Registry registry;
  constexpr int count = 400;
  std::vector<std::shared_ptr<const KernelImage>> images;
  for (int i = 0; i < count; ++i) images.push_back(text_image(cat("kernel_", i)));
  const auto first = images[0];
  ASSERT_TRUE(registry.pin(first));
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load()) EXPECT_EQ(registry.find(first->key()), first.get());
  });
  std::vector<std::thread> writers;
  for (int part = 0; part < 2; ++part) {
    writers.emplace_back([&, part] {
      for (int i = part; i < count; i += 2) EXPECT_TRUE(registry.pin(images[static_cast<std::size_t>(i)]));
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  EXPECT_EQ(registry.size(), static_cast<std::size_t>(count));
  for (const auto& image : images) EXPECT_EQ(registry.find(image->handle()), image.get());
}

}  // namespace
}  // namespace ptx::launch
