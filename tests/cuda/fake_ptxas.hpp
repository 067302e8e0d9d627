// A stand-in for ptxas: a shell script that notes that it ran, says what a test wants and leaves a "cubin" that names the target.
// With a folder of its own for the cache, and no other ptxas in sight.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "ptx/cuda/cuda.hpp"
#include "tests/support/variables.hpp"

namespace ptx::cuda {

class FakePtxas {
 public:
  FakePtxas() {
    std::filesystem::create_directories(folder_ / "bin");
    install();
  }
  ~FakePtxas() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakePtxas(const FakePtxas&) = delete;
  FakePtxas& operator=(const FakePtxas&) = delete;

  /// Puts a script there: `body` runs when it compiles, with $out and $target set; nothing: it makes a cubin.
  void install(const std::string& version = "13.0", const std::string& body = "") { script(path(), version, body); }
  void script(const std::filesystem::path& at, const std::string& version, const std::string& body) {
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::remove(at);
    std::ofstream(at)
        << "#!/bin/sh\n"
        << "if [ \"$1\" = --version ]; then echo v >> '" << (folder_ / "versions").string() << "'; echo 'Cuda tools, release "
        << version << ", V" << version << ".88'; exit 0; fi\n"
        << "echo c >> '" << (folder_ / "compiles").string() << "'\n"
        << "for word; do case $word in -arch=*) target=${word#-arch=};; esac; if [ \"$last\" = -o ]; then out=$word; fi; "
           "last=$word; done\n"
        << body << "\n"
        << "printf '\\177ELF %s' \"$target\" > \"$out\"\n";
    EXPECT_EQ(::chmod(at.c_str(), 0700), 0);
    // Scripts that follow one another within the clock's grain may have one size: the time of change tells them apart.
    std::filesystem::last_write_time(at, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(++changes_));
  }
  void remove() { std::filesystem::remove(path()); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "bin" / "ptxas"; }
  [[nodiscard]] std::filesystem::path folder() const { return folder_; }
  [[nodiscard]] std::string cache() const { return (folder_ / "cache").string(); }
  /// How often it compiled; how often it was asked for its version.
  [[nodiscard]] std::size_t compiles() const { return lines("compiles"); }
  [[nodiscard]] std::size_t versions() const { return lines("versions"); }

 private:
  [[nodiscard]] std::size_t lines(const char* file) const {
    std::ifstream in(folder_ / file);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
  }
  static std::filesystem::path make_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ptx-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    return pattern;
  }

  std::filesystem::path folder_ = make_folder();
  int changes_ = 0;
  ScopedVariable path_{"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}, home_{"CUDA_HOME", std::nullopt},
      chosen_{"PYPTX_PTXAS", path().string()}, cache_{"PYPTX_CACHE_DIR", cache()}, jit_{"PYPTX_JIT", std::nullopt},
      no_compile_{"PYPTX_NO_COMPILE", std::nullopt}, strict_{"PYPTX_STRICT", std::nullopt};
};

}  // namespace ptx::cuda
