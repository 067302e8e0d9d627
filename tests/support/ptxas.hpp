// ptxas as a judge: what our check accepts it must accept, what ours refuses it must refuse.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace ptx::testing {

class Ptxas {
 public:
  struct Verdict {
    bool accepted = false;
    std::string said;
  };

  /// $PTX_PTXAS or the ptxas of the PATH; nothing when there is none.
  static std::optional<Ptxas> find() {
    const char* named = std::getenv("PTX_PTXAS");
    Ptxas ptxas(named != nullptr ? named : "ptxas");
    if (std::system(("command -v '" + ptxas.program_ + "' >/dev/null 2>&1").c_str()) != 0) return std::nullopt;
    return ptxas;
  }

  [[nodiscard]] Verdict judge(const std::string& text, const std::string& target, const std::string& options = "") const {
    return run(text, target, options, "/dev/null");
  }
  /// The ELF file that it makes of a text; nothing when it refuses it.
  [[nodiscard]] std::optional<std::string> assemble(const std::string& text, const std::string& target) const {
    const std::filesystem::path file = of_this_process(".cubin");
    std::optional<std::string> elf;
    if (run(text, target, "", file.string()).accepted) {
      std::ifstream stream(file, std::ios::binary);
      elf.emplace(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
    std::filesystem::remove(file);
    return elf;
  }

 private:
  static std::filesystem::path of_this_process(const std::string& extension) {
    return std::filesystem::temp_directory_path() / ("ptx_test_" + std::to_string(::getpid()) + extension);
  }
  [[nodiscard]] Verdict run(const std::string& text, const std::string& target, const std::string& options,
                            const std::string& output) const {
    const std::filesystem::path file = of_this_process(".ptx");
    std::ofstream(file, std::ios::binary) << text;
    Verdict verdict;
    const std::string command = "'" + program_ + "' -arch=" + target + ' ' + options +
                                (options.find("-O") == std::string::npos ? " -O0" : "") + " -o '" + output + "' '" +
                                file.string() + "' 2>&1";
    if (FILE* pipe = ::popen(command.c_str(), "r")) {
      std::array<char, 4096> chunk{};
      while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) verdict.said.append(chunk.data(), n);
      verdict.accepted = ::pclose(pipe) == 0;
    }
    std::filesystem::remove(file);
    return verdict;
  }

  explicit Ptxas(std::string program) : program_(std::move(program)) {}
  std::string program_;
};

}  // namespace ptx::testing
