#include "ptx/check/directives.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "ptx/check/declarations.hpp"
#include "ptx/check/launch_bounds.hpp"

namespace ptx::check {
namespace {

enum class On : std::uint8_t { entry, func, both };

struct DirectiveInfo {
  std::string_view name;
  std::size_t least, most;  ///< values
  bool positive;            ///< ptxas refuses a 0
  On kind;
  Version since;
  isa::TargetSet on;
};
constexpr std::array directive_infos = {
    DirectiveInfo{"maxnreg", 1, 1, true, On::entry, {1, 3}, isa::node(sm_10)},
    DirectiveInfo{"maxntid", 1, 3, true, On::entry, {1, 3}, isa::node(sm_10)},
    DirectiveInfo{"reqntid", 1, 3, true, On::entry, {2, 1}, isa::node(sm_10)},
    DirectiveInfo{"minnctapersm", 1, 1, true, On::entry, {2, 0}, isa::node(sm_10)},
    DirectiveInfo{"reqnctapercluster", 1, 3, false, On::entry, {7, 8}, isa::node(sm_90)},
    DirectiveInfo{"explicitcluster", 0, 0, false, On::entry, {7, 8}, isa::node(sm_90)},
    DirectiveInfo{"maxclusterrank", 1, 1, false, On::entry, {7, 8}, isa::node(sm_90)},
    DirectiveInfo{"blocksareclusters", 0, 0, false, On::entry, {9, 0}, isa::node(sm_90)},
    DirectiveInfo{"noreturn", 0, 0, false, On::func, {6, 4}, isa::node(sm_30)},
    DirectiveInfo{"abi_preserve", 1, 1, false, On::func, {9, 0}, isa::node(sm_80)},
    DirectiveInfo{"abi_preserve_control", 1, 1, false, On::func, {9, 0}, isa::node(sm_80)},
    DirectiveInfo{"local_maxnreg", 1, 1, false, On::both, {8, 8}, isa::node(sm_10)},
};

// Quoted strings of a pragma or text of a directive, one after another.
template <class Each>
void each_string(std::string_view strings, const Each& each) {
  if (strings.find('"') == std::string_view::npos) return each(strings);  // one, without its quotes
  while (true) {
    const std::size_t begin = strings.find('"');
    if (begin == std::string_view::npos) return;
    const std::size_t end = strings.find('"', begin + 1);
    if (end == std::string_view::npos) return each(strings.substr(begin + 1));
    each(strings.substr(begin + 1, end - begin - 1));
    strings.remove_prefix(end + 1);
  }
}

void unknown(Report& report, const ir::Directive& directive, ir::WhereId where) {
  std::vector<std::string> known;
  for (const DirectiveInfo& d : directive_infos) known.emplace_back(d.name);
  Diagnostic& d = report.error(where, Kind::bad_declaration, cat("`.", directive.name, "` is not a directive of a function"));
  if (const std::string near = nearest(directive.name, known); !near.empty()) d.hint(cat("did you mean `.", near, "`?"));
}

void check_directive(Report& report, const ir::Directive& directive, bool is_entry, ir::WhereId where) {
  if (directive.name == "pragma" && is_entry) return check_pragma(report, directive.text, PragmaLevel::directive, where);
  const auto info = std::find_if(directive_infos.begin(), directive_infos.end(),
                                 [&](const DirectiveInfo& d) { return d.name == directive.name; });
  if (info == directive_infos.end()) return unknown(report, directive, where);
  const std::string what = cat("`.", directive.name, '`');
  const auto bad = [&](std::string why) { report.error(where, Kind::bad_declaration, std::move(why)); };
  if (info->kind != On::both && (info->kind == On::entry) != is_entry) {
    bad(is_entry ? cat(what, " stands on a `.func`, not on an `.entry`") : cat(what, " stands on an `.entry`, not on a `.func`"));
    return;
  }
  if (directive.values.size() < info->least || directive.values.size() > info->most)
    bad(cat(what, " takes ", info->least == info->most ? cat(info->most) : cat(info->least, " to ", info->most),
            info->most == 1 ? " value, " : " values, ", directive.values.size(), " given"));
  if (std::find(directive.values.begin(), directive.values.end(), 0u) != directive.values.end()) {
    if (info->positive)
      bad(cat(what, " has a value of 0"));
    else if (info->name != "abi_preserve" && info->name != "abi_preserve_control")
      report.warning(where, Kind::launch_bound, cat(what, " has a value of 0: no launch can meet it"));
  }
  check_availability(report, where, what, info->since, info->on);
  // what ptxas 13.0 takes; the rest it needs itself
  const std::uint32_t most = info->name == "abi_preserve" ? 239 : 11;
  if (info->name.starts_with("abi_preserve") && !directive.values.empty() && directive.values[0] > most)
    bad(cat(what, " says ", directive.values[0], "; what fits is 0 to ", most));
}

// Bounds that ptxas takes and that no launch can meet, or that it ignores.
void check_bounds(Report& report, const ir::Function& function) {
  const auto find = [&](std::string_view name) -> const ir::Directive* {
    for (const ir::Directive& d : function.directives)
      if (d.name == name && !d.values.empty()) return &d;
    return nullptr;
  };
  const ir::WhereId where = function.where;
  const auto warn = [&](std::string message) -> Diagnostic& {
    return report.warning(where, Kind::launch_bound, std::move(message));
  };
  const ir::Directive* threads = find("reqntid");
  if (threads == nullptr) threads = find("maxntid");
  if (threads != nullptr) {
    const std::uint64_t n = thread_count(threads->values);
    if (n > 1024)
      warn(cat("`.", threads->name, "` allows ", n, " threads; a CTA has 1024 at most"));
    else if (threads->values.size() == 3 && threads->values[2] > 64)
      warn(cat("`.", threads->name, "` allows ", threads->values[2], " threads in z; a CTA has 64 at most"));
  }
  if (const ir::Directive* ctas = find("minnctapersm")) {
    if (threads == nullptr)
      warn("`.minnctapersm` is ignored without `.maxntid` or `.reqntid`").hint("say how many threads a CTA has");
    else if (const isa::SmLimits sm = isa::sm_limits(report.module().target);
             thread_count(threads->values) * ctas->values[0] > sm.threads())
      warn(cat("`.minnctapersm ", ctas->values[0], "` of ", thread_count(threads->values), " threads is ignored: an SM of `",
               isa::name(report.module().target), "` holds ", sm.threads(), " threads at most"));
  }
  if (const ir::Directive* registers = find("maxnreg")) {
    const std::uint32_t n = registers->values[0];
    if (n > 255)
      warn(cat("`.maxnreg ", n, "` is taken as 255, the most registers that a thread has"));
    else if (n < 24 && n != 0 && isa::info(report.module().target).base >= 90)
      warn(cat("`.maxnreg ", n, "` is taken as 24, the fewest that `", isa::name(report.module().target), "` has"));
    else if (const ir::Directive* exact = find("reqntid"); exact != nullptr && n >= 24) {
      const std::uint64_t rounded = (thread_count(exact->values) + 127) / 128 * 128;
      if (const std::uint64_t most = rounded == 0 ? 255 : 65536 / rounded / 8 * 8; n > most && most != 0)
        warn(cat("`.maxnreg ", n, "` for ", thread_count(exact->values),
                 " threads is more than the 65536 registers of an SM: ", most, " each at most"));
    }
  }
  if (const ir::Directive* cluster = find("reqnctapercluster"))
    if (const std::uint64_t n = thread_count(cluster->values); n > 16)
      warn(cat("`.reqnctapercluster` asks for ", n, " CTAs; a cluster has 8, or 16 at most where the launch allows more"));
}

// The number of a pragma, as C writes it: `12`, `-1`, `0x10`, `017`. One that is too large is the largest.
std::optional<std::int64_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X"), octal = !hexadecimal && text.starts_with('0');
  if (hexadecimal) text.remove_prefix(2);
  std::uint32_t ignored = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored, hexadecimal ? 16 : octal ? 8 : 10);
  if (text.starts_with('-') || error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  const std::int64_t value = error == std::errc() ? ignored : std::numeric_limits<std::int64_t>::max();
  return negative ? -value : value;
}

bool is_positive(std::string_view text) { return number_of(text).value_or(0) > 0; }

}  // namespace

void check_directives(Report& report, const ir::Function& function) {
  const auto has = [&](std::string_view name) {
    return std::any_of(function.directives.begin(), function.directives.end(),
                       [&](const ir::Directive& d) { return d.name == name; });
  };
  if (function.directives.empty()) return;
  const auto bad = [&](std::string_view why) { report.error(function.where, Kind::bad_declaration, std::string(why)); };
  for (const ir::Directive& directive : function.directives)
    check_directive(report, directive, function.is_entry, function.where);
  if (!function.is_entry && std::count_if(function.directives.begin(), function.directives.end(),
                                          [](const ir::Directive& d) { return d.name == "noreturn"; }) > 1)
    bad("`.noreturn` is written twice here");
  if (has("maxntid") && has("reqntid")) bad("`.maxntid` and `.reqntid` exclude each other");
  if (has("reqnctapercluster") && has("maxclusterrank")) bad("`.reqnctapercluster` and `.maxclusterrank` exclude each other");
  if (has("blocksareclusters") && !(has("reqntid") && has("reqnctapercluster")))
    bad("`.blocksareclusters` goes with `.reqntid` and `.reqnctapercluster`");
  if (has("noreturn") && !function.returns.empty()) bad("a function that is `.noreturn` returns nothing");
  if (function.is_entry) check_bounds(report, function);
}

void check_directives(Report& report, const ir::Prototype& prototype, ir::WhereId where) {
  for (const ir::Directive& directive : prototype.directives) {
    check_directive(report, directive, false, where);
    if (directive.name == "noreturn" && !prototype.returns.empty())
      report.error(where, Kind::bad_declaration, "a function that is `.noreturn` returns nothing");
  }
}

void check_pragma(Report& report, std::string_view strings, PragmaLevel level, ir::WhereId where) {
  each_string(strings, [&](std::string_view pragma) {
    const std::string_view name = pragma.substr(0, pragma.find(' '));
    std::string_view value = pragma.substr(name.size());
    while (value.starts_with(' ')) value.remove_prefix(1);
    const std::string what = cat("the pragma `", name, '`');
    const auto bad = [&](std::string why) { report.error(where, Kind::bad_declaration, std::move(why)); };
    const bool in_body = level == PragmaLevel::func_body || level == PragmaLevel::entry_body;
    if (name == "nounroll" && value.empty()) return;
    if (name == "local_maxnreg" && level != PragmaLevel::module) {
      if (const auto n = number_of(value); !n || *n < 0 || *n > 255)
        bad(cat(what, " has the value `", value, "`; what fits is a number of registers, 0 to 255"));
    } else if (name == "used_bytes_mask" || name == "enable_smem_spilling" || name == "frequency") {
      if (!in_body) return bad(cat(what, " belongs inside a function"));
      if (name == "used_bytes_mask" && !number_of(value))  // 0 is what nvcc prints where nothing of a load is used
        bad(cat(what, value.empty() ? " lacks its mask" : cat(" has the mask `", value, "`; what fits is a number")));
      if (name == "frequency") {
        check_availability(report, where, what, {9, 0}, isa::node(sm_10));
        if (!is_positive(value)) bad(cat(what, " has the value `", value, "`; what fits is a number of executions"));
      }
      if (name == "enable_smem_spilling") {
        check_availability(report, where, what, {8, 7}, isa::node(sm_75));
        if (level == PragmaLevel::func_body) bad(cat(what, " is for entries, not for device functions"));
      }
    } else if (level == PragmaLevel::module) {
      bad(cat(what, " is not known"));  // ptxas refuses it here alone
    } else {
      report.warning(where, Kind::unknown_pragma, cat(what, " is not known, and is ignored"));
    }
  });
}

}  // namespace ptx::check
