#include "ptx/cuda/subprocess.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "ptx/cuda/descriptor.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has the program declare it

namespace ptx::cuda {
namespace {

Unexpected failed(std::string_view what, int error, Kind kind = Kind::tool_failed) {
  return Unexpected{{.kind = kind, .message = cat(what, ": ", std::strerror(error))}};
}

/// What the child does before it becomes the program: its files and its signals.
class SpawnPlan {
 public:
  explicit SpawnPlan(int output) {
    posix_spawn_file_actions_init(&actions_);
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
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
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

}  // namespace

Expected<ProcessResult> run_process(const std::string& program, const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed(cat("cannot start `", program, '`'), errno);
  const Descriptor output(ends[0]);
  Descriptor input(ends[1]);

  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  pid_t child = 0;
  if (const int error = SpawnPlan(input.number()).start(child, program, pointers.data()); error != 0) {
    return failed(cat("cannot start `", program, '`'), error);
  }
  (void)input.close_now();  // so that the pipe ends when the program does

  ProcessResult result;
  const bool read = read_all(output.number(), result.output);
  const int read_error = errno;
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited < 0) return failed(cat("cannot wait for `", program, '`'), errno);
  if (!read) return failed(cat("cannot read the output of `", program, '`'), read_error);
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
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
