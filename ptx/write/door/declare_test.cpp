// A helper is a function and a row: here are one of each, and what follows from them.
#include "ptx/write/door/declare.hpp"

#include <gtest/gtest.h>

#include "ptx/write/write.hpp"

namespace ptx::write::declare {
namespace {

struct Everything {
  PlaceArg dst;
  Source size;
  std::int64_t count = 3;
  bool wide = false;
  std::string_view kind = "f16", no_name = {};
  std::optional<Source> hint = {};
  Coords coords = {};
  std::uint64_t bits = 0x4000;
  Enable added = true;
  Pred pred = {};
};

class MadeUp : public Door {
 public:
  using Door::Door;
  ptx::Reg<Type::b64> copy(const PlaceArg& /*from*/, const Source& /*number*/, const Everything& /*options*/,
                           SourceLocation /*at*/) {
    return typed<Type::b64>(builder().reg(Type::b64));
  }
  void one(const Registers& /*regs*/, std::int64_t /*number*/, const Pred& /*pred*/, SourceLocation /*at*/) const {}
};
Expected<std::uint32_t> number_of(const std::array<std::int64_t, 2>& shape) { return static_cast<std::uint32_t>(shape[0]); }

}  // namespace

template <>
inline constexpr auto fields<Everything> =
    Fields<needed(&Everything::dst), needed(&Everything::size), &Everything::count, &Everything::wide, word(&Everything::kind),
           &Everything::no_name, asked(&Everything::hint), &Everything::coords, &Everything::bits, &Everything::added,
           &Everything::pred>{};

namespace {

constexpr auto copy = helper<&MadeUp::copy>("ptx.made_up.copy", "from|src|source, size, number: int = 7, *, -wide", "Copies.");
constexpr auto one = helper<&MadeUp::one>("ptx.made_up.one", "regs, number = 4 -> regs", "One.");
constexpr auto number = helper<&number_of>("ptx.made_up.number", "*, shape: tuple[int, int]", "A number.");

TEST(Declare, SaysWhatPythonIsGiven) {
  const Signature made = signature_of(copy);
  EXPECT_EQ(made.name, "ptx.made_up.copy");
  EXPECT_EQ(made.doc, "Copies.");
  EXPECT_EQ(
      made.python("copy", false),
      "def copy(from: typing.Any, size: Reg | int, number: int = 7, *, dst: typing.Any, count: int = 3, kind: PtxType | str "
      "= 'f16', no_name: str | None = None, hint: Reg | int, coords: typing.Sequence[Reg | int] | None = None, bits: int = "
      "0x4000, added: Reg | NegPred | bool | int = True, pred: Reg | NegPred | None = None) -> Reg");
  EXPECT_EQ(
      signature_of(one).python("one", true),
      "def one(self, regs: Reg | RegArray | typing.Sequence[Reg], number: int = 4, *, pred: Reg | NegPred | None = None) -> "
      "Reg");
  EXPECT_EQ(signature_of(one).python("one", true, 1),
            "def one(self, number: int = 4, *, pred: Reg | NegPred | None = None) -> Reg");
  EXPECT_EQ(signature_of(one).gives_back, "regs");
  EXPECT_EQ(signature_of(number).python("number", false), "def number(*, shape: tuple[int, int]) -> int");
}

TEST(Declare, ReadsTheTextWhileCompiling) {
  static_assert(copy.listed().count == 3 && one.listed().count == 2 && number.listed().parameters[0].by_name);
  static_assert(copy.listed().find("from")->seconds == "src|source" && copy.listed().leaves_out("wide"));
  static_assert(listed("at = (1, 2), *, of: dict[str, int]").parameters[0].standard == "(1, 2)");
  EXPECT_EQ(signature_of(copy).parameters.size(), 12u);
}

// What a parameter is called where, and which argument of the function it is: fields count among the arguments.
TEST(Declare, KnowsWhichArgumentIsWhich) {
  std::vector<std::size_t> slots;
  for (const Parameter& parameter : signature_of(copy).parameters) slots.push_back(parameter.slot);
  EXPECT_EQ(slots, (std::vector<std::size_t>{0, 3, 1, 2, 4, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(Declare, LeavesNeededFieldsBlankAndKeepsDefaults) {
  const auto options = blank<Everything>();
  EXPECT_EQ(options.count, 3);
  EXPECT_EQ(options.kind, "f16");
  EXPECT_FALSE(options.hint);
}

}  // namespace
}  // namespace ptx::write::declare
