#include "ptx/tool/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <system_error>

#include "ptx/cuda/cuda.hpp"

namespace ptx::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_bytes = 0x7FFFFFFFu;      // places in a source are 31-bit offsets
constexpr std::size_t max_stream_bytes = 0x40000000u;  // of what is no regular file, and so may have no end

std::string why(int error) {
  if (error == ENOENT) return "no such file";
  if (error == EACCES) return "permission denied";
  return std::generic_category().message(error == 0 ? EIO : error);
}

Read failed(const std::string& path, std::string_view reason, std::string hint = {}) {
  return {.text = {}, .failure = cat("cannot read `", path, "`: ", reason), .hint = std::move(hint)};
}

// All of a stream, or one byte more than `most`; of text no more than the piece in which it shows that it is none.
std::string contents(std::istream& in, std::size_t most, bool of_text) {
  constexpr std::size_t piece = 0x10000;
  std::string all;
  while (in && all.size() <= most) {
    const std::size_t begin = all.size();
    all.resize(begin + std::min(piece, most + 1 - begin));
    in.read(all.data() + begin, static_cast<std::streamsize>(all.size() - begin));
    all.resize(begin + static_cast<std::size_t>(in.gcount()));
    if (of_text && all.find('\0', begin) != std::string::npos) break;
  }
  return all;
}

// What a file holds that is no text, or "".
std::string_view kind_of_binary(std::string_view bytes) {
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return "an ELF file";
  if (bytes.starts_with("\x50\xed\x55\xba")) return "a fatbin";
  if (bytes.starts_with("PK\x03\x04")) return "a zip archive";
  if (bytes.starts_with("\x1f\x8b")) return "gzip-compressed";
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return "UTF-16 text";
  return bytes.find('\0') != std::string_view::npos ? "binary" : "";
}

Read as_text(const std::string& path, std::string text) {
  if (text.size() > max_bytes) return failed(path, "it has more than 2 GiB");
  if (text.starts_with("\xef\xbb\xbf"))
    return failed(path, "it starts with a byte order mark, and PTX is ASCII",
                  "save it as UTF-8 without one; ptxas refuses it too");
  const std::string_view kind = kind_of_binary(text);
  if (kind.empty()) return {.text = std::move(text), .failure = {}, .hint = {}};
  if (kind == "an ELF file" || kind == "a fatbin")
    return failed(path, cat("it is ", kind, ", not PTX"), "`cuobjdump -ptx` shows the PTX inside, if there is any");
  if (kind != "binary") return failed(path, cat("it is ", kind, ", not PTX"));
  return failed(path, cat("it is not text: byte ", text.find('\0'), " is zero"));
}

}  // namespace

Expected<std::string> read_bytes(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return refuse(Kind::file_error, cat("cannot read `", path, "`: it is a folder"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(Kind::file_error, cat("cannot read `", path, "`: ", why(errno)));
  const bool ends = fs::is_regular_file(path, error);
  std::string bytes = contents(file, ends ? std::string().max_size() - 1 : max_stream_bytes, false);
  if (file.bad()) return refuse(Kind::file_error, cat("cannot read `", path, "`: ", why(errno)));
  if (!ends && bytes.size() > max_stream_bytes)
    return refuse(Kind::file_error, cat("cannot read `", path, "`: it is no regular file, and has more than 1 GiB"));
  return bytes;
}

std::string display_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

Read read_file(const std::string& path, const Caller& caller) {
  if (path == "-") {
    if (caller.in == nullptr) return failed(path, "there is no standard input");
    return as_text("<stdin>", contents(*caller.in, max_bytes, true));
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return failed(path, why(error ? error.value() : ENOENT));
  if (fs::is_directory(status))
    return failed(path, "it is a folder", cat("name a file: `", (fs::path(path) / "kernel.ptx").generic_string(), '`'));
  if (fs::is_regular_file(status) && fs::file_size(path, error) > max_bytes) return failed(path, "it has more than 2 GiB");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(path, why(errno));
  std::string text = contents(file, max_bytes, true);
  if (file.bad()) return failed(path, why(errno));
  return as_text(path, std::move(text));
}

Files find_files(std::span<const std::string> names) {
  Files found;
  for (const std::string& name : names) {
    std::error_code error;
    if (name == "-" || !fs::is_directory(name, error)) {
      found.paths.push_back(name);
      continue;
    }
    std::vector<std::string> below;
    constexpr auto follow = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator it(name, follow, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".ptx" && !it->is_directory(error)) below.push_back(it->path().generic_string());
    std::sort(below.begin(), below.end());
    if (error)
      found.failures.emplace_back(cat("cannot read the folder `", name, "`: ", why(error.value())), "");
    else if (below.empty())
      found.failures.emplace_back(cat("the folder `", name, "` holds no file that ends in `.ptx`"),
                                  "files of other names are read when they are named themselves");
    found.paths.insert(found.paths.end(), below.begin(), below.end());
  }
  return found;
}

std::string obstacle_to_writing(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return cat("cannot write `", path, "`: it is a folder");
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && !fs::exists(parent, error)) return cat("cannot write `", path, "`: its folder is not there");
  return {};
}

std::string write_file(const std::string& path, std::string_view text) {
  if (std::string obstacle = obstacle_to_writing(path); !obstacle.empty()) return obstacle;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_special = fs::exists(status) && !fs::is_regular_file(status);
  const auto written = is_special ? cuda::write_file(path, text) : cuda::replace_file(path, text);
  return written ? std::string() : written.error().message;
}

}  // namespace ptx::tool
