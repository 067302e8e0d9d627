#include "ptx/tile/size.hpp"

#include <gtest/gtest.h>

#include "ptx/base/base.hpp"

namespace ptx {
namespace {

TEST(SizeTest, is_worked_out_at_the_call) {
  const Sizes sizes{{"M", 100}, {"N", 1024}};
  EXPECT_EQ((dim("N") / 128).resolve(sizes).value(), 8);
  EXPECT_EQ(ceil_div(dim("M"), 64).resolve(sizes).value(), 2);
  EXPECT_EQ((dim("M") * 2 + dim("N") % 1000 - 4).resolve(sizes).value(), 220);
  EXPECT_EQ((min(dim("M"), 7) * max(1, dim("N"))).resolve(sizes).value(), 7168);
  EXPECT_EQ(Size(12).resolve({}).value(), 12);
  EXPECT_EQ(ceil_div(-7, Size(2)).resolve({}).value(), -3);
  EXPECT_EQ(ceil_div(Size(7), 2).resolve({}).value(), 4);
}

TEST(SizeTest, is_open_as_long_as_it_has_dimensions) {
  EXPECT_FALSE(Size(3).is_open());
  EXPECT_FALSE((Size(3) * 4).is_open());
  EXPECT_EQ(Size(3) * 4, Size(12));
  EXPECT_TRUE((dim("N") * 0).is_open());
  EXPECT_EQ((dim("M") + dim("N")).dims(), (std::vector<std::string>{"M", "N"}));
}

TEST(SizeTest, is_shown_as_written) {
  EXPECT_EQ((dim("N") / 128).to_string(), "N / 128");
  EXPECT_EQ(((dim("M") + 1) * 2).to_string(), "(M + 1) * 2");
  EXPECT_EQ((dim("M") - (dim("N") - 1)).to_string(), "M - (N - 1)");
  EXPECT_EQ((ceil_div(dim("M"), 64) * 2 % 5).to_string(), "ceil_div(M, 64) * 2 % 5");
}

TEST(SizeTest, says_what_has_no_value) {
  const auto unknown = (dim("K") / 2).resolve({{"N", 1}});
  EXPECT_EQ(unknown.error().kind, Kind::dim_unbound);
  EXPECT_EQ(unknown.error().message, "the dimension `K` has no size");
  const auto zero = (dim("N") / (dim("N") - 1)).resolve({{"N", 1}});
  EXPECT_EQ(zero.error().kind, Kind::launch_config);
  EXPECT_EQ(zero.error().message, "`N / (N - 1)`: 1 is divided by 0");
  EXPECT_EQ((Size(1) / 0).resolve({}).error().kind, Kind::launch_config);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Size& size : {dim("N") * most, dim("N") + most, (-dim("N").resolve({{"N", 2}}).value()) - dim("N") * most})
    EXPECT_EQ(size.resolve({{"N", 2}}).error().kind, Kind::launch_config) << size.to_string();
  EXPECT_EQ((dim("N") / -1).resolve({{"N", std::numeric_limits<std::int64_t>::min()}}).error().kind, Kind::launch_config);
}

TEST(ExtentTest, is_three_sizes_of_at_least_one) {
  EXPECT_EQ(Extent(4).resolve({}, "grid").value(), (LaunchDims{4, 1, 1}));
  EXPECT_EQ(Extent(dim("M"), 2u, dim("M") / 2).resolve({{"M", 8}}, "grid").value(), (LaunchDims{8, 2, 4}));
  EXPECT_FALSE(Extent(4, 5).is_open());
  EXPECT_TRUE(Extent(4, 5, dim("N")).is_open());
  const auto none = Extent(1, dim("M") / 128).resolve({{"M", 100}}, "grid of `k`");
  EXPECT_EQ(none.error().kind, Kind::launch_config);
  EXPECT_EQ(none.error().message, "the grid of `k` has 0 (`M / 128`) in y");
  EXPECT_EQ(Extent(0).resolve({}, "block of `k`").error().message, "the block of `k` has 0 in x");
  EXPECT_EQ(Extent(std::int64_t{1} << 31).resolve({}, "grid").error().kind, Kind::launch_config);
  EXPECT_EQ(Extent(dim("Q")).resolve({}, "grid of `k`").error().message, "the grid of `k`: the dimension `Q` has no size");
}

}  // namespace
}  // namespace ptx
