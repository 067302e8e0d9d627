// Lists of small modules with ptxas's verdict (tests/golden/oracle/*.modules):
//
//   # a remark
//   == + title | 8.5 sm_90a      `+`: ptxas takes it, `-`: it refuses; PTX version and target (8.5 and sm_90a where none are
//   said) .func f();                   the module, without its header unless it says `.version` itself
//   --                           what follows stands in the body of an entry that declares some registers
//   call f;
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/golden.hpp"

namespace ptx::testing {

struct SmallModule {
  std::string title, target, text;
  bool accepted = false;  ///< by ptxas
  bool differs = false;   ///< our verdict is another
  std::size_t line = 0;   ///< of its title, from 1
};

inline std::vector<SmallModule> small_modules(const std::string& path) {
  constexpr std::string_view registers =
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<4>;";
  std::vector<SmallModule> modules;
  std::string version, body;
  bool in_body = false;
  const auto finish = [&] {
    if (modules.empty()) return;
    SmallModule& m = modules.back();
    if (in_body) m.text += ".visible .entry k()\n{\n" + std::string(registers) + '\n' + body + "ret;\n}\n";
    if (m.text.find(".version") == std::string::npos)
      m.text = ".version " + version + "\n.target " + m.target + "\n.address_size 64\n" + m.text;
    else if (const std::size_t at = m.text.find(".target sm_"); at != std::string::npos)
      m.target = m.text.substr(at + 8, m.text.find_first_of(",\n", at) - at - 8);
    in_body = false;
    body.clear();
  };
  std::size_t number = 0;
  for (const std::string& line : lines_of(read_file(path))) {
    ++number;
    if (line.starts_with("# ")) continue;
    if (line.starts_with("== ")) {
      finish();
      const bool differs = line[4] == '~';
      SmallModule m{.title = line.substr(differs ? 6 : 5),
                    .target = "sm_90a",
                    .text = {},
                    .accepted = line[3] == '+',
                    .differs = differs,
                    .line = number};
      version = "8.5";
      if (const std::size_t bar = m.title.rfind(" | "); bar != std::string::npos) {
        const std::string where = m.title.substr(bar + 3);
        version = where.substr(0, where.find(' '));
        m.target = where.substr(where.find(' ') + 1);
        m.title.resize(bar);
      }
      modules.push_back(std::move(m));
    } else if (line == "--") {
      in_body = true;
    } else if (!modules.empty()) {
      (in_body ? body : modules.back().text) += line + '\n';
    }
  }
  finish();
  return modules;
}

/// The lists, sorted. Tests run in the repository's root.
inline std::vector<std::string> module_files() { return golden_files("oracle", ".modules"); }

}  // namespace ptx::testing
