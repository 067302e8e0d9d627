// A file descriptor that closes itself. Inside the room only.
#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace ptx::cuda {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { (void)close_now(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int number() const { return number_; }
  bool close_now() {
    if (number_ < 0) return true;
    const bool closed = ::close(number_) == 0;
    number_ = -1;
    return closed;
  }

 private:
  int number_;
};

/// Reads to the end of the descriptor; false when a read fails (errno says why).
inline bool read_all(int descriptor, std::string& out) {
  std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count > 0) {
      out.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
}

}  // namespace ptx::cuda
