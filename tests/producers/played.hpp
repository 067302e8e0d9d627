// Recordings as tests see them: what a program gave its kernels, what they left behind and printed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::producers {

struct Played {
  struct Content {
    std::vector<std::byte> before, after;  ///< at the first launch that found it, and at the end
  };
  std::string name;      ///< "groups.sm_80"
  std::string printed;   ///< by the kernels
  Diagnostics findings;  ///< of the runs' checks
  std::map<std::string, Content, std::less<>> contents;

  [[nodiscard]] int target() const { return std::atoi(name.c_str() + name.rfind("sm_") + 3); }

  /// The elements of an allocation: what was given, and what is there at the end. A name that the program does not have fails the
  /// test.
  template <class T>
  [[nodiscard]] std::vector<T> given(std::string_view what) const {
    return elements<T>(find(what).before);
  }
  template <class T>
  [[nodiscard]] std::vector<T> made(std::string_view what) const {
    return elements<T>(find(what).after);
  }

 private:
  [[nodiscard]] const Content& find(std::string_view what) const;
  template <class T>
  static std::vector<T> elements(const std::vector<std::byte>& bytes) {
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
    return all;
  }
};

/// All recordings of a program, one for each target, played in the executor; once in a process. One that cannot be played fails
/// the test, and so does a program without any.
const std::vector<Played>& played(const std::string& program);

/// The same once more, its threads and asynchronous copies in random order.
std::vector<Played> played_at_random(const std::string& program, std::uint64_t seed);

/// What the kernels made is this, element by element.
template <class T>
void expect_made(const Played& run, std::string_view what, const std::vector<T>& expected) {
  const std::vector<T> made = run.made<T>(what);
  ASSERT_EQ(made.size(), expected.size()) << run.name << ": " << what;
  const auto [at, wanted] = std::mismatch(made.begin(), made.end(), expected.begin());
  EXPECT_TRUE(at == made.end()) << run.name << ": " << what << '[' << at - made.begin() << "] is " << +*at << ", not "
                                << +*wanted;
}

}  // namespace ptx::producers
