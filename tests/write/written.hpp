// What a builder has written so far, as text: what the tests of ptx/write compare.
#pragma once

#include <string>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::write_test {

/// Where the author of a test wrote.
inline constexpr SourceLocation here{"kernel.py", 7};

/// One line for each item of the entry's body: instructions as PTX spells them, `label:`, `{`, `}`, `.reg … ;`, comments and raw
/// text.
inline std::vector<std::string> written(const ir::Module& module) {
  const ir::Function& f = module.functions.front();
  std::vector<std::string> lines;
  for (const ir::Inst& item : f.body) {
    const auto text = [&] {
      ir::StringId id;
      id.index = item.payload;
      return std::string(module.str(id));
    };
    switch (item.kind) {
      case ir::ItemKind::inst:
        lines.push_back(ir::spell(module, f, item));
        break;
      case ir::ItemKind::label:
        lines.push_back(cat(module.str(f.labels[item.payload].name), ':'));
        break;
      case ir::ItemKind::open:
        lines.emplace_back("{");
        break;
      case ir::ItemKind::close:
        lines.emplace_back("}");
        break;
      case ir::ItemKind::reg_decl: {
        const ir::RegDecl& decl = f.reg_decls[item.payload];
        lines.push_back(cat(".reg .", isa::name(decl.type), ' ', module.str(decl.base),
                            decl.count ? cat('<', *decl.count, '>') : std::string(), ';'));
        break;
      }
      default:
        lines.push_back(text());
    }
  }
  return lines;
}

/// The register declarations at the top: ".b32 %r<3>".
inline std::vector<std::string> declared(const ir::Module& module) {
  std::vector<std::string> lines;
  for (const ir::RegDecl& decl : module.functions.front().reg_decls)
    if (!decl.block_local)
      lines.push_back(
          cat('.', isa::name(decl.type), ' ', module.str(decl.base), decl.count ? cat('<', *decl.count, '>') : std::string()));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace ptx::write_test
