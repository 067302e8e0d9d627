// isagen <kind> <file>: writes what is made from the instruction table at build time. isagen cpp-dots <folder>: the headers of
// the C++ dots, below it; those that say the same stay as they are. isagen docs <folder>: the pages of docs/isa.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "ptx/isa/gen/gen.hpp"

namespace {

struct Generator {
  std::string_view kind;
  std::string (*generate)();
};
constexpr Generator generators[] = {
    {"ops", ptx::isa::gen::generate_ops},
    {"pyi", ptx::isa::gen::generate_pyi},
};

// Writes the file when it says something else, so that what includes it is not built again.
bool update(const std::filesystem::path& path, const std::string& text) {
  std::ifstream there(path, std::ios::binary);
  if (there && std::string(std::istreambuf_iterator<char>(there), {}) == text) return true;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (file.flush()) return true;
  std::fprintf(stderr, "isagen: cannot write %s\n", path.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 3 && std::string_view(argv[1]) == "docs") {
    ptx::isa::gen::write_docs(argv[2]);
    return 0;
  }
  if (argc == 3 && std::string_view(argv[1]) == "cpp-dots") {
    for (const auto& [name, text] : ptx::isa::gen::generate_cpp_dots())
      if (!update(std::filesystem::path(argv[2]) / name, text)) return 1;
    return 0;
  }
  if (argc == 3)
    for (const Generator& generator : generators)
      if (generator.kind == argv[1]) {
        std::ofstream file(argv[2], std::ios::binary);
        file << generator.generate();
        if (file.flush()) return 0;
        std::fprintf(stderr, "isagen: cannot write %s\n", argv[2]);
        return 1;
      }
  std::string kinds;
  for (const Generator& generator : generators) kinds.append(kinds.empty() ? "" : "|").append(generator.kind);
  std::fprintf(stderr, "usage: isagen %s <file>\n       isagen docs|cpp-dots <folder>\n", kinds.c_str());
  return 2;
} catch (const std::exception& fault) {  // a row that a generator cannot take, a file that cannot be written
  std::fprintf(stderr, "isagen: %s\n", fault.what());
  return 1;
}
