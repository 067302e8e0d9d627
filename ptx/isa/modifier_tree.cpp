#include "ptx/isa/modifier_tree.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>

namespace ptx::isa {

struct ModifierTree::Children {
  std::shared_mutex mutex;
  std::map<std::string, std::unique_ptr<ModifierTree>, std::less<>> by_word;
};

namespace {

bool is_complete(const ModifierTree::State& state) {
  const Form& f = form(state.form);
  for (std::size_t k = state.next_slot; k < f.slots.size(); ++k)
    if (!f.slots[k].optional) return false;
  return true;
}

// Calls use(state after the word) for every way in which `word` continues a state.
template <class Use>
void continuations(const ModifierTree::State& state, std::string_view word, Use use) {
  const Form& f = form(state.form);
  for (std::size_t k = state.next_slot; k < f.slots.size(); ++k) {
    const auto& choices = f.slots[k].choices;
    for (std::size_t c = 0; c < choices.size(); ++c)
      if (choices[c].word == word) {
        ModifierTree::State next = state;
        next.next_slot = static_cast<std::uint8_t>(k + 1);
        next.choices[k] = static_cast<std::uint8_t>(c + 1);
        use(next);
      }
    if (!f.slots[k].optional) return;
  }
}

void add_unique(std::vector<std::string>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

std::vector<std::string_view> split_dots(std::string_view path) {
  std::vector<std::string_view> words;
  while (!path.empty()) {
    words.push_back(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(words.back().size() + 1, path.size()));
  }
  return words;
}

// A modifier that was left out: `div.f32` lacks one of .approx, .full, .rn …, and so does `cvt.f16.f32`, further in front.
struct LeftOut {
  std::size_t before = 0;          // the word in whose front it belongs
  std::vector<std::string> words;  // what it may be; none: it is not that
};
LeftOut find_left_out(std::span<const std::string_view> words) {
  const auto follow = [](const ModifierTree* node, std::span<const std::string_view> rest) {
    for (std::size_t i = 0; node != nullptr && i < rest.size(); ++i) node = node->follow(rest[i]);
    return node;
  };
  for (std::size_t before = words.size() - 1; before > 0; --before) {
    LeftOut found{before, {}};
    const ModifierTree* node = follow(&ModifierTree::root(), words.first(before));
    if (node == nullptr) continue;
    for (const std::string& word : node->next_words())
      if (follow(node->follow(word), words.subspan(before)) != nullptr) found.words.push_back(cat('.', word));
    if (!found.words.empty()) return found;
  }
  return {};
}

}  // namespace

ModifierTree::ModifierTree(std::string path, std::vector<State> states)
    : path_(std::move(path)), states_(std::move(states)), children_(std::make_unique<Children>()) {
  std::copy_if(states_.begin(), states_.end(), std::back_inserter(complete_), is_complete);
}
ModifierTree::~ModifierTree() = default;

const ModifierTree& ModifierTree::root() {
  static const ModifierTree& node = *new ModifierTree("", {});  // never destroyed: nodes are handed out as plain references
  return node;
}

const ModifierTree* ModifierTree::follow(std::string_view word) const {
  {
    const std::shared_lock lock(children_->mutex);
    if (const auto it = children_->by_word.find(word); it != children_->by_word.end()) return it->second.get();
  }
  std::vector<State> next;
  if (path_.empty()) {
    for (const Form& f : forms())
      if (f.opcode == word) next.push_back({f.id, 0, {}});
  } else {
    for (const State& state : states_) continuations(state, word, [&](const State& s) { next.push_back(s); });
  }
  if (next.empty()) return nullptr;
  const std::unique_lock lock(children_->mutex);
  auto& child = children_->by_word[std::string(word)];
  if (!child) child = std::make_unique<ModifierTree>(path_.empty() ? std::string(word) : cat(path_, '.', word), std::move(next));
  return child.get();
}

std::vector<std::string> ModifierTree::next_words() const {
  std::vector<std::string> words;
  if (path_.empty()) {
    for (const Form& f : forms()) add_unique(words, f.opcode);
    return words;
  }
  for (const State& state : states_) {
    const Form& f = form(state.form);
    for (std::size_t k = state.next_slot; k < f.slots.size(); ++k) {
      for (const Choice& choice : f.slots[k].choices) add_unique(words, choice.word);
      if (!f.slots[k].optional) break;
    }
  }
  return words;
}

Diagnostic ModifierTree::explain(std::string_view word) const {
  const std::vector<std::string> words = next_words();
  const std::string near = nearest(word, words);
  Diagnostic d;
  if (path_.empty()) {
    d.kind = Kind::unknown_opcode;
    d.message = cat("there is no PTX instruction `", word, '`');
  } else {
    d.kind = Kind::unknown_modifier;
    std::vector<std::string> dotted;
    for (const std::string& w : words) dotted.push_back(cat('.', w));
    // Some instructions can go on in dozens of ways: those that begin as the author's word does are listed first.
    std::stable_partition(dotted.begin(), dotted.end(), [&](const std::string& w) { return !word.empty() && w[1] == word[0]; });
    d.message = words.empty() ? cat('`', path_, "` takes no further modifier, `.", word, "` was given")
                              : cat('`', path_, "` cannot be followed by `.", word, "`; what fits is ", list_choices(dotted, 8));
    // A modifier that the form has, but earlier: the order is wrong.
    for (const State& state : states_)
      for (std::size_t k = 0; k < state.next_slot; ++k)
        for (const Choice& choice : form(state.form).slots[k].choices)
          if (choice.word == word && d.notes.empty()) d.hint(cat("modifiers have an order: `", form(state.form).syntax(), '`'));
    if (!states_.empty()) {
      d.form(cat(form(states_.front().form).syntax()));
      d.manual(cat(manual(form(states_.front().form))));
    }
    std::vector<std::string_view> given = split_dots(path_);
    given.push_back(word);
    if (const LeftOut left_out = find_left_out(given); !left_out.words.empty()) {
      const bool said = left_out.before + 1 == given.size() && left_out.words.size() == words.size();
      if (!said) d.hint(cat("in front of `.", given[left_out.before], "` stands ", list_choices(left_out.words, 8)));
      return d;
    }
  }
  if (!near.empty()) d.hint(cat("did you mean `", path_.empty() ? "" : ".", near, "`?"));
  return d;
}

Diagnostic ModifierTree::explain_incomplete() const {
  Diagnostic d{.kind = Kind::missing_modifier, .severity = Severity::error, .message = {}, .where = {}, .notes = {}};
  std::vector<std::string> missing;
  for (const State& state : states_) {
    const Form& f = form(state.form);
    for (std::size_t k = state.next_slot; k < f.slots.size(); ++k)
      if (!f.slots[k].optional) {
        for (const Choice& choice : f.slots[k].choices) add_unique(missing, cat('.', choice.word));
        break;
      }
  }
  d.message = cat('`', path_, "` is incomplete: it needs ", list_choices(missing));
  if (!states_.empty()) {
    d.form(cat(form(states_.front().form).syntax()));
    d.manual(cat(manual(form(states_.front().form))));
  }
  return d;
}

}  // namespace ptx::isa
