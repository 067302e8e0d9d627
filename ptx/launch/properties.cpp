#include "ptx/launch/properties.hpp"

#include <set>
#include <string>

#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

/// Whether some function has an instruction that waits for the grid ahead; `raw` is asked about statements that are text.
template <class OfText>
bool has_grid_wait(const ir::Module& module, OfText raw) {
  for (const ir::Function& function : module.functions) {
    for (const ir::Inst& item : function.body) {
      if (item.kind == ir::ItemKind::raw && raw(function, module.str(ir::StringId(item.payload)))) return true;
      if (item.kind == ir::ItemKind::inst && isa::form(item.form).row->effects.waits == isa::Event::grid) return true;
    }
  }
  return false;
}

/// A function with a statement that an author kept as text, and the registers that it may name.
std::string around(const ir::Module& module, const ir::Function& function, std::string_view statement) {
  std::string text = ".func kept_text() {\n";
  std::set<std::string_view> declared;
  for (const ir::RegDecl& decl : function.reg_decls) {
    const std::string_view base = module.str(decl.base);
    if (!declared.insert(base).second) continue;
    text += cat(".reg ", decl.vector == 1 ? "" : cat(".v", int{decl.vector}, ' '), '.', isa::name(decl.type), ' ', base,
                decl.count ? cat('<', *decl.count, '>') : "", ";\n");
  }
  return cat(text, statement, "\n}\n");
}

Expected<void> check_params(const ir::Function& entry, const LaunchSpec& spec) {
  const auto is_passed = [](const ir::Param& param, const Param& passed) {
    return param.bytes() == passed.size_bytes && param.alignment() == passed.align_bytes;
  };
  if (std::equal(entry.params.begin(), entry.params.end(), spec.params.begin(), spec.params.end(), is_passed)) return {};
  return Unexpected{
      {.kind = Kind::param_layout, .message = cat("the launch does not pass the parameters of kernel `", spec.entry, '`')}};
}

Expected<void> check_directives(const ir::Function& entry, const LaunchSpec& spec) {
  for (const ir::Directive& directive : entry.directives) {
    if (directive.name != "reqntid" && directive.name != "maxntid") continue;
    if (auto ok = check_launch_bound(directive.name, directive.dims(), spec.geometry.block); !ok)
      return Unexpected{{.kind = Kind::launch_config, .message = cat("kernel `", spec.entry, "`: ", ok.error().message)}};
  }
  return {};
}

}  // namespace

bool waits_for_grid_ahead(const ir::Module& module) {
  // What is kept as text is read here as PTX, by what the table then knows of it.
  return has_grid_wait(module, [&](const ir::Function& function, std::string_view statement) {
    const text::Parsed read = text::parse_part(around(module, function, statement), module.target, module.version);
    return has_grid_wait(read.module, [](const ir::Function&, std::string_view) { return false; });
  });
}

Expected<void> check_fits(const check::Accepted& accepted, const ir::Function& entry, const LaunchSpec& spec) {
  if (auto ok = check_params(entry, spec); !ok) return ok;
  if (auto ok = check_directives(entry, spec); !ok) return ok;
  if (!spec.geometry.attributes.programmatic || waits_for_grid_ahead(accepted.module())) return {};
  return Unexpected{Diagnostic{
      .kind = Kind::launch_config,
      .message = cat("kernel `", spec.entry, "` is launched before the kernel ahead of it has ended, and never waits for it")}
                        .hint("write `griddepcontrol.wait` before the first access to memory that another kernel writes")};
}

}  // namespace ptx::launch
