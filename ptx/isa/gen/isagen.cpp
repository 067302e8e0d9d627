// isagen <kind> <file>: writes what is made from the instruction table at build time. isagen docs <folder>: the pages of
// docs/isa.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include "ptx/isa/gen/gen.hpp"

namespace {

struct Generator {
  std::string_view kind;
  std::string (*generate)();
};
constexpr Generator generators[] = {
    {"cpp-dots", ptx::isa::gen::generate_cpp_dots},
    {"ops", ptx::isa::gen::generate_ops},
    {"pyi", ptx::isa::gen::generate_pyi},
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 3 && std::string_view(argv[1]) == "docs") {
    ptx::isa::gen::write_docs(argv[2]);
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
  std::fprintf(stderr, "usage: isagen %s <file>\n       isagen docs <folder>\n", kinds.c_str());
  return 2;
} catch (const std::exception& fault) {  // a row that a generator cannot take, a file that cannot be written
  std::fprintf(stderr, "isagen: %s\n", fault.what());
  return 1;
}
