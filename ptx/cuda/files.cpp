#include "ptx/cuda/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "ptx/cuda/descriptor.hpp"

namespace ptx::cuda {
namespace {

Unexpected failed(std::string_view what, const std::string& path, int error) {
  return Unexpected{{.kind = Kind::file_error, .message = cat("cannot ", what, " `", path, "`: ", std::strerror(error))}};
}

enum class Kept : std::uint8_t { by_and_by, at_once };  // at_once: on the disk when it returns, not only in the kernel's memory

Expected<void> write_opened(Descriptor file, const std::string& path, std::string_view bytes, Kept kept = Kept::by_and_by) {
  const auto refuse = [&] { return failed("write", path, errno); };
  if (file.number() < 0) return refuse();
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse();
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (kept == Kept::at_once && ::fsync(file.number()) != 0) return refuse();
  if (!file.close_now()) return refuse();  // a network disk tells here that it is full
  return {};
}

}  // namespace

Expected<void> write_file(const std::string& path, std::string_view bytes) {
  return write_opened(Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)), path, bytes);
}

Expected<std::string> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  if (file.number() < 0 || !read_all(file.number(), bytes)) return failed("read", path, errno);
  return bytes;
}

Expected<void> replace_file(const std::string& given, std::string_view bytes, Readers readers) {
  struct stat status{};
  const bool is_there = ::stat(given.c_str(), &status) == 0;
  // Of a link, the file that it leads to is replaced, and the link stays.
  const std::unique_ptr<char, decltype(&std::free)> target(is_there ? ::realpath(given.c_str(), nullptr) : nullptr, &std::free);
  const std::string path = target != nullptr ? target.get() : given;
  if (is_there && !S_ISREG(status.st_mode)) {
    if (S_ISDIR(status.st_mode)) return failed("write", path, EISDIR);
    return Unexpected{{.kind = Kind::file_error,
                       .message = cat("cannot write `", path, "`: it is not a regular file, and would be replaced by one")}};
  }
  // Processes differ in their number, threads in the counter; machines that share a disk, and processes that died half-way, in
  // neither, so a name that is taken gives way to the next.
  static std::atomic<unsigned> counter = 0;
  constexpr int tries = 100;
  const auto next = [&] { return cat(path, '.', ::getpid(), '.', counter++, ".tmp"); };
  const mode_t mode = readers == Readers::owner ? 0600 : 0666;  // less the umask
  const auto create = [mode](const std::string& name) {
    return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  };
  std::string beside = next();
  int opened = create(beside);
  for (int i = 1; i < tries && opened < 0 && errno == EEXIST; ++i) opened = create(beside = next());
  Descriptor file(opened);
  if (file.number() < 0) return failed("write", path, errno);
  if (is_there && readers == Readers::as_usual) (void)::fchmod(file.number(), status.st_mode & 0777);  // as it was
  auto written = write_opened(std::move(file), path, bytes, Kept::at_once);
  if (written && ::rename(beside.c_str(), path.c_str()) != 0) written = failed("write", path, errno);
  if (!written) (void)::unlink(beside.c_str());
  return written;
}

}  // namespace ptx::cuda
