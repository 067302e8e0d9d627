// A run on the executor, attended for the person who waits for it: Ctrl-C ends it, and a terminal shows how far it is.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::launch {

/// Alive while a run is. When somebody handles SIGINT (Python does), it hears of the signal too, and hands it on; a program that
/// leaves SIGINT alone is ended by it as ever.
class Attendance {
 public:
  Attendance(std::string_view kernel, InterruptHook hook);
  ~Attendance();
  Attendance(const Attendance&) = delete;
  Attendance& operator=(const Attendance&) = delete;

  /// False: the run is to end. Called every few milliseconds.
  bool operator()(const vgpu::RunProgress& progress);

 private:
  void show(const vgpu::RunProgress& progress);

  const std::string kernel_;
  const InterruptHook hook_;
  unsigned interrupts_;  // heard of before this run, or let be
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = began_;
  bool shows_ = false;  // this run has the terminal's line
};

/// PYPTX_RUN_CHECKS, what runs on the executor look for that are not told: off where it is not set. Kind bad_setting.
Expected<vgpu::Checks> checks_setting();
/// The suppressions in the file that PYPTX_RUN_SUPPRESS names; those of them that fit nothing are not named. Kinds: file_error,
/// bad_setting.
Expected<std::vector<vgpu::Suppression>> suppressions_setting();

/// PYPTX_MAX_INSTRUCTIONS, the limit of a run on the executor; 0: none is set. Kind bad_setting.
Expected<std::uint64_t> max_instructions_setting();

}  // namespace ptx::launch
