// Functions that a static libstdc++ built on a newer glibc calls and an older one does not have: part of the Python extension of
// a wheel (OlderGlibc.cmake), hidden in it.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// What a thread is to do when it ends, last thing first.
struct AtThreadExit {
  void (*run)(void*);
  void* object;
  AtThreadExit* next;
};
pthread_key_t at_thread_exit;
pthread_once_t made_once = PTHREAD_ONCE_INIT;

void run_all(void* list) {
  // One by one, since each may add more.
  for (auto* now = static_cast<AtThreadExit*>(list); now != nullptr;
       now = static_cast<AtThreadExit*>(pthread_getspecific(at_thread_exit))) {
    (void)pthread_setspecific(at_thread_exit, now->next);
    now->run(now->object);
    delete now;
  }
}
void make_key() {
  if (pthread_key_create(&at_thread_exit, &run_all) != 0) std::abort();
}

}  // namespace

extern "C" {

// glibc's own before 2.33, where the calls below were inline functions.
int __xstat(int version, const char* path, struct stat* into);
int __lxstat(int version, const char* path, struct stat* into);
int __fxstat(int version, int descriptor, struct stat* into);
int __fxstat64(int version, int descriptor, struct stat64* into);
int __fxstatat(int version, int folder, const char* path, struct stat* into, int flags);

namespace {
constexpr int stat_version =
#ifdef __x86_64__
    1;
#else
    0;
#endif
}  // namespace

#define PTX_HIDDEN __attribute__((visibility("hidden")))

PTX_HIDDEN int stat(const char* path, struct stat* into) { return __xstat(stat_version, path, into); }
PTX_HIDDEN int lstat(const char* path, struct stat* into) { return __lxstat(stat_version, path, into); }
PTX_HIDDEN int fstat(int descriptor, struct stat* into) { return __fxstat(stat_version, descriptor, into); }
PTX_HIDDEN int fstat64(int descriptor, struct stat64* into) { return __fxstat64(stat_version, descriptor, into); }
PTX_HIDDEN int fstatat(int folder, const char* path, struct stat* into, int flags) {
  return __fxstatat(stat_version, folder, path, into, flags);
}

/// 2.25's. Nor may a system that is so old have the call below it, getrandom.
PTX_HIDDEN int getentropy(void* into, std::size_t size) {
  const int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const bool whole = source >= 0 && read(source, into, size) == static_cast<ssize_t>(size);
  if (source >= 0) (void)close(source);
  return whole ? 0 : -1;
}

/// 2.36's: of std::random_device.
PTX_HIDDEN std::uint32_t arc4random() {
  std::uint32_t bits = 0;
  if (getentropy(&bits, sizeof bits) != 0) std::abort();
  return bits;
}

/// 2.32's: a process may have several threads.
PTX_HIDDEN extern char __libc_single_threaded;
PTX_HIDDEN char __libc_single_threaded = 0;

/// 2.30's: a wait that ends at a time of any clock. The older one knows the time of day alone: a change of it moves the end.
PTX_HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* end) {
  constexpr long second = 1'000'000'000;
  timespec now{}, of_day{};
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &of_day) != 0) return EINVAL;
  of_day.tv_sec += end->tv_sec - now.tv_sec;
  of_day.tv_nsec += end->tv_nsec - now.tv_nsec;
  if (of_day.tv_nsec < 0) --of_day.tv_sec, of_day.tv_nsec += second;
  if (of_day.tv_nsec >= second) ++of_day.tv_sec, of_day.tv_nsec -= second;
  if (of_day.tv_sec < 0) return ETIMEDOUT;
  return pthread_cond_timedwait(condition, mutex, &of_day);
}

/// 2.18's: destructors of `thread_local` objects. Those of the main thread are not run, whose memory goes with the process.
PTX_HIDDEN int __cxa_thread_atexit_impl(void (*run)(void*), void* object, void* /*module*/) {
  (void)pthread_once(&made_once, &make_key);
  auto* const first = static_cast<AtThreadExit*>(pthread_getspecific(at_thread_exit));
  auto* const added = new (std::nothrow) AtThreadExit{run, object, first};
  if (added == nullptr) return -1;
  return pthread_setspecific(at_thread_exit, added);
}
}
