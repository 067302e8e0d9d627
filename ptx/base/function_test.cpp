// Owned and Function, the light counterparts of std::unique_ptr and std::function.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ptx/base/base.hpp"

namespace ptx {
namespace {

struct Counted {
  explicit Counted(int& count) : ends(count) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { ++ends; }
  int& ends;
};
struct Base {
  int value = 1;
};
struct Derived : Base {
  explicit Derived(std::shared_ptr<int> given) : kept(std::move(given)) {}
  std::shared_ptr<int> kept;
};

TEST(Owned, EndsWhatItOwnsOnce) {
  int ends = 0;
  {
    Owned<Counted> a = Owned<Counted>::make(ends);
    EXPECT_TRUE(a);
    Owned<Counted> b = std::move(a);
    EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): that is what is asked
    EXPECT_EQ(&b->ends, &ends);
    EXPECT_EQ(ends, 0);
    b = Owned<Counted>::make(ends);
    EXPECT_EQ(ends, 1);
    b = Owned<Counted>();
    EXPECT_EQ(ends, 2);
    EXPECT_EQ(b.get(), nullptr);
    b = Owned<Counted>::make(ends);
  }
  EXPECT_EQ(ends, 3);
}

TEST(Owned, OfADerivedClassWithoutAVirtualDestructor) {
  const auto kept = std::make_shared<int>(5);
  {
    const Owned<Base> base = Owned<Base>::make_as<Derived>(kept);
    EXPECT_EQ(base->value, 1);
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

int twice(int n) { return 2 * n; }

TEST(Function, HoldsLambdasAndFunctions) {
  EXPECT_FALSE(Function<void()>());
  EXPECT_FALSE(Function<void()>(nullptr));
  Function<int(int)> f = twice;
  EXPECT_TRUE(f);
  EXPECT_EQ(f(4), 8);
  int calls = 0;
  f = [&calls](int n) { return ++calls, n + 1; };
  EXPECT_EQ(f(4), 5);
  EXPECT_EQ(calls, 1);
  const Function<long(int)> wider = twice;  // the result converts
  EXPECT_EQ(wider(3), 6L);
}

TEST(Function, CopiesHaveTheirOwnState) {
  Function<int()> count = [n = 0]() mutable { return ++n; };
  EXPECT_EQ(count(), 1);
  const Function<int()> copy = count;
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(copy(), 2);
  Function<int()> moved = std::move(count);
  EXPECT_EQ(moved(), 3);
  EXPECT_FALSE(count);  // NOLINT(bugprone-use-after-move): that is what is asked
  moved = copy;
  EXPECT_EQ(moved(), 3);
  EXPECT_EQ(copy(), 3);
}

TEST(Function, PassesReferencesAndWhatCannotBeCopied) {
  const Function<std::unique_ptr<int>(std::unique_ptr<int>, std::string&)> f = [](std::unique_ptr<int> p, std::string& text) {
    text += "!";
    return p;
  };
  std::string text = "a";
  EXPECT_EQ(*f(std::make_unique<int>(7), text), 7);
  EXPECT_EQ(text, "a!");
}

// Both sides of an Expected are built by hand: what is copied, moved and assigned across them.
TEST(Expected, CopiesMovesAndAssignsBothSides) {
  const auto fails = [](std::string why) {
    Diagnostic d;
    d.message = std::move(why);
    return Unexpected{std::move(d)};
  };
  const auto kept = std::make_shared<int>(1);
  {
    Expected<std::shared_ptr<int>> value = kept;
    Expected<std::shared_ptr<int>> error = fails("no");
    EXPECT_EQ(kept.use_count(), 2);
    Expected<std::shared_ptr<int>> copy = value;  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_EQ(kept.use_count(), 3);
    copy = error;
    EXPECT_EQ(kept.use_count(), 2);
    EXPECT_EQ(copy.error().message, "no");
    copy = value;
    EXPECT_EQ(kept.use_count(), 3);
    EXPECT_EQ(**copy, 1);
    const Expected<std::shared_ptr<int>> moved = std::move(copy);
    EXPECT_EQ(kept.use_count(), 3);
    EXPECT_EQ(*moved, kept);
    const auto& self = value;
    value = self;
    EXPECT_EQ(*value, kept);
    value = std::move(error);
    EXPECT_FALSE(value);
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
  static_assert(!std::is_copy_constructible_v<Expected<std::unique_ptr<int>>>);
  static_assert(std::is_nothrow_move_constructible_v<Expected<std::unique_ptr<int>>>);
}

TEST(Function, OfWhatIsEmptyIsEmpty) {
  int (*pointer)(int) = nullptr;
  EXPECT_FALSE(Function<int(int)>(pointer));
  EXPECT_FALSE(Function<int(int)>(std::function<int(int)>()));
  EXPECT_FALSE(Function<int(int)>(Function<int(int)>()));
  EXPECT_EQ(Function<int(int)>(std::function<int(int)>([](int x) { return x + 1; }))(2), 3);
  pointer = [](int x) { return 2 * x; };
  EXPECT_EQ(Function<int(int)>(pointer)(4), 8);
  EXPECT_EQ(Function<int(int)>(*pointer)(4), 8);
}

}  // namespace
}  // namespace ptx
