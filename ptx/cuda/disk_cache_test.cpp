#include "ptx/cuda/disk_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "ptx/cuda/files.hpp"
#include "tests/cuda/fake_ptxas.hpp"

namespace ptx::cuda {
namespace {

namespace fs = std::filesystem;

class DiskCacheTest : public ::testing::Test {
 protected:
  /// How many files lie below the folder.
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& file : fs::recursive_directory_iterator(cache.folder()))
      count += file.is_regular_file() && file.path().filename() != "swept";
    return count;
  }
  FakePtxas ptxas;
  DiskCache cache{ptxas.cache()};
  const Digest key = sha256("kernel");
  const DiskCache::Entry entry{.cubin = std::string("\x7f"
                                                    "ELF\0cubin",
                                                    10),
                               .log = "ptxas info    : fine\n"};
};

TEST_F(DiskCacheTest, gives_back_what_was_kept) {
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.keep(key, entry));
  EXPECT_EQ(cache.find(key), entry);
  EXPECT_FALSE(cache.find(sha256("another")));
  const std::string name = to_hex(key);
  EXPECT_EQ(cache.path_of(key), cat(ptxas.cache(), '/', name.substr(0, 2), '/', name, ".cubin"));
  EXPECT_EQ(files(), 1u) << "nothing is left beside it";
}

TEST_F(DiskCacheTest, what_others_own_or_may_write_to_is_not_taken) {
  ASSERT_TRUE(cache.keep(key, entry));
  struct stat status{};
  ASSERT_EQ(::stat(cache.path_of(key).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(cache.folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);

  ASSERT_EQ(::chmod(cache.path_of(key).c_str(), 0664), 0);
  EXPECT_FALSE(cache.find(key));
  ASSERT_TRUE(cache.keep(key, entry)) << "it is replaced";
  EXPECT_EQ(cache.find(key), entry);
  ASSERT_TRUE(cache.version_of(ptxas.path().string()));
  EXPECT_EQ(cache.known_versions().size(), 1u);

  ASSERT_EQ(::chmod(cache.folder().c_str(), 0777), 0);
  EXPECT_FALSE(cache.find(key));
  EXPECT_TRUE(cache.known_versions().empty());
  const auto kept = cache.keep(key, entry);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().kind, Kind::file_error);
  EXPECT_NE(kept.error().message.find("anybody may write to the folder"), std::string::npos) << kept.error().message;
  ASSERT_EQ(::chmod(cache.folder().c_str(), 0755), 0);
  EXPECT_EQ(cache.find(key), entry);

  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder to another user";
  ASSERT_EQ(::chown(cache.folder().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache.find(key));
  const auto others = cache.keep(key, entry);
  ASSERT_FALSE(others);
  EXPECT_NE(others.error().message.find("belongs to user 12345"), std::string::npos) << others.error().message;
  ASSERT_EQ(::chown(cache.folder().c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(cache.path_of(key).c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache.find(key)) << "an entry of somebody else's";
}

TEST_F(DiskCacheTest, the_oldest_go_when_it_is_full) {
  constexpr std::uint64_t most = 100'000;
  const DiskCache small = cache.limited_to(most);
  const auto key_of = [](int i) { return sha256(std::to_string(i)); };
  const auto aged = [&](int i, std::chrono::hours age) {
    fs::last_write_time(small.path_of(key_of(i)), fs::file_time_type::clock::now() - age);
  };
  const DiskCache::Entry large{.cubin =
                                   "\x7f"
                                   "ELF" +
                                   std::string(9'000, 'x'),
                               .log = {}};
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(small.keep(key_of(i), large));
    aged(i, std::chrono::hours(100 - i));
  }
  EXPECT_TRUE(small.find(key_of(0))) << "used again: it is now the youngest";
  for (int i = 8; i < 14; ++i) ASSERT_TRUE(small.keep(key_of(i), large));
  std::uint64_t total = 0;
  for (const auto& file : fs::recursive_directory_iterator(small.folder()))
    if (file.is_regular_file()) total += file.file_size();
  EXPECT_LE(total, most);
  EXPECT_TRUE(small.find(key_of(0)));
  EXPECT_FALSE(small.find(key_of(1)));
  for (int i = 9; i < 14; ++i) EXPECT_TRUE(small.find(key_of(i))) << i;
}

TEST_F(DiskCacheTest, what_dead_writers_left_goes) {
  ASSERT_TRUE(cache.keep(key, entry));
  const std::string dead = cache.path_of(key) + ".123.0.tmp", alive = cache.path_of(key) + ".124.0.tmp";
  for (const std::string& path : {dead, alive}) ASSERT_TRUE(write_file(path, "half"));
  fs::last_write_time(dead, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(fs::path(cache.folder()) / "swept", fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.keep(sha256("another"), entry));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive)) << "it may still be written";
  EXPECT_EQ(cache.find(key), entry);
}

TEST_F(DiskCacheTest, a_damaged_file_is_a_miss_and_is_replaced) {
  ASSERT_TRUE(cache.keep(key, entry));
  const std::string whole = read_file(cache.path_of(key)).value();
  for (const std::string& damaged : {std::string(), whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
                                     whole + "x", std::string(whole.size(), 'x'),
                                     std::string("\x7f"
                                                 "ELF a bare cubin")}) {
    ASSERT_TRUE(write_file(cache.path_of(key), damaged));
    EXPECT_FALSE(cache.find(key)) << damaged.size();
    ASSERT_TRUE(cache.keep(key, entry));
    EXPECT_EQ(cache.find(key), entry);
  }
  // A whole file in another's place.
  const Digest other = sha256("other");
  fs::create_directories(fs::path(cache.path_of(other)).parent_path());
  fs::copy_file(cache.path_of(key), cache.path_of(other));
  EXPECT_FALSE(cache.find(other));
  // A folder where the file should be.
  fs::remove(cache.path_of(key));
  fs::create_directory(cache.path_of(key));
  EXPECT_FALSE(cache.find(key));
}

TEST_F(DiskCacheTest, a_folder_that_cannot_be_written_is_said_and_nothing_else) {
  const DiskCache in_a_file(cat(ptxas.path().string(), "/cache"));
  const auto kept = in_a_file.keep(key, entry);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().kind, Kind::file_error);
  EXPECT_FALSE(in_a_file.find(key));
  EXPECT_TRUE(in_a_file.known_versions().empty());
  EXPECT_TRUE(in_a_file.version_of(ptxas.path()));
  if (::geteuid() == 0) return;  // for whom no folder is read-only
  fs::create_directories(cache.folder());
  fs::permissions(cache.folder(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FALSE(cache.keep(key, entry));
  EXPECT_FALSE(cache.find(key));
  fs::permissions(cache.folder(), fs::perms::owner_all);
}

TEST_F(DiskCacheTest, a_full_disk_leaves_nothing) {
  fs::create_directories(fs::path(cache.path_of(key)).parent_path());
  // A limit on file size stands in for it: the write fails in the same way.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction old_action{};
  sigaction(SIGXFSZ, &ignore, &old_action);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit little{.rlim_cur = 16, .rlim_max = old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  const auto kept = cache.keep(key, entry);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  sigaction(SIGXFSZ, &old_action, nullptr);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().kind, Kind::file_error);
  EXPECT_EQ(files(), 0u);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(DiskCacheTest, writers_and_readers_of_one_entry_never_see_a_part) {
  const DiskCache::Entry large{.cubin =
                                   "\x7f"
                                   "ELF" +
                                   std::string(200'000, 'a'),
                               .log = "log"};
  ASSERT_TRUE(cache.keep(key, large));
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {  // without threads yet: a child of fork may do anything
    const pid_t child = ::fork();
    if (child == 0) {
      bool ok = true;
      for (int round = 0; round < 20; ++round) ok = cache.keep(key, large).has_value() && ok;
      ::_exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        if (i == 0) wrong += !cache.keep(key, large);
        wrong += cache.find(key) != large;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files(), 1u);
}

TEST_F(DiskCacheTest, the_folder_is_the_environments) {
  EXPECT_EQ(DiskCache::from_environment().folder(), ptxas.cache());
  for (const char* off : {"", "off"}) {
    const ScopedVariable set("PYPTX_CACHE_DIR", off);
    EXPECT_FALSE(DiskCache::from_environment().on());
  }
  const ScopedVariable home("HOME", "/home/me");
  const ScopedVariable no_caches("XDG_CACHE_HOME", std::nullopt);
  {
    const ScopedVariable below_home("PYPTX_CACHE_DIR", "~/kernels");
    EXPECT_EQ(DiskCache::from_environment().folder(), "/home/me/kernels");
  }
  const ScopedVariable unset("PYPTX_CACHE_DIR", std::nullopt);
  EXPECT_EQ(DiskCache::from_environment().folder(), "/home/me/.cache/pyptx");
  {
    const ScopedVariable caches("XDG_CACHE_HOME", "/caches");
    EXPECT_EQ(DiskCache::from_environment().folder(), "/caches/pyptx");
  }
  {
    const ScopedVariable relative("XDG_CACHE_HOME", "caches");
    EXPECT_EQ(DiskCache::from_environment().folder(), "/home/me/.cache/pyptx");
  }
  const ScopedVariable homeless("HOME", std::nullopt);
  EXPECT_FALSE(DiskCache::from_environment().on());
}

TEST_F(DiskCacheTest, what_is_off_keeps_nothing) {
  const DiskCache off;
  EXPECT_TRUE(off.keep(key, entry));
  EXPECT_FALSE(off.find(key));
  EXPECT_TRUE(off.known_versions().empty());
}

TEST_F(DiskCacheTest, a_tool_tells_its_version_once) {
  const std::string first = cache.version_of(ptxas.path()).value();
  EXPECT_NE(first.find("release 13.0"), std::string::npos);
  EXPECT_EQ(cache.version_of(ptxas.path()).value(), first);
  EXPECT_EQ(ptxas.versions(), 1u);
  ptxas.install("13.1");  // another file
  EXPECT_NE(cache.version_of(ptxas.path()).value(), first);
  EXPECT_EQ(ptxas.versions(), 2u);
  EXPECT_EQ(cache.known_versions().size(), 2u);
}

TEST_F(DiskCacheTest, a_version_that_is_damaged_on_disk_is_asked_again) {
  const std::string first = cache.version_of(ptxas.path()).value();
  for (const auto& file : fs::directory_iterator(fs::path(cache.folder()) / "tools"))
    ASSERT_TRUE(write_file(file.path().string(), "rubbish"));
  EXPECT_TRUE(cache.known_versions().empty());
  EXPECT_EQ(cache.version_of(ptxas.path()).value(), first) << "this process knows it still";
  EXPECT_FALSE(cache.version_of(cat(ptxas.path().string(), "-not-there")));
}

}  // namespace
}  // namespace ptx::cuda
