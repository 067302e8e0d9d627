#include "ptx/launch/scalars.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

using ir::Operand;
using ir::OperandKind;

/// The kernel's text, line by line, while some are put in another way.
class Rewriting {
 public:
  Rewriting(const ir::Module& module, const ir::Function& entry, std::string_view text) : module_(module), entry_(entry) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines_.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    while (text.find(family_) != std::string_view::npos) family_ += '_';
  }

  /// Loads the parameter from where its new value, an address, points. False when the kernel does something else with it.
  bool load_from_memory(const ir::Param& param) {
    const std::string_view name = module_.str(param.name);
    std::string* declared = line(module_.where(param.where));
    if (declared == nullptr || param.elements || param.vector != 1 ||
        !replace(*declared, cat(".param .", isa::name(param.type), ' ', name), cat(".param .u64 ", name)))
      return false;
    for (const ir::Variable& variable : entry_.variables)
      if (variable.name == param.name) return false;
    const std::string reg = cat(family_, count_++);
    for (const ir::Inst& item : entry_.body) {
      if (item.kind == ir::ItemKind::raw && module_.str(text_of(item)).find(name) != std::string_view::npos) return false;
      if (item.kind != ir::ItemKind::inst || !mentions(entry_.operands_of(item), param.name)) continue;
      std::string* load = line(module_.where(item));
      const std::span<const Operand> operands = entry_.operands_of(item);
      const isa::Form& form = isa::form(item.form);
      const bool from_address = form.traits.has(isa::Trait::load) && operands.size() == 2 &&
                                operands[1].kind == OperandKind::address && is_symbol(entry_.parts(operands[1])[0], param.name) &&
                                !mentions(operands.first(1), param.name);
      if (load == nullptr || !from_address) return false;
      const std::string space = cat('.', form.space(form.operands[1], item.choices));
      if (!replace(*load, space, cat('.', ir::name(ir::StateSpace::global))) || !replace(*load, cat('[', name), cat('[', reg)))
        return false;
      *load = cat("\tld.param.u64 ", reg, ", [", name, "];\n", *load);
    }
    return true;
  }

  /// Which line of the text before each line of the new one is of, by its number.
  [[nodiscard]] std::vector<std::uint32_t> lines_before() const {
    std::vector<std::uint32_t> numbers = {0};
    for (std::size_t i = 0; i < lines_.size(); ++i)
      numbers.insert(numbers.end(), 1 + static_cast<std::size_t>(std::count(lines_[i].begin(), lines_[i].end(), '\n')),
                     static_cast<std::uint32_t>(i + 1));
    return numbers;
  }

  /// The text, with the registers that it needs.
  [[nodiscard]] std::string text() {
    if (!entry_.body.empty()) {
      if (std::string* first = line(module_.where(entry_.body.front())))
        *first = cat("\t.reg .b64 ", family_, '<', count_, ">;\n", *first);
    }
    std::string all;
    for (const std::string& each : lines_) all += each + '\n';
    return all;
  }

 private:
  static ir::StringId text_of(const ir::Inst& item) {
    ir::StringId id;
    id.index = item.payload;
    return id;
  }
  static bool is_symbol(const Operand& operand, ir::StringId name) {
    return operand.kind == OperandKind::symbol && operand.payload == name.index;
  }
  [[nodiscard]] bool mentions(std::span<const Operand> operands, ir::StringId name) const {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      if (operand.kind == OperandKind::text) {
        ir::StringId id;
        id.index = operand.payload;
        return module_.str(id).find(module_.str(name)) != std::string_view::npos;
      }
      return is_symbol(operand, name) || (has_parts(operand.kind) && mentions(entry_.parts(operand), name));
    });
  }
  std::string* line(const SourceLocation& where) {
    return where.line >= 1 && where.line <= lines_.size() ? &lines_[where.line - 1] : nullptr;
  }
  /// Once; false when it is not there, or there twice.
  static bool replace(std::string& in, std::string_view what, std::string_view with) {
    const std::size_t at = in.find(what);
    if (at == std::string::npos || in.find(what, at + 1) != std::string::npos) return false;
    in.replace(at, what.size(), with);
    return true;
  }

  const ir::Module& module_;
  const ir::Function& entry_;
  std::vector<std::string> lines_;
  std::string family_ = "%in_memory";
  std::size_t count_ = 0;
};

/// Gives the items of a text that was rewritten the places that their lines had before: the author's, where an image has them.
/// Returns the lines of the items in the text.
std::vector<std::vector<std::uint32_t>> place(ir::Module& module, const std::vector<SourceLocation>& places,
                                              const std::vector<std::uint32_t>& lines_before) {
  std::vector<std::vector<std::uint32_t>> line_of;
  for (ir::Function& function : module.functions) {
    std::vector<std::uint32_t>& lines = line_of.emplace_back();
    for (ir::Inst& item : function.body) {
      const std::uint32_t line = module.where(item).line;
      lines.push_back(line);
      const std::uint32_t old = line < lines_before.size() ? lines_before[line] : 0;
      if (old < places.size() && places[old].known()) item.where = module.add(places[old]).index;
    }
  }
  return line_of;
}

/// The spec with these parameters, ascending, as addresses of further inputs.
LaunchSpec with_more_inputs(LaunchSpec spec, const std::vector<std::size_t>& params) {
  const auto more = static_cast<std::uint32_t>(params.size());
  for (Param& param : spec.params)
    if (param.kind != Param::Kind::scalar && param.arg >= spec.inputs) param.arg += more;
  for (const std::size_t index : params) spec.params[index] = {.kind = Param::Kind::pointer, .arg = spec.inputs++};
  return spec;
}

}  // namespace

Expected<std::optional<std::shared_ptr<const KernelImage>>> with_scalars_in_memory(const KernelImage& image,
                                                                                   const std::vector<std::size_t>& which) {
  using Result = std::optional<std::shared_ptr<const KernelImage>>;
  std::vector<std::size_t> params;
  std::size_t scalar = 0;
  for (std::size_t i = 0; i < image.spec().params.size(); ++i) {
    if (image.spec().params[i].kind != Param::Kind::scalar) continue;
    if (std::find(which.begin(), which.end(), scalar++) != which.end()) params.push_back(i);
  }
  const std::string file = cat(image.spec().entry, ".ptx");
  const text::Parsed parsed = text::parse(image.text(), file);
  const ir::Function* entry = parsed.module.find(image.spec().entry);
  if (params.size() != which.size() || entry == nullptr || parsed.broken() || entry->params.size() != image.spec().params.size())
    return Result();
  Rewriting rewriting(parsed.module, *entry, image.text());
  for (const std::size_t index : params)
    if (!rewriting.load_from_memory(entry->params[index])) return Result();

  auto listing = std::make_shared<ir::Listing>();
  listing->text = rewriting.text();
  text::Parsed changed = text::parse(listing->text, file);
  listing->line_of = place(changed.module, image.places(), rewriting.lines_before());
  auto accepted = check::accept(std::move(changed.module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  auto made = KernelImage::make(std::move(*accepted), std::move(listing), with_more_inputs(image.spec(), params));
  if (!made) return Unexpected{std::move(made).error()};
  return Result(std::move(*made));
}

}  // namespace ptx::launch
