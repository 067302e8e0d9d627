#include "ptx/isa/legal.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ptx/isa/implied.hpp"
#include "ptx/isa/row_rules.hpp"
#include "ptx/isa/special.hpp"

namespace ptx::isa {
namespace {

// What is not there: `tcgen05.mma` when all of it is missing here, the whole spelling, `ld.global.v8.f32`, when other rows of
// that name are there.
std::string missing_name(const Form& form, const Choices& choices, const Platform& platform) {
  std::string name = short_name(form);
  for (const Form& other : forms())
    if (allows(platform.target, other.row->on) && platform.version >= other.row->since && short_name(other) == name)
      return spell(form, choices);
  return name;
}

// A target of the set that differs from `target` in its suffix alone, sm_90a for sm_90.
std::string_view variant_in(TargetSet set, Target target) {
  for (std::size_t i = 0; i < target_count; ++i)
    if (const auto other = static_cast<Target>(i); (set & node(other)) != 0 && info(other).base == info(target).base)
      return name(other);
  return {};
}

Diagnostic lacking(Kind kind, std::string message) { return {kind, Severity::error, std::move(message), {}, {}}; }

Diagnostic target_lacks(const std::string& what, TargetSet on, const Platform& platform) {
  return lacking(Kind::target_lacks, cat(what, " needs ", say_needed(on), "; this kernel targets `", name(platform.target), '`'));
}
Diagnostic version_lacks(const std::string& what, Version since, const Platform& platform) {
  return lacking(Kind::version_lacks,
                 cat(what, " needs PTX ", to_string(since), "; this module says `.version ", to_string(platform.version), '`'));
}
std::string say_version(Version since, const Platform& platform) {
  return cat("`.version ", to_string(std::max(since, info(platform.target).since)), "` has it");
}

// The modifier that needs the version, when the instruction itself is older.
std::string_view newest_modifier(const Form& form, const Choices& choices, Version needed) {
  std::string_view newest;
  for (std::size_t i = 0; i < form.slots.size() && form.row->since < needed; ++i)
    if (choices[i] != 0)
      if (const Choice& choice = form.slots[i].choices[choices[i] - 1u]; choice.since == needed) newest = choice.word;
  return newest;
}

}  // namespace

std::string say_needed(TargetSet set) {
  for (std::size_t i = 0; i < target_count; ++i)
    if (const auto target = static_cast<Target>(i); set == node(target) && info(target).variant == ' ')
      return cat('`', name(target), "` or newer");
  return list_targets(set);
}

std::vector<Diagnostic> lacks(const Form& form, const Choices& choices, const Platform& platform) {
  std::vector<Diagnostic> all;
  const auto what = [&](std::string_view modifier) {
    return modifier.empty() ? cat('`', missing_name(form, choices, platform), '`')
                            : cat("`.", modifier, "` of `", short_name(form), '`');
  };
  for (const Availability& a : targets_needed(form, choices)) {
    if (allows(platform.target, a.on)) continue;
    Diagnostic& d = all.emplace_back(target_lacks(what(a.what), a.on, platform));
    d.manual(cat(manual(form)));
    if (const std::string_view variant = variant_in(a.on, platform.target); !variant.empty())
      d.hint(cat("set the kernel's target to `", variant, "`: only targets with a suffix have such features"));
    if (a.what.empty()) break;  // the modifiers of an instruction that is not there need no word of their own
  }
  if (removed(form, platform.target, platform.version)) {
    Diagnostic& d =
        all.emplace_back(lacking(Kind::target_lacks, cat(what(""), " was removed from ", say_needed(form.row->removed_on),
                                                         " in PTX ", to_string(form.row->removed_since),
                                                         "; this module says `.version ", to_string(platform.version), '`')));
    d.manual(cat(manual(form)));
  }
  if (const Version needed = version_needed(form, choices, platform.target); platform.version < needed)
    all.push_back(version_lacks(what(newest_modifier(form, choices, needed)), needed, platform)
                      .manual(cat(manual(form)))
                      .hint(say_version(needed, platform)));
  return all;
}

std::vector<Diagnostic> lacks(const Special& special, const Platform& platform) {
  std::vector<Diagnostic> all;
  const std::string what = cat('`', special.name, '`');
  if (!allows(platform.target, special.on)) all.push_back(target_lacks(what, special.on, platform));
  if (platform.version < special.since)
    all.push_back(version_lacks(what, special.since, platform).hint(say_version(special.since, platform)));
  return all;
}

std::vector<Diagnostic> lacks(std::span<const Arg> args, const Platform& platform) {
  std::vector<Diagnostic> all;
  const auto add = [&all](std::vector<Diagnostic> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  for (const Arg& arg : args) {
    if (arg.kind == ArgKind::vector || arg.kind == ArgKind::address || arg.kind == ArgKind::tensor)
      add(lacks(arg.elements, platform));
    if (arg.kind != ArgKind::special) continue;
    if (const auto special = special_from_name(arg.shown)) add(lacks(specials()[*special], platform));
  }
  return all;
}

std::optional<Diagnostic> breaks_rule(const Form& form, const Choices& choices, std::span<const Arg> args,
                                      const Platform& platform) {
  if (form.row->rule.empty()) return std::nullopt;
  const RowRule rule = find_rule(form.row->rule);
  if (rule == nullptr)
    return lacking(Kind::internal,
                   cat("the row of `", form.opcode, "` names a rule `", form.row->rule, "` that table/rules.cpp does not have"));
  std::optional<Diagnostic> broken = rule({form, choices, args, platform.target, platform.version});
  if (broken) broken->manual(cat(manual(form)));
  return broken;
}

Judgement legal(const Form& form, const Choices& choices, std::span<const Arg> args, const Platform& platform) {
  Judgement all{match(form, choices, args), lacks(form, choices, platform), std::nullopt};
  for (Diagnostic& d : lacks(args, platform)) all.lacking.push_back(std::move(d));
  if (all.match) all.broken = breaks_rule(form, choices, args, platform);
  return all;
}

const Diagnostic* Judgement::error() const {
  if (!match) return &match.error();
  if (!lacking.empty()) return &lacking.front();
  return broken && broken->severity == Severity::error ? &*broken : nullptr;
}

}  // namespace ptx::isa
