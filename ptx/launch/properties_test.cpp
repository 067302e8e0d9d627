#include "ptx/launch/properties.hpp"

#include <gtest/gtest.h>

#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

ir::Module with_statement(std::string_view statement, bool kept_as_text) {
  write::Builder builder({.name = "k", .target = Target::sm_90a});
  EXPECT_TRUE(builder.reg(Type::pred));
  if (kept_as_text) {
    builder.raw(statement, {});
  } else {
    EXPECT_TRUE(builder.emit(statement, {}));
  }
  EXPECT_TRUE(builder.emit("ret", {}));
  return builder.finish().value();
}

TEST(Properties, a_module_waits_for_the_grid_ahead_by_the_instruction_that_does) {
  EXPECT_TRUE(waits_for_grid_ahead(with_statement("griddepcontrol.wait", false)));
  EXPECT_FALSE(waits_for_grid_ahead(with_statement("griddepcontrol.launch_dependents", false)));
  EXPECT_FALSE(waits_for_grid_ahead(twice_module()));
}

TEST(Properties, statements_kept_as_text_are_read) {
  EXPECT_TRUE(waits_for_grid_ahead(with_statement("griddepcontrol.wait;", true)));
  EXPECT_TRUE(waits_for_grid_ahead(with_statement("@!%p0  griddepcontrol.wait ;", true))) << "however it is spelled";
  EXPECT_TRUE(waits_for_grid_ahead(with_statement("{ frobnicate.u32 %r1; griddepcontrol.wait; }", true)));
  EXPECT_FALSE(waits_for_grid_ahead(with_statement("griddepcontrol.launch_dependents;", true)));
  EXPECT_FALSE(waits_for_grid_ahead(with_statement("frobnicate; // griddepcontrol.wait;", true))) << "a comment waits for nobody";
}

TEST(Properties, a_launch_ahead_of_its_turn_needs_the_wait) {
  const LaunchSpec early = LaunchSpec::make("k", {.attributes = {.programmatic = true}}, 0, 0).value();
  const auto fits = [&](std::string_view statement) {
    const auto accepted = check::accept(with_statement(statement, false)).value();
    return check_fits(accepted, *accepted.module().find("k"), early);
  };
  EXPECT_TRUE(fits("griddepcontrol.wait"));
  const auto refused = fits("griddepcontrol.launch_dependents");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::launch_config);
  EXPECT_TRUE(says(refused.error(), "never waits for it"));
}

}  // namespace
}  // namespace ptx::launch
