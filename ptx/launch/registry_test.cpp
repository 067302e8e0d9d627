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
  ASSERT_EQ(registry.add(image).value(), image);
  EXPECT_EQ(registry.find(image->handle()), image.get());
  EXPECT_EQ(registry.find(image->key()), image.get());
  EXPECT_EQ(registry.share(image->handle()), image);
  Digest other = image->key();
  other[31] ^= 1;  // the same handle, another kernel
  EXPECT_EQ(registry.find(other), nullptr);
}

TEST(Registry, equal_content_is_one_kernel) {
  Registry registry;
  const auto image = text_image();
  const auto again = text_image();
  EXPECT_NE(image, again);
  EXPECT_EQ(image->handle(), again->handle());
  ASSERT_TRUE(registry.add(image));
  EXPECT_EQ(registry.add(again).value(), image);
  EXPECT_EQ(registry.size(), 1u);
}

TEST(Registry, an_image_that_the_executor_runs_replaces_one_of_text) {
  Registry registry;
  const auto whole = twice_image();
  const auto text = KernelImage::from_text(whole->text(), whole->meta()).value();
  EXPECT_EQ(text->key(), whole->key());
  ASSERT_TRUE(registry.add(text));
  EXPECT_EQ(registry.add(whole).value(), whole);
  EXPECT_EQ(registry.find(whole->handle()), whole.get());
  EXPECT_EQ(registry.add(text).value(), whole);
  EXPECT_EQ(registry.size(), 1u);
}

TEST(Registry, grows_while_others_read) {
  Registry registry;
  constexpr int count = 400;
  std::vector<std::shared_ptr<const KernelImage>> images;
  for (int i = 0; i < count; ++i) images.push_back(text_image(cat("kernel_", i)));
  const auto first = images[0];
  ASSERT_TRUE(registry.add(first));
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load()) EXPECT_EQ(registry.find(first->key()), first.get());
  });
  std::vector<std::thread> writers;
  for (int part = 0; part < 2; ++part) {
    writers.emplace_back([&, part] {
      for (int i = part; i < count; i += 2) EXPECT_TRUE(registry.add(images[static_cast<std::size_t>(i)]));
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
