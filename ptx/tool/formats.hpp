// What `check` found, in the formats that people and programs read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ptx/tool/files.hpp"

namespace ptx::tool {

/// One file that was checked.
struct Checked {
  std::string file;  ///< its name, as findings say it
  Read read;
  Diagnostics findings;
  [[nodiscard]] std::size_t count(Severity severity) const;
};

/// The findings of a file for a person, at most so many (0: all), and how many more there are.
std::string to_text(const Checked& checked, std::size_t most, bool colour);
/// One object: files, findings, counts.
std::string to_json(std::span<const Checked> all);
/// SARIF 2.1.0, which code hosts and editors show beside the lines. Columns count characters of the line.
std::string to_sarif(std::span<const Checked> all);
/// GitHub's workflow commands: `::error file=…,line=…,col=…,title=…::message`, a line for each finding.
std::string to_github(std::span<const Checked> all);

}  // namespace ptx::tool
