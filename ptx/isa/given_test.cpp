#include "ptx/isa/given.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ptx/isa/isa.hpp"

namespace ptx::isa {
namespace {

// The first form that goes by these words.
const Form& leading(std::string_view name) {
  const auto found = std::find_if(forms().begin(), forms().end(), [&](const Form& f) { return goes_by(f, name); });
  EXPECT_NE(found, forms().end()) << name;
  return found == forms().end() ? forms().front() : *found;
}

template <class Enum>
void expect_used(std::span<const Given<Enum>> all) {
  for (const Given<Enum>& one : all) {
    EXPECT_NE(one.what, Flags<Enum>()) << one.name;
    EXPECT_TRUE(
        std::any_of(forms().begin(), forms().end(), [&](const Form& f) { return goes_by(f, one.name, one.with, one.without); }))
        << "no row goes by `" << one.name << "` with `" << one.with << "` and without `" << one.without << '`';
  }
  for (unsigned i = 0; i < static_cast<unsigned>(Enum::last); ++i)
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Given<Enum>& one) { return one.what.has(static_cast<Enum>(i)); }))
        << "nothing has number " << i;
}

TEST(Given, EachNamesRowsAndEachEnumeratorIsGiven) {
  expect_used(given_traits());
  expect_used(given_quirks());
}

TEST(Given, ANameLeadsTheWordsOfAForm) {
  const Form& fence = leading("wgmma.fence");
  EXPECT_TRUE(goes_by(fence, "wgmma"));
  EXPECT_FALSE(goes_by(fence, "wgmm"));
  EXPECT_FALSE(goes_by(fence, "wgmma.wait_group"));
  EXPECT_FALSE(goes_by(fence, "wgmma.fence.sync.aligned.more"));
  EXPECT_TRUE(goes_by(fence, "wgmma", "sync aligned"));
  EXPECT_FALSE(goes_by(fence, "wgmma", "sync shape"));
  EXPECT_TRUE(goes_by(fence, "wgmma", "", "shape dtype"));
  EXPECT_FALSE(goes_by(fence, "wgmma", "", "shape aligned"));
}

TEST(Given, FormsHaveThem) {
  const Form& fence = leading("wgmma.fence");
  EXPECT_EQ(fence.traits, Traits());
  EXPECT_EQ(leading("cvt").traits, Trait::convert | Trait::looks_at_bits);
  EXPECT_TRUE(leading("st.async").traits.has(Trait::store));
  EXPECT_FALSE(leading("stmatrix").traits.has(Trait::store));
  EXPECT_FALSE(leading("st.async").quirks.has(Quirk::takes_elements));
  EXPECT_TRUE(leading("st").quirks.has(Quirk::takes_elements));
  EXPECT_EQ(leading("fma").traits, Traits());
  EXPECT_EQ(leading("fma").quirks, Quirks());
}

TEST(Flags, AreSets) {
  const Traits two = Trait::load | Trait::store;
  EXPECT_TRUE(two.has(Trait::load));
  EXPECT_FALSE(two.has(Trait::atomic));
  EXPECT_TRUE(two.has_any(Trait::atomic | Trait::store));
  EXPECT_FALSE(two.has_any(Trait::atomic | Trait::branch));
  EXPECT_EQ(Traits(two.bits()), two);
  EXPECT_FALSE(Traits().has_any(two));
}

}  // namespace
}  // namespace ptx::isa
