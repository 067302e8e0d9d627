#include "ptx/text/opcodes.hpp"

#include "ptx/isa/isa.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace ptx::text {
namespace {

using isa::Choices;
using isa::Form;

using Words = std::vector<std::string_view>;

Words split(std::string_view text) {
  Words words;
  for (;;) {
    const std::size_t dot = text.find('.');
    words.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    text.remove_prefix(dot + 1);
  }
}

// Without the words that stand there again and that ptxas overlooks then.
Words without_repeated(const Words& words) {
  Words once;
  for (const std::string_view word : words)
    if (once.size() > isa::max_slots + 4)
      break;
    else if (!isa::may_be_repeated(word) || std::find(once.begin(), once.end(), word) == once.end())
      once.push_back(word);
  return once;
}

// The table by opcode, and every modifier as a number: a spelling is held against hundreds of slots before its form is found.
using WordId = std::uint16_t;
constexpr WordId no_word = 0xFFFF;
struct Index {
  std::unordered_map<std::string_view, std::vector<isa::FormId>> forms;
  std::unordered_map<std::string_view, WordId> words;
  std::vector<isa::OrderKind> kinds;  // by WordId
  struct Slots {
    std::vector<WordId> words;  // the choices of all slots, one slot after the other
    std::array<std::uint16_t, isa::max_slots + 1> begin{};
  };
  std::vector<Slots> slots;  // by FormId

  Index() {
    for (const Form& form : isa::forms()) {
      forms[form.opcode].push_back(form.id);
      Slots& of = slots.emplace_back();
      for (std::size_t k = 0; k < form.slots.size(); ++k) {
        for (const isa::Choice& choice : form.slots[k].choices) {
          const auto [word, added] = words.try_emplace(choice.word, static_cast<WordId>(words.size()));
          if (added) kinds.push_back(isa::order_kind(choice.word));
          of.words.push_back(word->second);
        }
        of.begin[k + 1] = static_cast<std::uint16_t>(of.words.size());
      }
    }
  }
};
const Index& index() {
  static const Index& made = *new Index;  // never destroyed: other statics may parse
  return made;
}

std::span<const isa::FormId> forms_of(std::string_view opcode) {
  const auto it = index().forms.find(opcode);
  return it == index().forms.end() ? std::span<const isa::FormId>() : std::span<const isa::FormId>(it->second);
}

// The modifiers as numbers.
std::vector<WordId> ids_of(std::span<const std::string_view> words) {
  std::vector<WordId> ids;
  for (const std::string_view word : words) {
    const auto it = index().words.find(word);
    ids.push_back(it == index().words.end() ? no_word : it->second);
  }
  return ids;
}

// Gives each word of a spelling a slot of a form, in every way that there is. Words of a kind, and words that could change
// places, keep the order in which they are written: `cvt.f32.s32` converts to f32. Words of the name stand in front.
class Assignment {
 public:
  Assignment(const Form& form, std::span<const WordId> words) : form_(form), slots_(index().slots[form.id]), words_(words) {
    if (words.size() > form.slots.size()) return;
    for (std::size_t w = 0; w < words.size(); ++w) {
      for (std::size_t k = 0; k < form.slots.size(); ++k)
        if (words[w] != no_word && choice(k, words[w]) != 0) fits_[w] |= 1u << k;
      if (fits_[w] == 0) return;
    }
    possible_ = true;
  }

  /// In the order of the slots; else, if there is just one way, in any order. Words may be missing when `partial`.
  std::vector<Choices> all(bool partial) {
    if (!possible_) return {};
    partial_ = partial;
    assign(0, 0);
    if (!ordered_.empty()) return std::move(ordered_);
    if (unordered_.size() == 1 || (partial && !unordered_.empty())) return {unordered_.front()};
    return {};
  }

 private:
  std::uint8_t choice(std::size_t slot, WordId word) const {
    for (std::size_t c = slots_.begin[slot]; c < slots_.begin[slot + 1]; ++c)
      if (slots_.words[c] == word) return static_cast<std::uint8_t>(c + 1u - slots_.begin[slot]);
    return 0;
  }

  void assign(std::size_t word, std::uint32_t used) {
    if (word == words_.size()) return found(used);
    for (std::uint32_t left = fits_[word] & ~used; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(left));
      if (!keeps_order(word, slot)) continue;
      slot_of_[word] = slot;
      assign(word + 1, used | 1u << slot);
      if (ordered_.size() + unordered_.size() > 8) return;
    }
  }
  bool keeps_order(std::size_t word, std::size_t slot) const {
    for (std::size_t before = 0; before < word; ++before)
      if (slot_of_[before] > slot && (same_kind(words_[before], words_[word]) ||
                                      ((fits_[before] >> slot & 1) != 0 && (fits_[word] >> slot_of_[before] & 1) != 0)))
        return false;
    return true;
  }
  static bool same_kind(WordId a, WordId b) {
    const isa::OrderKind kind = index().kinds[a];
    return kind != isa::OrderKind::free && kind == index().kinds[b];
  }
  bool name_in_front(const Choices& choices) const {
    std::size_t at = 0;
    for (std::size_t k = 0; k < form_.slots.size(); ++k) {
      if (choices[k] == 0) continue;
      if (!isa::is_name_word(form_.opcode, form_.slots[k].choices[choices[k] - 1u].word)) return true;
      if (slot_of_[at++] != k) return false;
    }
    return true;
  }
  void found(std::uint32_t used) {
    Choices choices{};
    bool ordered = true;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      choices[slot_of_[w]] = choice(slot_of_[w], words_[w]);
      ordered = ordered && (w == 0 || slot_of_[w] > slot_of_[w - 1]);
    }
    for (std::size_t k = 0; k < form_.slots.size() && !partial_; ++k)
      if (!form_.slots[k].optional && (used >> k & 1) == 0) return;
    if (!ordered && !name_in_front(choices)) return;
    (ordered ? ordered_ : unordered_).push_back(choices);
  }

  const Form& form_;
  const Index::Slots& slots_;
  std::span<const WordId> words_;
  std::array<std::uint32_t, isa::max_slots + 1> fits_{};
  std::array<std::size_t, isa::max_slots + 1> slot_of_{};
  std::vector<Choices> ordered_, unordered_;
  bool possible_ = false, partial_ = false;
};

// The dots as far as they go with these words in the order of the form's slots.
const isa::ModifierTree& walk(const Form& form, const Choices& choices) {
  const isa::ModifierTree* dots = isa::ModifierTree::root().follow(form.opcode);
  for (std::size_t k = 0; k < form.slots.size(); ++k) {
    if (choices[k] == 0) continue;
    const isa::ModifierTree* next = dots->follow(form.slots[k].choices[choices[k] - 1u].word);
    if (next == nullptr) break;
    dots = next;
  }
  return *dots;
}

std::uint64_t load(const char* from, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

}  // namespace

Opcode::Opcode(std::string_view text) : text_(text) {
  const Words words = split(text_);
  read(words[0], std::span(words).subspan(1));
  if (!unknown()) return;
  const Words once = without_repeated(words);
  if (once.size() > isa::max_slots + 4) return;  // no form has as many
  if (once.size() != words.size()) read(once[0], std::span(once).subspan(1));
  if (unknown()) read_as_ptxas(once);
}

// Without a modifier or two that ptxas passes over, with another one in a modifier's place, or with one that it does without.
void Opcode::read_as_ptxas(const std::vector<std::string_view>& words) {
  const auto read_without = [&](std::size_t i, std::size_t j) {
    Words left;
    for (std::size_t k = 0; k < words.size(); ++k)
      if (k != i && k != j) left.push_back(words[k]);
    read(left[0], std::span(left).subspan(1));
    if (unknown()) return false;
    warn(Kind::unknown_modifier, cat("has no use for `.", words[i], i == j ? "" : cat("` and `.", words[j]), '`'));
    return true;
  };
  std::vector<std::size_t> overlooked;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (isa::is_overlooked(text_, words, i)) overlooked.push_back(i);
  for (const std::size_t i : overlooked)
    if (read_without(i, i)) return;
  for (const std::size_t i : overlooked)
    for (const std::size_t j : overlooked)
      if (i < j && read_without(i, j)) return;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view meant = isa::stands_for(text_, words[i]);
    if (meant.empty()) continue;
    Words other = words;
    other[i] = meant;
    read(other[0], std::span(other).subspan(1));
    if (!unknown()) return warn(Kind::unknown_modifier, cat("has `.", words[i], "` where `.", meant, "` stands"));
  }
  const std::string_view missing = isa::may_be_missing(text_);
  if (missing.empty() || std::find(words.begin(), words.end(), missing) != words.end()) return;
  Words whole = words;
  whole.push_back(missing);
  read(whole[0], std::span(whole).subspan(1));
  if (!unknown()) warn(Kind::missing_modifier, cat("needs `.", missing, '`'));
}

void Opcode::warn(Kind kind, std::string_view what) {
  const Form& form = isa::form(candidates_.front().form);
  remark_ = {.kind = kind, .severity = Severity::warning, .message = cat('`', text_, "` ", what)};
  remark_->form(cat(form.syntax())).manual(cat(isa::manual(form)));
  remark_->hint("ptxas takes it, and reads the form above");
}

void Opcode::read(std::string_view opcode, std::span<const std::string_view> words) {
  const std::vector<WordId> modifiers = ids_of(words);
  std::vector<Candidate> others;
  for (const isa::FormId id : forms_of(opcode)) {
    const Form& form = isa::form(id);
    for (const Choices& choices : Assignment(form, modifiers).all(false)) {
      const bool as_written = isa::spell(form, choices) == text_;
      (as_written ? candidates_ : others).push_back({id, choices});
      reads_integers_ = reads_integers_ || form.reads_integers;
      for (const isa::OperandSpec& spec : form.operands) takes_lists_ = takes_lists_ || spec.role == isa::Role::list;
    }
  }
  candidates_.insert(candidates_.end(), others.begin(), others.end());
}

const Candidate* Opcode::remembered(std::string_view signature, std::uint64_t module) {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (known_[i].signature != signature || (known_[i].module != any_module && known_[i].module != module)) continue;
    if (i != 0) std::swap(known_[i], known_[i - 1]);
    return &known_[i == 0 ? 0 : i - 1].candidate;
  }
  return nullptr;
}

const Candidate& Opcode::remember(std::string_view signature, std::uint64_t module, const Candidate& candidate) {
  constexpr std::size_t most = 64;
  if (known_.size() == most) known_.pop_back();
  known_.push_back({std::string(signature), module, candidate});
  return known_.back().candidate;
}

Opcode::Why Opcode::name_it() const {
  const std::string_view opcode = std::string_view(text_).substr(0, text_.find('.'));
  const bool known = !forms_of(opcode).empty();
  constexpr std::size_t max_shown = 100;
  const std::string shown = text_.size() > max_shown ? cat(text_.substr(0, max_shown), "…") : text_;
  return {
      {.kind = known ? Kind::unknown_modifier : Kind::unknown_opcode, .message = cat("there is no instruction `", shown, '`')},
      0};
}

Opcode::Why Opcode::explain() const {
  const Words words = split(text_);
  const std::span<const isa::FormId> forms = forms_of(words[0]);
  if (forms.empty()) return {isa::ModifierTree::root().explain(words[0]), 0};
  const std::vector<WordId> ids = ids_of(std::span(words).subspan(1));
  // The words that one form can take together, from the first on; the next word is the one that does not fit.
  std::size_t taken = 0;
  const Form* form = &isa::form(forms.front());
  Choices choices{};
  for (std::size_t n = 1; n < words.size(); ++n) {
    const Form* best = nullptr;
    for (const isa::FormId id : forms) {
      const auto found = Assignment(isa::form(id), std::span(ids).first(n)).all(true);
      if (found.empty()) continue;
      best = &isa::form(id);
      choices = found.front();
      break;
    }
    if (best == nullptr) break;
    form = best;
    taken = n;
  }
  if (taken + 1 == words.size()) {
    // Every word has a slot in some form: of those that lack least, what they lack first.
    std::size_t least = isa::max_slots + 1;
    std::vector<std::string> missing;
    for (const isa::FormId id : forms) {
      const auto found = Assignment(isa::form(id), ids).all(true);
      if (found.empty()) continue;
      std::size_t lacks = 0;
      std::size_t first = 0;
      const auto& slots = isa::form(id).slots;
      for (std::size_t k = slots.size(); k-- > 0;)
        if (!slots[k].optional && found.front()[k] == 0) ++lacks, first = k;
      if (lacks == 0 || lacks > least) continue;
      if (lacks < least) {
        least = lacks;
        form = &isa::form(id);
        missing.clear();
      }
      for (const isa::Choice& c : slots[first].choices)
        if (std::string word = cat('.', c.word); std::find(missing.begin(), missing.end(), word) == missing.end())
          missing.push_back(std::move(word));
    }
    if (!missing.empty()) {
      Diagnostic d{.kind = Kind::missing_modifier,
                   .message = cat('`', text_, "` is incomplete: it needs ", list_choices(missing))};
      d.form(cat(form->syntax())).manual(cat(isa::manual(*form)));
      return {std::move(d), 0};
    }
    Diagnostic d{.kind = Kind::unknown_modifier,
                 .message = cat("the modifiers of `", text_, "` can be read in more than one way")};
    d.form(cat(form->syntax())).manual(cat(isa::manual(*form)));
    return {std::move(d), 0};
  }
  const std::string_view word = words[taken + 1];
  const isa::ModifierTree& node = walk(*form, choices);
  const std::vector<std::string> next = node.next_words();
  Diagnostic d = node.explain(word);
  // A word that fits there, though not with what else is written.
  if (std::find(next.begin(), next.end(), word) != next.end()) {
    const std::string_view before = std::string_view(text_).substr(0, static_cast<std::size_t>(word.data() - text_.data()) - 1);
    d.message = cat("no form of `", words[0], "` has `.", word, "` beside the other modifiers of `", before, '`');
    std::erase_if(d.notes, [](const Note& note) { return note.kind == NoteKind::hint && note.text.starts_with("did you mean"); });
  }
  return {std::move(d), static_cast<std::size_t>(word.data() - text_.data())};
}

namespace {

// Spellings that nobody has borrowed: as many as there were parsers at a time, within bounds.
struct Pool {
  static constexpr std::size_t most = 8;
  std::mutex mutex;
  std::vector<std::unique_ptr<Opcodes>> free;
  std::uint64_t modules = Opcode::any_module;

  Pool() { free.reserve(most); }
};
Pool& pool() {
  static Pool& made = *new Pool;  // never destroyed: other statics may parse
  return made;
}

}  // namespace

Opcodes::Borrowed Opcodes::borrow() {
  Pool& of = pool();
  const std::lock_guard lock(of.mutex);
  std::unique_ptr<Opcodes> opcodes;
  if (of.free.empty()) {
    opcodes = std::make_unique<Opcodes>();
  } else {
    opcodes = std::move(of.free.back());
    of.free.pop_back();
  }
  opcodes->module_ = ++of.modules;
  return Borrowed(opcodes.release());
}

void Opcodes::GiveBack::operator()(Opcodes* opcodes) const {
  std::unique_ptr<Opcodes> back(opcodes);
  // A file that is no PTX has any number of spellings. What programs write stays far below.
  constexpr std::size_t max_spellings = 4096, max_bytes = 256 * 1024;
  if (back->opcodes_.size() > max_spellings || back->bytes_ > max_bytes) return;
  Pool& of = pool();
  const std::lock_guard lock(of.mutex);
  if (of.free.size() < Pool::most) of.free.push_back(std::move(back));
}

std::size_t Opcodes::hash(std::string_view text) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
  std::uint64_t h = text.size() * factor;
  const char* p = text.data();
  std::size_t n = text.size();
  for (; n > 8; n -= 8, p += 8) h = (h ^ load(p, 8)) * factor, h ^= h >> 29;
  h = (h ^ load(p, n)) * factor;
  return h ^ h >> 32;
}

void Opcodes::grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(256, 2 * old.size()), {});
  for (const Slot& slot : old) {
    if (slot.opcode == nullptr) continue;
    std::size_t i = slot.hash & (slots_.size() - 1);
    while (slots_[i].opcode != nullptr) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

Opcode& Opcodes::find(std::string_view text) {
  if (2 * opcodes_.size() >= slots_.size()) grow();
  const std::size_t h = hash(text), mask = slots_.size() - 1;
  std::size_t i = h & mask;
  for (; slots_[i].opcode != nullptr; i = (i + 1) & mask)
    if (slots_[i].hash == h && slots_[i].opcode->text() == text) return *slots_[i].opcode;
  opcodes_.emplace_back(text);
  bytes_ += text.size();
  slots_[i] = {h, &opcodes_.back()};
  return opcodes_.back();
}

namespace {

// The form that explains best why no candidate takes the arguments: the one that most of them fit, in order.
const Candidate& nearest(const std::vector<Candidate>& candidates, std::span<const isa::Arg> args) {
  const Candidate* best = &candidates.front();
  std::size_t most = 0;
  for (const Candidate& candidate : candidates) {
    const Form& form = isa::form(candidate.form);
    std::vector<const isa::OperandSpec*> specs;
    for (const isa::OperandSpec& spec : form.operands)
      if (form.present(spec, candidate.choices)) specs.push_back(&spec);
    std::size_t reached = 1;
    // check knows what a name among the registers of a vector is; here only how many there are
    const auto may_fit = [&](const isa::OperandSpec& spec, const isa::Arg& arg) {
      if (isa::rules::operand_fits(form, candidate.choices, spec, arg)) return true;
      const auto is_name = [](const isa::Arg& e) { return e.kind == isa::ArgKind::symbol; };
      return arg.kind == isa::ArgKind::vector && std::any_of(arg.elements.begin(), arg.elements.end(), is_name) &&
             !spec.count.empty() && form.count(spec.count, candidate.choices) == static_cast<int>(arg.elements.size());
    };
    while (reached <= std::min(specs.size(), args.size()) && may_fit(*specs[reached - 1], args[reached - 1])) ++reached;
    if (specs.size() < args.size()) reached = 0;  // too many operands: the others say more
    if (reached > most) {
      most = reached;
      best = &candidate;
    }
  }
  return *best;
}

}  // namespace

Chosen choose(const std::vector<Candidate>& candidates, std::span<const isa::Arg> args, Target target) {
  Diagnostics misses;
  for (const Candidate& candidate : candidates) {
    Expected<isa::Match> match = isa::match(isa::form(candidate.form), candidate.choices, args);
    if (match) return {&candidate};
    misses.push_back(std::move(match).error());
  }
  for (const Candidate& candidate : candidates)
    if (!isa::leniency(isa::form(candidate.form), candidate.choices, args, target).empty())
      return {&candidate, Chosen::By::leniency};
  const Candidate& best = nearest(candidates, args);
  return {&best, Chosen::By::likeness, std::move(misses[static_cast<std::size_t>(&best - candidates.data())])};
}

}  // namespace ptx::text
