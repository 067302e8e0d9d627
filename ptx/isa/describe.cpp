#include "ptx/isa/describe.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ptx/isa/effects.hpp"
#include "ptx/isa/meanings.hpp"
#include "ptx/isa/word.hpp"

namespace ptx::isa {
namespace {

// A word behind a dot, as a page shows it: a slot of the form or a type.
std::string dotted(std::string_view word) { return cat("`.", word, '`'); }

std::string describe_type(const Form& form, std::string_view word) {
  if (word == "wide") return "twice as wide as `.type`";
  if (word == "dreg") return "32-bit (`.dtype`; `.f16` in pairs)";
  const int s = form.slot(word);
  if (s < 0 || form.slots[static_cast<std::size_t>(s)].literal) return dotted(word);
  const auto& choices = form.slots[static_cast<std::size_t>(s)].choices;
  return choices.size() == 1 ? dotted(choices.front().word) : cat("as ", dotted(word), " says");
}

// The fewest and the most registers that a fragment word stands for, over the choices of the form.
std::pair<int, int> fragment_sizes(const Form& form, std::string_view word) {
  constexpr std::string_view deciding[] = {"shape", "num", "dtype", "atype", "btype", "ctype", "geom", "cta_group", "dim"};
  std::vector<Choices> all(1);
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    const FormSlot& slot = form.slots[i];
    const bool decides = std::find(std::begin(deciding), std::end(deciding), slot.name) != std::end(deciding);
    std::vector<Choices> next;
    for (Choices choices : all)
      for (std::size_t c = slot.optional && decides ? 0 : 1; c <= (decides ? slot.choices.size() : 1); ++c) {
        choices[i] = static_cast<std::uint8_t>(c);
        next.push_back(choices);
      }
    all = std::move(next);
  }
  std::pair<int, int> sizes{std::numeric_limits<int>::max(), 0};
  for (const Choices& choices : all)
    if (const int n = form.count(word, choices); n > 0) sizes = {std::min(sizes.first, n), std::max(sizes.second, n)};
  return sizes;
}

std::string describe_count(const Form& form, std::string_view word) {
  if (word == "one") return "register, with or without braces";
  if (const int s = form.slot(word); s >= 0 && !form.slots[static_cast<std::size_t>(s)].literal)
    return cat("vector, as long as ", dotted(word), " says");
  const auto [least, most] = fragment_sizes(form, word);
  if (most == 0) return "vector";
  return least == most ? cat("vector of ", most) : cat("vector of ", least, " to ", most, ", as the modifiers say");
}

// The ranges of an operand's elements, "0 or 2, then 0 to 3".
std::string describe_ranges(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = text.find(':');
    out += cat(out.empty() ? "" : ", then ", describe_range(text.substr(0, end)));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string describe_space(const Form& form, const OperandSpec& operand) {
  if (operand.space.empty()) return "generic address";
  const int s = form.slot(operand.space);
  if (s < 0 || form.slots[static_cast<std::size_t>(s)].literal) return cat("address in ", dotted(operand.space));
  return cat("address in ", dotted(operand.space),
             form.slots[static_cast<std::size_t>(s)].optional ? ", generic without it" : "");
}

std::string describe_role(const Form& form, const OperandSpec& o) {
  switch (o.role) {
    case Role::address:
      return describe_space(form, o);
    case Role::tensor: {
      const std::string coords = cat(describe_type(form, o.coords_type), " coordinates");
      if (o.space == "texture") return cat("texture, perhaps a sampler, and ", coords);
      if (o.space == "surface") return cat("surface and ", coords);
      return cat("tensor map and ", coords);
    }
    case Role::label:
      return "label";
    case Role::symbol:
      return o.space.empty() ? "name of a variable, parameter or function" : cat("name of a variable in ", dotted(o.space));
    case Role::list:
      return o.access == Access::read ? "arguments in parentheses" : "result in parentheses";
    case Role::sink:
      return "the sink `_`";
    case Role::special:
      return cat("special register, ", describe_type(form, o.type));
    case Role::imm:
      return cat("immediate, ", describe_type(form, o.type));
    case Role::value:
    case Role::reg:
      break;
  }
  const std::string_view what = o.role == Role::reg ? "register" : "register or immediate";
  if (o.count.empty()) return cat(what, ", ", describe_type(form, o.type));
  return cat(describe_count(form, o.count), ", ", describe_type(form, o.type), " each");
}

}  // namespace

std::string family(const Form& form) {
  const std::string_view anchor = form.row->anchor;
  if (anchor.starts_with("tcgen")) return "Tensor Core 5th Generation Instructions";
  constexpr std::string_view last = "instructions";
  const std::size_t at = anchor.find(last);
  std::string title(anchor.substr(0, at == std::string_view::npos ? anchor.size() : at + last.size()));
  bool starts_word = true;
  for (char& c : title) {
    if (c == '-') c = ' ';
    if (starts_word && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    starts_word = c == ' ';
  }
  for (std::size_t at_and = title.find(" And "); at_and != std::string::npos; at_and = title.find(" And "))
    title[at_and + 1] = 'a';
  return title;
}

std::string available(Version since, TargetSet on) {
  std::string text = since > Version{0, 0} ? cat("PTX ", to_string(since)) : std::string();
  if (on == 0) return text;
  const bool one = (on & (on - 1)) == 0;
  const bool base = one && info(static_cast<Target>(__builtin_ctzll(on))).variant == ' ';
  return cat(text, text.empty() ? "" : ", ", list_targets(on), base ? " or newer" : "");
}

std::string available(const Form& form) {
  const Row& row = *form.row;
  std::string text = available(row.since, row.on);
  if (row.also_on != 0) text += cat("; ", available(row.also_since, row.also_on));
  if (row.removed_on != 0) text += cat("; removed from ", list_targets(row.removed_on), " in PTX ", to_string(row.removed_since));
  return text;
}

std::string list_words(const FormSlot& slot) {
  std::string out, needs;
  for (const Choice& choice : slot.choices) {
    const std::string needed = available(choice.since, choice.on);
    if (!out.empty()) out += needed == needs ? " " : cat(needs.empty() ? "" : cat(" (", needs, ')'), "; ");
    needs = needed;
    out += dotted(choice.word);
  }
  return needs.empty() ? out : cat(out, " (", needs, ')');
}

std::string describe_range(std::string_view text) {
  std::vector<std::string> words;
  for (const IntegerRange& r : detail::parse_range(text)) {
    const bool open = r.high == std::numeric_limits<std::int64_t>::max();
    if (r.low == r.high)
      words.push_back(cat(r.low));
    else if (r.times == 2)
      words.push_back(cat("a power of two from ", r.low, " to ", r.high));
    else if (open)
      words.push_back(r.step > 1 ? cat("a multiple of ", r.step, r.low == 0 ? std::string() : cat(" from ", r.low, " on"))
                                 : cat("at least ", r.low));
    else
      words.push_back(cat(r.low, " to ", r.high, r.step > 1 ? cat(" in steps of ", r.step) : std::string()));
  }
  std::string list = ptx::list_choices(words);
  std::erase(list, '`');
  return list;
}

std::string describe(const Form& form, const OperandSpec& o) {
  std::string text = describe_role(form, o);
  if (o.access == Access::write) text += ", written";
  if (o.access == Access::read_write) text += ", read and written";
  if (o.wider) text += ", or wider";
  if (o.negatable) text += ", `!` negates";
  if (!o.range.empty()) text += cat(", ", describe_ranges(o.range));
  if (!o.part.empty()) text += o.part == "lane" ? ", or a byte or half of it" : ", or halves or bytes of it";
  if (o.sink) text += ", or `_`";
  if (o.optional) text += "; may be left out";
  if (o.conditional) {
    text += cat("; with ", dotted(o.when_slot));
    std::vector<std::string> words;
    for (std::string_view rest = o.when_choices; !rest.empty();) {
      const std::size_t bar = rest.find('|');
      words.push_back(cat('.', rest.substr(0, bar)));
      rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
    }
    if (!words.empty()) text += cat(" ", ptx::list_choices(words));
  }
  if (const std::string_view words = meaning(form, o.name); !words.empty()) text += cat("; ", words);
  return text;
}

namespace {

std::string_view words(Event event) {
  switch (event) {
    case Event::none:
    case Event::untold:
      break;
    case Event::copy_group:
      return "a group of copies";
    case Event::bulk_group:
      return "a group of bulk copies";
    case Event::wgmma_group:
      return "a group of wgmma operations";
    case Event::tensor_load:
      return "loads from tensor memory";
    case Event::tensor_store:
      return "stores to tensor memory";
    case Event::tensor_operation:
      return "operations in tensor memory";
    case Event::fabric:
      return "fabric operations";
    case Event::mbarrier:
      return "an mbarrier's phase";
    case Event::barrier:
      return "the barrier's other threads";
    case Event::lanes:
      return "the member lanes";
    case Event::registers:
      return "registers";
    case Event::tensor_memory:
      return "tensor memory";
    case Event::grid:
      return "the grid ahead";
  }
  return {};
}

std::string_view words(Sync sync) {
  constexpr std::string_view all[] = {"",
                                      "takes part in the order of memory",
                                      "orders its thread's accesses",
                                      "orders accesses",
                                      "orders registers with what wgmma does",
                                      "orders operations in tensor memory",
                                      "brings threads together",
                                      "brings lanes together",
                                      "works on an mbarrier",
                                      "orders what its thread has begun",
                                      "takes from what the CTA shares, or gives back",
                                      "orders grids"};
  return all[static_cast<std::size_t>(sync)];
}

// "`a`", "`a` and `b`"
std::string list_operands(std::string_view names) {
  std::string text(1, '`');
  for (const char c : names) text += c == ' ' ? "` and `" : std::string(1, c);
  return text + '`';
}

}  // namespace

std::vector<std::string> describe_effects(const Form& form) {
  const Effects& does = form.row->effects;
  std::vector<std::string> all;
  const auto through = does.proxy == Proxy::generic ? std::string() : cat(" through the ", name(does.proxy), " proxy");
  if (!does.reads.empty()) all.push_back(cat("reads memory at ", list_operands(does.reads), through));
  if (!does.writes.empty()) all.push_back(cat("writes memory at ", list_operands(does.writes), through));
  if (does.completes == Event::untold)
    all.emplace_back("completes later, and nobody is told");
  else if (does.is_async())
    all.push_back(does.signals.empty() ? cat("completes later, with ", words(does.completes))
                                       : cat("completes later, and tells the mbarrier ", list_operands(does.signals)));
  if (does.commits != Event::none) all.push_back(cat(does.signals.empty() ? "closes " : "has tracked ", words(does.commits)));
  if (does.waits != Event::none) all.push_back(cat("may wait for ", words(does.waits)));
  if (does.sync != Sync::none) {
    std::string text(words(does.sync));
    if (does.sync == Sync::proxy_fence) text += cat(" of the generic and the ", name(does.proxy), " proxy");
    Choices literal{};
    for (std::size_t i = 0; i < form.slots.size(); ++i) literal[i] = form.slots[i].literal && !form.slots[i].optional ? 1 : 0;
    if (const Scope among = scope(form, literal); among != Scope::none) text += cat(" in the ", name(among));
    all.push_back(text);
  }
  if (does.control) all.emplace_back("changes the flow of control");
  if (does.converged != Converged::none) {
    const int aligned = aligned_slot(form);
    const bool always = aligned < 0 || !form.slots[static_cast<std::size_t>(aligned)].optional;
    all.push_back(cat("all threads of the ", does.converged == Converged::warp ? "warp" : "warpgroup", " execute it together",
                      always ? "" : " with `.aligned`"));
  }
  if (does.volatile_) all.emplace_back("has an effect that no operand names");
  return all;
}

std::string spell_call(const Form& form, const Choices& chosen) {
  Choices choices = chosen;
  std::string text = cat("inst.", identifier(form.opcode));
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    if (choices[i] == 0 && !form.slots[i].optional) choices[i] = 1;
    if (choices[i] != 0) text += cat('.', identifier(form.slots[i].choices[choices[i] - 1u].word));
  }
  text += '(';
  bool first = true;
  for (const OperandSpec& o : form.operands) {
    if (o.optional || (o.conditional && !form.present(o, choices))) continue;
    text += cat(first ? "" : o.piped ? " | " : ", ", identifier(o.name));
    first = false;
  }
  return text + ')';
}

}  // namespace ptx::isa
