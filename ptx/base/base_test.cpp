#include "ptx/base/base.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ptx {
namespace {

std::string hex_of(const Digest& digest) {
  std::string out;
  for (const std::uint8_t byte : digest) out += hex(byte, 2);
  return out;
}

// FIPS 180-4's own examples.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hex_of(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(sha256(std::string(1'000'000, 'a'))), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesEqualTheWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 300, ' ');
    std::generate(text.begin(), text.end(), [&] { return static_cast<char>(random()); });
    Sha256 pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = std::min<std::size_t>(1 + random() % 90, text.size() - at);
      pieces.add(std::string_view(text).substr(at, n));
      at += n;
    }
    EXPECT_EQ(pieces.finish(), sha256(text)) << "length " << text.size();
  }
}

TEST(KeyMap, FindsWhatWasInserted) {
  KeyMap<int> map;
  const auto key_of = [](int n) {  // of 1 to 5 words, many with a common start
    Key key;
    for (int i = 0; i < n % 5; ++i) key.add(7);
    key.add(static_cast<std::uint64_t>(n));
    return key;
  };
  for (int n = 0; n < 1000; ++n) {
    EXPECT_EQ(map.find(key_of(n)), nullptr) << n;
    EXPECT_EQ(map.insert(key_of(n), n), n);
  }
  for (int n = 0; n < 1000; ++n) {
    ASSERT_NE(map.find(key_of(n)), nullptr) << n;
    EXPECT_EQ(*map.find(key_of(n)), n);
  }
  EXPECT_EQ(map.insert(key_of(3), -3), -3);
  EXPECT_EQ(*map.find(key_of(3)), -3);
}

TEST(KeyMap, AKeyHasAnyLengthAndIsBuiltAgain) {
  KeyMap<int> map;
  Key key;
  for (int length = 0; length < 300; ++length) {
    key.clear();
    for (int i = 0; i < length; ++i) key.add(0);
    EXPECT_EQ(map.find(key), nullptr) << length;
    map.insert(key, length);
  }
  key.clear();
  for (int i = 0; i < 299; ++i) key.add(0);
  EXPECT_EQ(*map.find(key), 299);
}

TEST(TextBuffer, AppendsAsAStringDoes) {
  std::mt19937 random(3);
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  for (int round = 0; round < 100; ++round) {
    std::string got = "before ", expected = got;
    {
      TextBuffer buffer(got);
      for (int piece = 0; piece < 200; ++piece) {
        const std::string text = std::string(letters, 0, random() % 27) + std::string(piece == 50 ? 1000 : 0, 'x');
        const std::uint32_t number = static_cast<std::uint32_t>(random()) >> random() % 32;
        buffer.add(text);
        buffer.add(';');
        buffer.small(number);
        buffer.number(-static_cast<std::int64_t>(number), 16);
        char digits[24];
        expected += text + ';' + std::to_string(number);
        expected.append(digits, std::to_chars(digits, digits + sizeof digits, -static_cast<std::int64_t>(number), 16).ptr);
      }
    }
    EXPECT_EQ(got, expected);
  }
}

TEST(Expected, HoldsAValueOrItsReason) {
  const auto half = [](int n) -> Expected<int> {
    if (n % 2 != 0) return Unexpected{{.kind = Kind::internal, .message = cat(n, " is odd")}};
    return n / 2;
  };
  ASSERT_TRUE(half(8));
  EXPECT_EQ(*half(8), 4);
  ASSERT_FALSE(half(7));
  EXPECT_EQ(half(7).error().message, "7 is odd");
  EXPECT_TRUE(Expected<void>());
  EXPECT_FALSE(Expected<void>(Unexpected{{.kind = Kind::internal, .message = "no"}}));
}

TEST(Diagnostic, RendersOnOneScreen) {
  const Diagnostic d{.kind = Kind::operand_mismatch,
                     .message = "operand 2 `a` of `fma.rn.f32` is a .u32 register `%r3`",
                     .where = {"rms.py", 31},
                     .notes = {{NoteKind::form, "fma.rnd.f32 d, a, b, c", {}},
                               {NoteKind::plain, "log: two\nlines", {}},
                               {NoteKind::place, "first", {"rms.py", 7}}}};
  EXPECT_EQ(render(d),
            "error: operand 2 `a` of `fma.rn.f32` is a .u32 register `%r3`  [operand_mismatch]\n"
            "  --> rms.py:31\n"
            "  = form: fma.rnd.f32 d, a, b, c\n"
            "  = log: two\n"
            "    lines\n"
            "  = first: rms.py:7");
}

TEST(Diagnostic, WarningsAreNoErrors) {
  Diagnostics found = {{.kind = Kind::immediate_range, .severity = Severity::warning, .message = "cut"}};
  EXPECT_FALSE(has_errors(found));
  found.push_back({.kind = Kind::undefined_label, .message = "`L`"});
  EXPECT_TRUE(has_errors(found));
}

TEST(Diagnostic, KindsAreNamedAndExplained) {
  for (const Kind kind : all_kinds()) {
    EXPECT_FALSE(name(kind).empty());
    EXPECT_FALSE(summary(kind).empty()) << name(kind);
    EXPECT_NE(summary(kind).back(), '.') << name(kind);
  }
}

TEST(Words, ListsAndNearest) {
  const std::vector<std::string> words = {"rn", "rz", "rm", "rp"};
  EXPECT_EQ(list_choices(words), "`rn`, `rz`, `rm` or `rp`");
  EXPECT_EQ(list_choices(std::vector<std::string>{"rn"}), "`rn`");
  EXPECT_EQ(list_choices(words, 2), "`rn`, `rz`, …");
  EXPECT_EQ(nearest("globl", std::vector<std::string>{"shared", "global", "local"}), "global");
  EXPECT_EQ(nearest("xyzzy", std::vector<std::string>{"shared", "global", "local"}), "");
}

TEST(Strings, NumbersAndHex) {
  EXPECT_EQ(cat("a", 1, 'b', -2, std::string("c"), true), "a1b-2ctrue");
  EXPECT_EQ(hex(255, 4), "00ff");
  EXPECT_EQ(hex_upper(0x3f800000, 8), "3F800000");
  EXPECT_EQ(hex_upper(0, 8), "00000000");
}

TEST(SourceLocation, FilesAreInterned) {
  const std::string one = "dir/kernel.py", two = "dir/kernel.py";
  EXPECT_EQ(intern_file(one), intern_file(two));
  EXPECT_EQ(to_string(SourceLocation{intern_file(one), 12}), "dir/kernel.py:12");
  EXPECT_EQ(to_string(SourceLocation{}), "");
  const SourceLocation here = SourceLocation::current();
  EXPECT_TRUE(here.known());
  EXPECT_TRUE(std::string_view(here.file).ends_with("base_test.cpp"));
}

// In a build without assertions too: a value that is not there is never read.
TEST(Expected, AValueThatIsNotThereIsSaidAndEndsTheProgram) {
  const Diagnostic error{
      .kind = Kind::file_error, .message = "cannot read `x`", .where = {}, .notes = {{NoteKind::hint, "look again", {}}}};
  const Expected<int> none = Unexpected{error};
  const Expected<void> failed = Unexpected{error};
  const Expected<int> one = 1;
  const Expected<void> done;
  EXPECT_DEATH(static_cast<void>(none.value()), "error: cannot read `x`  .file_error.\n.*hint: look again");
  EXPECT_DEATH(static_cast<void>(*none), "cannot read `x`");
  EXPECT_DEATH(static_cast<void>(Expected<std::string>(Unexpected{error})->size()), "cannot read `x`");
  EXPECT_DEATH(failed.value(), "cannot read `x`");
  EXPECT_DEATH(static_cast<void>(one.error()), "there is none");
  EXPECT_DEATH(static_cast<void>(done.error()), "there is none");
  EXPECT_EQ(one.value(), 1);
  done.value();
}

}  // namespace
}  // namespace ptx
