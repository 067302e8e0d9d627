#include "ptx/cuda/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>

#include "ptx/cuda/descriptor.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has the program declare it

namespace ptx::cuda {
namespace {

Unexpected failed(std::string_view what, int error, Kind kind = Kind::tool_failed) {
  return Unexpected{{.kind = kind, .message = cat(what, ": ", std::strerror(error))}};
}

/// Where a shell says how the program ended.
constexpr int status_descriptor = 3;

/// What the child does before it becomes the program: its files and its signals.
class SpawnPlan {
 public:
  /// `status`: a descriptor that the program gets as its third, or -1.
  explicit SpawnPlan(int output, int status) {
    posix_spawn_file_actions_init(&actions_);
    if (status >= 0) posix_spawn_file_actions_adddup2(&actions_, status, status_descriptor);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    // The host program may block or ignore signals; a tool should not inherit that.
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGCHLD);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    // A shell and what it runs are ended together; a program alone stays with the terminal's Ctrl-C.
    const int own_group = status >= 0 ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | own_group));
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int start(pid_t& child, const std::string& program, char* const* arguments) const {
    return posix_spawn(&child, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

struct Pipe {
  Descriptor read, write;
  static Expected<Pipe> make() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("cannot make a pipe", errno);
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  }
};

/// Whether the kernel forgets how this process's children end.
bool forgets_children() {
  struct sigaction action{};
  return ::sigaction(SIGCHLD, nullptr, &action) == 0 &&
         (action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0);  // NOLINT: a union in POSIX
}

enum class Stop : std::uint8_t { end, time, output, error };
/// Reads until the writers are gone or a limit is reached.
Stop read_within(int descriptor, std::string& out, const ProcessLimits& limits) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + limits.time;
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Stop::time;
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (count == 0 || (count < 0 && errno == EINTR)) continue;
    if (count < 0) return Stop::error;
    const ssize_t bytes = ::read(descriptor, buffer.data(), buffer.size());
    if (bytes == 0) return Stop::end;
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return Stop::error;
    out.append(buffer.data(), static_cast<std::size_t>(bytes));
    if (out.size() > limits.output_bytes) return Stop::output;
  }
}

/// How a child ended; nothing when somebody else has waited for it.
std::optional<int> wait_for(pid_t child) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  return waited < 0 ? std::nullopt : std::optional(status);
}

/// One run. Nothing when it is not known how the program ended.
Expected<std::optional<ProcessResult>> run_once(const std::string& program, const std::vector<std::string>& arguments,
                                                const ProcessLimits& limits, bool by_shell) {
  auto output = Pipe::make();
  auto status = Pipe::make();
  if (!output || !status) return failed(cat("cannot start `", program, '`'), errno);
  std::vector<std::string> words;
  if (by_shell) words = {"/bin/sh", "-c", "\"$@\" 3>&-; echo $? >&3", "sh"};
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  pid_t child = 0;
  const SpawnPlan plan(output->write.number(), by_shell ? status->write.number() : -1);
  if (const int error = plan.start(child, words.front(), pointers.data()); error != 0)
    return failed(cat("cannot start `", program, '`'), error);
  (void)output->write.close_now();  // so that the pipes end when the program does
  (void)status->write.close_now();

  ProcessResult result;
  const Stop stop = read_within(output->read.number(), result.output, limits);
  const int read_error = errno;
  if (stop != Stop::end) ::kill(by_shell ? -child : child, SIGKILL);
  const std::optional<int> ended = wait_for(child);
  const auto ended_for = [&](std::string_view what) {
    return Unexpected{{.kind = Kind::tool_failed, .message = cat('`', program, "` ", what, ", and was ended")}};
  };
  if (stop == Stop::error) return failed(cat("cannot read the output of `", program, '`'), read_error);
  if (stop == Stop::output) return ended_for(cat("printed more than ", limits.output_bytes, " bytes"));
  if (stop == Stop::time) {
    const auto milliseconds = limits.time.count();
    return ended_for(milliseconds % 1000 == 0 ? cat("ran for more than ", milliseconds / 1000, " s")
                                              : cat("ran for more than ", milliseconds, " ms"));
  }
  if (by_shell) {
    std::string said;
    int code = 0;
    if (!read_all(status->read.number(), said) || std::from_chars(said.data(), said.data() + said.size(), code).ec != std::errc())
      return std::optional<ProcessResult>();
    // A shell says 128 and the signal's number; programs leave with small numbers and 255.
    constexpr int by_signal = 128;
    const bool killed = code > by_signal && code <= by_signal + SIGRTMAX;
    (killed ? result.signal : result.exit_code) = killed ? code - by_signal : code;
    return std::optional(std::move(result));
  }
  if (!ended) return std::optional<ProcessResult>();
  if (WIFSIGNALED(*ended)) {
    result.signal = WTERMSIG(*ended);
  } else {
    result.exit_code = WEXITSTATUS(*ended);
  }
  return std::optional(std::move(result));
}

}  // namespace

Expected<ProcessResult> run_process(const std::string& program, const std::vector<std::string>& arguments,
                                    const ProcessLimits& limits) {
  // Where the status is lost, a shell between, whose children are its own, tells it.
  for (const bool by_shell : {false, true}) {
    if (!by_shell && forgets_children()) continue;
    auto result = run_once(program, arguments, limits, by_shell);
    if (!result) return Unexpected{std::move(result).error()};
    if (*result) return std::move(**result);
  }
  return Unexpected{
      {.kind = Kind::tool_failed,
       .message = cat("it is not known how `", program, "` ended: this process's children are waited for elsewhere")}};
}

std::string describe_end(const ProcessResult& result) {
  if (result.signal == 0) return cat("exited with code ", result.exit_code);
  const char* name = strsignal(result.signal);
  return cat("was killed by signal ", result.signal, " (", name != nullptr ? name : "unknown", ')');
}

Expected<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    return Unexpected{{.kind = Kind::file_error, .message = cat("no temporary folder (TMPDIR): ", error.message())}};
  }
  std::string pattern = (parent / "ptx-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return failed(cat("cannot make a temporary folder in `", parent.string(), '`'), errno, Kind::file_error);
  return TemporaryFolder(std::filesystem::path(pattern));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ptx::cuda
