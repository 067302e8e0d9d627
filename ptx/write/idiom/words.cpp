#include "ptx/write/idiom/words.hpp"

#include "ptx/write/idiom/put.hpp"

namespace ptx::write::idiom {

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += cat(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", '`', words[i], '`');
  return text;
}

Words::Words(std::string_view known, std::string_view helper, Where where)
    : node_(&isa::Dots::root()), helper_(helper), where_(where) {
  while (!known.empty()) {
    const std::size_t dot = std::min(known.find('.'), known.size());
    node_ = node_->follow(known.substr(0, dot));
    known.remove_prefix(std::min(dot + 1, known.size()));
  }
}

Expected<void> Words::follow(std::string_view word, std::string_view what) {
  const isa::Dots* next = node_->follow(word);
  if (next == nullptr)
    return refuse(Kind::operand_mismatch,
                  cat(what, " of `", helper_, "` is `", word, "`; what fits behind `", node_->path(), "` is ",
                      list_of(node_->next_words())),
                  where_);
  node_ = next;
  return {};
}

}  // namespace ptx::write::idiom
