// Golden files hold input and expectation together. With PTX_BLESS=1 in the environment a test writes what it sees into the file
// instead of failing; the difference is then for a person to read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::testing {

/// The files of a folder with that extension, sorted; none of a folder that is not there. Tests run in the repository's root.
inline std::vector<std::string> files_in(const std::filesystem::path& folder, std::string_view extension) {
  std::vector<std::string> files;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == extension) files.push_back(entry.path().generic_string());
  std::sort(files.begin(), files.end());
  return files;
}

/// The *.golden files of tests/golden/<folder>, or those with another extension, sorted.
inline std::vector<std::string> golden_files(std::string_view folder, std::string_view extension = ".golden") {
  return files_in(std::filesystem::path("tests/golden") / folder, extension);
}

/// What a test is made for, one for each file: "none", which fails, in place of no test at all.
inline auto each_of(std::vector<std::string> files) {
  if (files.empty()) files.emplace_back("none");
  return ::testing::ValuesIn(std::move(files));
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

inline bool blessing() { return std::getenv("PTX_BLESS") != nullptr; }

/// What a failing golden says after the difference.
inline constexpr std::string_view how_to_bless =
    "if the new text is right, run the test program with PTX_BLESS=1 (or `./dev bless`) and read the difference";

/// "tests/golden/check/flow.golden" -> "flow": a parametrised test's name.
inline std::string stem(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

}  // namespace ptx::testing
