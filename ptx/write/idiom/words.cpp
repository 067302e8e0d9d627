#include "ptx/write/idiom/words.hpp"

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"

namespace ptx::write::idiom {

Words::Words(std::string_view known, std::string_view helper, SourceLocation where)
    : node_(&isa::ModifierTree::root()), helper_(helper), where_(where) {
  while (!known.empty()) {
    const std::size_t dot = std::min(known.find('.'), known.size());
    node_ = node_->follow(known.substr(0, dot));
    known.remove_prefix(std::min(dot + 1, known.size()));
  }
}

Expected<void> Words::follow(std::string_view word, std::string_view what) {
  const isa::ModifierTree* next = node_->follow(word);
  if (next == nullptr) {
    const std::vector<std::string> fits = node_->next_words();
    return refuse(Kind::operand_mismatch,
                  cat(what, " of `", helper_, "` is `", word, "`; what fits after `", node_->path(), "` is ",
                      list_choices(fits, fits.size())),
                  where_);
  }
  node_ = next;
  return {};
}

}  // namespace ptx::write::idiom
