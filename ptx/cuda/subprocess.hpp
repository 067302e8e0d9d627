// Running a program, and a folder for its files, for the tools. Inside the room only.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/files.hpp"

namespace ptx::cuda {

/// How a program ended and what it printed, standard output and standard error in one.
struct ProcessResult {
  int exit_code = 0;
  int signal = 0;  ///< the signal that ended it, or 0
  std::string output;
  [[nodiscard]] bool ok() const { return exit_code == 0 && signal == 0; }
};

/// What a program may take before it is ended.
struct ProcessLimits {
  std::chrono::milliseconds time = std::chrono::minutes(10);
  std::size_t output_bytes = std::size_t{256} << 20;
};

/// Runs a program (a path, not searched) to its end, with no standard input. It knows how the program ended also where the host
/// program has SIGCHLD ignored or waits for every child itself. Errors: tool_failed (it cannot be started, or went over a limit).
Expected<ProcessResult> run_process(const std::string& program, const std::vector<std::string>& arguments,
                                    const ProcessLimits& limits = {});

/// "was killed by signal 11 (Segmentation fault)", "exited with code 255".
std::string describe_end(const ProcessResult& result);

/// A fresh folder below the system's temporary folder ($TMPDIR), removed with everything in it.
class TemporaryFolder {
 public:
  /// Errors: file_error.
  static Expected<TemporaryFolder> make();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace ptx::cuda
