#include "ptx/check/labels.hpp"

#include <algorithm>

namespace ptx::check {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) && (end == text.size() || !is_word_char(text[end]))) return true;
  }
  return false;
}

}  // namespace

Labels::Labels(Report& report, const ir::Function& function) : report_(report), function_(function) {
  const ir::Module& module = report.module();
  struct Open {
    std::uint32_t block, item;
  };
  std::vector<Open> open{{0, 0}};
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const ir::Inst& item = function.body[i];
    switch (item.kind) {
      case ir::ItemKind::open:
        outer_.push_back(open.back().block);
        open.push_back({static_cast<std::uint32_t>(outer_.size() - 1), i});
        break;
      case ir::ItemKind::close:
        if (open.size() == 1)
          report.error(function, item, Kind::bad_control_flow, "a `}` closes no block");
        else
          open.pop_back();
        break;
      case ir::ItemKind::label: {
        const ir::LabelId label(item.payload);
        const ir::StringId name = function.labels[label.index].name;
        const auto [first, added] = definitions_.try_emplace(key(open.back().block, name), Definition{label, i});
        if (added) break;
        Diagnostic& d =
            report.error(function, item, Kind::duplicate_label,
                         cat("the label `", module.str(name), "` is defined twice in one ", open.size() == 1 ? "body" : "block"));
        if (const SourceLocation where = module.where(function.body[first->second.item]); where.known()) d.place("first", where);
        break;
      }
      case ir::ItemKind::raw:
        raws_.emplace_back(item.payload);
        break;
      default:
        break;
    }
  }
  for (std::size_t i = open.size(); i > 1; --i)
    report.error(function, function.body[open[i - 1].item], Kind::bad_control_flow,
                 "this block is not closed: its `}` is missing");
}

void Labels::use(const ir::Inst& branch, ir::LabelId label, std::uint32_t block) {
  const ir::StringId name = function_.labels[label.index].name;
  for (;; block = outer_[block]) {
    if (const auto found = definitions_.find(key(block, name)); found != definitions_.end()) {
      // One name may stand for different labels in different blocks. The text can mean the nearest alone.
      if (found->second.label != label)
        report_
            .error(function_, branch, Kind::duplicate_label,
                   cat("the label `", report_.module().str(name), "` that this goes to is hidden by another of the same name"))
            .hint("give one of them another name");
      return;
    }
    if (block == 0) break;
  }
  undefined(branch, name);
}

void Labels::undefined(const ir::Inst& branch, ir::StringId name) {
  const ir::Module& module = report_.module();
  const std::string_view spelled = module.str(name);
  if (mentioned_in_raw(spelled)) return;
  Diagnostic& d = report_.error(function_, branch, Kind::undefined_label, cat("the label `", spelled, "` is not defined"));
  if (++undefined_ > 50) return;  // a look at every label for each of many mistakes would take too long
  std::vector<std::string> names;
  for (const auto& [where, definition] : definitions_) {
    const ir::StringId other = function_.labels[definition.label.index].name;
    if (other == name) {
      d.message = cat("the label `", spelled, "` is inside a block that this branch is outside of");
      return;
    }
    names.emplace_back(module.str(other));
  }
  std::sort(names.begin(), names.end());  // the map has no order of its own
  if (const std::string near = nearest(spelled, names); !near.empty()) d.hint(cat("did you mean `", near, "`?"));
}

bool Labels::mentioned_in_raw(std::string_view name) const {
  return std::any_of(raws_.begin(), raws_.end(), [&](ir::StringId raw) { return has_word(report_.module().str(raw), name); });
}

}  // namespace ptx::check
