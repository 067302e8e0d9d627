// Whole files of real PTX with one token wrong, as a person or a program that writes PTX gets it wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle/assembler.hpp"
#include "tests/oracle/second_report.hpp"

namespace ptx::oracle {

class FileMutator {
 public:
  /// Reads the files below these folders that ptxas answers about in moments.
  explicit FileMutator(std::span<const std::string> folders);

  /// One mutant, and what both say of it as a whole. The statement of a disagreement is the file, the line and what stands there.
  [[nodiscard]] std::pair<Target, Result> judge(const Assembler& assembler, std::uint64_t seed) const;

 private:
  struct File {
    std::string name, text;
    Target target{};
  };
  std::vector<File> files_;
};

}  // namespace ptx::oracle
