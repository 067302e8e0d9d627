#include "ptx/launch/attribute_record.hpp"

#include <gtest/gtest.h>

#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

TEST(AttributeRecord, attributes_go_by_name_and_only_where_they_are_set) {
  for (const LaunchAttribute& row : launch_attributes) {
    LaunchAttributes attributes;
    std::string bytes;
    put_attributes(bytes, attributes, launch_attributes);
    EXPECT_TRUE(bytes.empty());
    attributes.*row.value = true;
    put_attributes(bytes, attributes, launch_attributes);
    EXPECT_NE(bytes.find(row.name), std::string::npos);
    cuda::ByteReader in{.bytes = bytes};
    LaunchAttributes back;
    ASSERT_TRUE(get_attributes(in, back, launch_attributes));
    EXPECT_EQ(back, attributes);
    EXPECT_TRUE(in.ok && in.bytes.empty());
  }
}

TEST(AttributeRecord, every_attribute_survives_a_launch_record) {
  for (const LaunchAttribute& row : launch_attributes) {
    Geometry geometry;
    geometry.attributes.*row.value = true;
    const LaunchSpec spec = LaunchSpec::make("kernel", geometry, 1, 1).value();
    EXPECT_EQ(LaunchSpec::parse(spec.serialise()).value(), spec) << row.name;
    EXPECT_NE(spec.serialise(), LaunchSpec::make("kernel", {}, 1, 1)->serialise());
  }
}

TEST(AttributeRecord, what_a_newer_version_wrote_is_refused_and_what_an_older_one_wrote_is_read) {
  const LaunchSpec spec = LaunchSpec::make("kernel", {}, 1, 1).value();
  std::string newer = spec.serialise();
  ASSERT_TRUE(LaunchSpec::parse(newer)) << "nothing stands behind the parameters";
  EXPECT_FALSE(LaunchSpec::parse(newer + std::string(4, '\0'))) << "none is written as nothing";
  cuda::put32(newer, 1);
  cuda::put32(newer, 6);
  newer += "prompt";
  const auto refused = LaunchSpec::parse(newer);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::bad_image);
  EXPECT_TRUE(says(refused.error(), "an attribute that this version of pyptx does not know"));
}

}  // namespace
}  // namespace ptx::launch
