// The C++ half of a twin test: a kernel's whole text is tests/golden/write/<name>.ptx, which the Python half of the test compares
// with too.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "ptx/text/text.hpp"
#include "ptx/write/kernel.hpp"
#include "tests/support/golden.hpp"

namespace ptx::write_test {

/// Ends the kernel and compares its text with the golden file; with PTX_BLESS=1 writes the file.
inline void expect_golden(Kernel& k, std::string_view name) {
  const auto module = k.module();
  ASSERT_TRUE(module) << render(module.error());
  const std::string path = cat("tests/golden/write/", name, ".ptx"), text = text::print(*module);
  if (ptx::testing::blessing()) {
    std::filesystem::create_directories("tests/golden/write");
    std::ofstream(path, std::ios::binary) << text;
  }
  EXPECT_EQ(text, ptx::testing::read_file(path)) << path << ": " << ptx::testing::how_to_bless;
}

}  // namespace ptx::write_test
