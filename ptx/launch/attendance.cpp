#include "ptx/launch/attendance.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

namespace ptx::launch {
namespace {

// ---- Ctrl-C

std::atomic<unsigned> interrupts{0};
struct sigaction before{};  // whom a SIGINT is handed on to; written while our handler is not in place
int attended = 0;           // runs that are under way
std::mutex attended_mutex;

void hear(int number, siginfo_t* info, void* context) {
  interrupts.fetch_add(1, std::memory_order_relaxed);
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(number);
}
bool is_ours(const struct sigaction& action) { return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &hear; }

void begin_hearing() {
  const std::lock_guard lock(attended_mutex);
  if (attended++ != 0) return;
  struct sigaction now{};
  if (sigaction(SIGINT, nullptr, &now) != 0 || is_ours(now)) return;
  const bool handled = (now.sa_flags & SA_SIGINFO) != 0 || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
  if (!handled) return;
  before = now;
  struct sigaction ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = &hear;
  sigaction(SIGINT, &ours, nullptr);
}

void end_hearing() {
  const std::lock_guard lock(attended_mutex);
  if (--attended != 0) return;
  struct sigaction now{};
  // Whoever has taken the signal over meanwhile keeps it.
  if (sigaction(SIGINT, nullptr, &now) == 0 && is_ours(now)) sigaction(SIGINT, &before, nullptr);
}

// ---- the terminal

constexpr auto show_after = std::chrono::seconds(1);
constexpr auto show_every = std::chrono::milliseconds(200);
std::atomic<bool> line_taken{false};  // one run at a time shows itself

bool wants_progress() {
  const char* setting = std::getenv("PYPTX_PROGRESS");
  if (setting != nullptr && std::strcmp(setting, "off") == 0) return false;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

}  // namespace

Attendance::Attendance(std::string_view kernel, InterruptHook hook)
    : kernel_(kernel), hook_(hook), interrupts_(interrupts.load()) {
  begin_hearing();
}

Attendance::~Attendance() {
  end_hearing();
  if (!shows_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  line_taken = false;
}

bool Attendance::operator()(const vgpu::RunProgress& progress) {
  if (const unsigned heard = interrupts.load(std::memory_order_relaxed); heard != interrupts_) {
    interrupts_ = heard;
    if (hook_ == nullptr || hook_()) return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - began_ >= show_after && now - shown_ >= show_every) {
    shown_ = now;
    show(progress);
  }
  return true;
}

void Attendance::show(const vgpu::RunProgress& progress) {
  if (!shows_ && (!wants_progress() || line_taken.exchange(true))) return;
  shows_ = true;
  const double seconds = std::chrono::duration<double>(shown_ - began_).count();
  const double rate = static_cast<double>(progress.warp_instructions) / seconds / 1e6;
  const double percent = 100.0 * static_cast<double>(progress.ctas_done) / static_cast<double>(progress.ctas);
  std::fprintf(stderr, "\rkernel `%s` on the CPU: %.1f %% of %llu blocks, %.1f M warp instructions a second, %.0f s \033[K",
               kernel_.c_str(), percent, static_cast<unsigned long long>(progress.ctas), rate, seconds);
  std::fflush(stderr);
}

Expected<vgpu::Checks> checks_setting() {
  const char* setting = std::getenv("PYPTX_RUN_CHECKS");
  if (setting == nullptr || *setting == '\0') return vgpu::Checks::cheap;
  if (const auto checks = vgpu::checks_from_name(setting)) return *checks;
  const auto words = vgpu::words_of_checks();
  return Unexpected{{.kind = Kind::bad_setting,
                     .message = cat("PYPTX_RUN_CHECKS is `", setting, "`; what fits is ",
                                    list_choices(std::vector<std::string>(words.begin(), words.end())))}};
}

Expected<std::vector<vgpu::Suppression>> suppressions_setting() {
  const char* file = std::getenv("PYPTX_RUN_SUPPRESS");
  if (file == nullptr || *file == '\0') return std::vector<vgpu::Suppression>{};
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) return refuse(Kind::file_error, cat("PYPTX_RUN_SUPPRESS is `", file, "`, which cannot be read"));
  auto all = vgpu::Suppression::read_all(text.str(), file);
  if (all)
    for (vgpu::Suppression& one : *all) one.text.clear();
  return all;
}

Expected<std::uint64_t> max_instructions_setting() {
  const char* setting = std::getenv("PYPTX_MAX_INSTRUCTIONS");
  if (setting == nullptr || *setting == '\0') return std::uint64_t{0};
  std::uint64_t value = 0;
  const char* const end = setting + std::strlen(setting);
  if (const auto read = std::from_chars(setting, end, value); read.ec == std::errc() && read.ptr == end && value != 0)
    return value;
  return Unexpected{{.kind = Kind::bad_setting,
                     .message = cat("PYPTX_MAX_INSTRUCTIONS is `", setting,
                                    "`; what fits is how many warp instructions a run on the executor may take, 1 or more")}};
}

}  // namespace ptx::launch
