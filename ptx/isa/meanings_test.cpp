#include "ptx/isa/meanings.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ptx/isa/describe.hpp"

namespace ptx::isa {
namespace {

const Form& first_of(std::string_view syntax) {
  for (const Form& form : forms())
    if (form.syntax().starts_with(syntax)) return form;
  ADD_FAILURE() << "no form " << syntax;
  return forms()[0];
}

TEST(Meanings, TheLongestPathCounts) {
  EXPECT_EQ(meaning(first_of("mbarrier.init"), "count"), "arrivals that end a phase, 1 to 1048575");
  EXPECT_EQ(meaning(first_of("mbarrier.arrive{.space}.b64 state, [addr], count"), "count"),
            "how many arrivals this one is; 1 if left out");
  EXPECT_EQ(meaning(first_of("cp.async.cop"), "size"), "in bytes");
  EXPECT_EQ(meaning(first_of("cp.async.bulk{.weak}"), "size"), "in bytes, a multiple of 16");
  EXPECT_EQ(meaning(first_of("add.type"), "a"), "");
  EXPECT_EQ(meaning(first_of("barrier{.cta}.sync"), "a"), meaning(first_of("bar{.cta}.sync"), "a"));
}

TEST(Meanings, AreSaidWithTheOperand) {
  const Form& redux = first_of("redux.sync.op.type");
  for (const OperandSpec& operand : redux.operands)
    if (operand.name == "membermask") {
      EXPECT_EQ(describe(redux, operand),
                "register or immediate, `.u32`; the lanes that take part, bit i for lane i; each of them executes the same "
                "instruction");
    }
}

// A word for a name is owed to the reader; a letter is explained by the row's own sentence.
TEST(Meanings, EveryOperandWithANameHasOne) {
  for (const Form& form : forms())
    for (const OperandSpec& operand : form.operands)
      if (operand.name.size() > 1) {
        EXPECT_NE(meaning(form, operand.name), "") << form.syntax() << ": " << operand.name;
      }
}

TEST(Meanings, EachIsOfSomeOperand) {
  std::set<const char*> used;
  for (const Form& form : forms())
    for (const OperandSpec& operand : form.operands) used.insert(meaning(form, operand.name).data());
  for (const Meaning& m : meanings()) EXPECT_TRUE(used.contains(m.words.data())) << m.path << ' ' << m.operand;
}

}  // namespace
}  // namespace ptx::isa
