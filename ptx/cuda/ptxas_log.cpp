#include "ptx/cuda/ptxas_log.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ptx::cuda {
namespace {

constexpr std::size_t max_errors_shown = 8;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The number at the start of the text, or nothing.
std::optional<std::uint32_t> leading_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  return value;
}

/// The number before `words`, as in "128 bytes spill stores"; 0 when they are not there.
std::uint32_t number_before(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return leading_number(text.substr(begin, at - begin)).value_or(0);
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = text.substr(begin + open.size());
  return rest.substr(0, rest.find(close));
}

/// "ptxas kernel.ptx, line 12; error   : text", "ptxas fatal   : text", "ptxas info    : (C7508) text" taken apart.
struct Line {
  std::uint32_t number = 0;
  std::string_view severity;
  std::string_view text;
};

std::optional<Line> take_apart(std::string_view raw) {
  if (!raw.starts_with("ptxas ")) return std::nullopt;
  Line line;
  std::string_view rest = raw.substr(6);
  constexpr std::string_view marker = ", line ";
  const std::size_t semicolon = rest.find(';');
  const std::size_t at = rest.substr(0, semicolon).rfind(marker);
  if (semicolon != std::string_view::npos && at != std::string_view::npos) {
    if (const auto number = leading_number(rest.substr(at + marker.size()))) {
      line.number = *number;
      rest = rest.substr(semicolon + 1);
    }
  }
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  line.severity = trim(rest.substr(0, colon));
  line.text = trim(rest.substr(colon + 1));
  return line;
}

/// "(C7510) text" gives C7510 and leaves the text.
std::string take_code(std::string_view& text) {
  if (!text.starts_with("(C")) return {};
  const std::size_t close = text.find(')');
  if (close == std::string_view::npos) return {};
  std::string code(text.substr(1, close - 1));
  text = trim(text.substr(close + 1));
  return code;
}

void read_info(std::string_view text, Report& report) {
  constexpr std::string_view compiling = "Compiling entry function '";
  constexpr std::string_view properties = "Function properties for ";
  if (text.starts_with(compiling)) {
    report.functions.push_back(
        {.name = std::string(between(text, compiling, "'")), .target = std::string(between(text, "' for '", "'"))});
  } else if (text.starts_with(properties)) {
    const std::string_view name = trim(text.substr(properties.size()));
    if (report.functions.empty() || report.functions.back().name != name) {
      report.functions.push_back({.name = std::string(name)});
    }
  } else if (text.starts_with("Used ") && !report.functions.empty()) {
    // The kernel's line comes after those of the functions that it calls.
    const auto kernel = std::find_if(report.functions.rbegin(), report.functions.rend(),
                                     [](const FunctionReport& function) { return !function.target.empty(); });
    FunctionReport& function = kernel != report.functions.rend() ? *kernel : report.functions.back();
    function.registers = number_before(text, " registers");
    function.barriers = number_before(text, " barriers");
    function.smem_bytes = number_before(text, " bytes smem");
  }
}

void read_properties(std::string_view raw, Report& report) {
  if (report.functions.empty() || raw.find(" bytes stack frame") == std::string_view::npos) return;
  FunctionReport& function = report.functions.back();
  function.stack_frame_bytes = number_before(raw, " bytes stack frame");
  function.spill_store_bytes = number_before(raw, " bytes spill stores");
  function.spill_load_bytes = number_before(raw, " bytes spill loads");
}

std::string_view nth_line(std::string_view text, std::uint32_t number) {
  for (; number > 1; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return trim(text.substr(0, text.find('\n')));
}

std::string quote(const PtxasMessage& message, std::string_view ptx_text) {
  std::string out;
  if (message.line != 0) {
    out = cat("ptx line ", message.line, ": ");
    if (const std::string_view line = nth_line(ptx_text, message.line); !line.empty()) out += cat('`', line, "`: ");
  }
  out += message.text;
  if (message.where.known()) out += cat(" (", to_string(message.where), ')');
  return out;
}

/// The first line (from 1) that has `word`, or 0.
std::uint32_t line_with(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// The author's place of a line, or of the next one that has a place: declarations have none.
SourceLocation place_from(std::uint32_t line, std::string_view text, const LineMap& where) {
  if (!where || line == 0) return {};
  const auto last = 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
  for (; line <= last; ++line)
    if (const SourceLocation place = where(line); place.known()) return place;
  return {};
}

}  // namespace

Report parse_ptxas_log(std::string_view log, const LineMap& where) {
  Report report;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view raw = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    const std::optional<Line> line = take_apart(raw);
    if (!line) {
      read_properties(raw, report);
      continue;
    }
    PtxasMessage message{.line = line->number};
    std::string_view text = line->text;
    message.code = take_code(text);
    message.text = text;
    if (where && message.line != 0) message.where = where(message.line);
    if (line->severity == "error" || line->severity == "fatal") {
      report.messages.push_back(std::move(message));
    } else if (line->severity == "warning" || (line->severity == "info" && message.code.starts_with("C75"))) {
      message.severity = Severity::warning;
      report.messages.push_back(std::move(message));
    } else if (line->severity == "info") {
      read_info(text, report);
    }
  }
  return report;
}

Diagnostic compile_error(std::string_view compiler, std::string_view log, std::string_view ptx_text, const LineMap& where) {
  const Report report = parse_ptxas_log(log, where);
  std::vector<const PtxasMessage*> errors;
  for (const PtxasMessage& message : report.messages) {
    const bool says_nothing = message.text == "Ptx assembly aborted due to errors";
    if (message.severity == Severity::error && !says_nothing) errors.push_back(&message);
  }
  Diagnostic error{.kind = Kind::compile_error};
  if (errors.empty()) {
    error.message = cat(compiler, " refused the PTX");
    return std::move(error).note(cat("its log: ", trim(log).empty() ? "(empty)" : trim(log)));
  }
  error.message = cat(compiler, " refused the PTX: ", errors.front()->text);
  if (errors.size() > 1) error.message += cat(" (and ", errors.size() - 1, errors.size() == 2 ? " more error)" : " more errors)");
  const auto place = std::find_if(errors.begin(), errors.end(), [](const PtxasMessage* e) { return e->where.known(); });
  if (place != errors.end()) error.where = (*place)->where;
  for (std::size_t i = 0; i < std::min(errors.size(), max_errors_shown); ++i) error.note(quote(*errors[i], ptx_text));
  if (errors.size() > max_errors_shown) error.note(cat("… and ", errors.size() - max_errors_shown, " more"));
  return error;
}

bool has_error(const Report& report) {
  return std::any_of(report.messages.begin(), report.messages.end(),
                     [](const PtxasMessage& message) { return message.severity == Severity::error; });
}

bool is_too_old(const Report& report) {
  return std::any_of(report.messages.begin(), report.messages.end(), [](const PtxasMessage& message) {
    return message.severity == Severity::error &&
           (message.text.starts_with("Unsupported .version") ||
            message.text.find("is not defined for option 'gpu-name'") != std::string::npos);
  });
}

Diagnostics performance_warnings(const Report& report, std::string_view kernel, std::string_view ptx_text, const LineMap& where) {
  constexpr std::string_view loss = "Potential Performance Loss: ";
  Diagnostics warnings;
  for (const PtxasMessage& message : report.messages) {
    if (message.severity != Severity::warning) continue;
    std::string_view said = message.text;
    Diagnostic warning{.kind = Kind::compiler_warning, .severity = Severity::warning, .where = message.where};
    std::uint32_t line = message.line;
    if (message.code.starts_with("C75")) {
      if (!said.starts_with(loss)) continue;  // what it did for us
      said.remove_prefix(loss.size());
      std::string_view culprit;
      if (said.find("setmaxnreg") != std::string_view::npos) {
        warning.kind = Kind::setmaxnreg_ignored;
        culprit = "setmaxnreg";
      } else if (said.find("wgmma") != std::string_view::npos) {
        warning.kind = Kind::wgmma_pipeline;
        culprit = "wgmma.mma_async";
      }
      constexpr std::string_view around = "around line ";
      if (const std::size_t at = said.find(around); at != std::string_view::npos)
        line = leading_number(said.substr(at + around.size())).value_or(line);
      if (line == 0 && !culprit.empty()) line = line_with(ptx_text, culprit);
    }
    if (!warning.where.known()) warning.where = place_from(line, ptx_text, where);
    warning.message = cat("ptxas on kernel `", kernel, "`: ", said);
    if (!message.code.empty()) warning.message += cat(" (", message.code, ')');
    if (const std::string_view text = line == 0 ? std::string_view() : nth_line(ptx_text, line); !text.empty())
      warning.note(cat("ptx line ", line, ": `", text, '`'));
    const auto same = [&](const Diagnostic& other) { return other.message == warning.message && other.where == warning.where; };
    if (std::none_of(warnings.begin(), warnings.end(), same)) warnings.push_back(std::move(warning));
  }
  for (const FunctionReport& function : report.functions) {
    const bool ours = function.target.empty() || function.name == kernel;
    if (!ours || (function.spill_store_bytes == 0 && function.spill_load_bytes == 0)) continue;
    Diagnostic warning{.kind = Kind::register_spill,
                       .severity = Severity::warning,
                       .message = cat("ptxas on kernel `", kernel, "`: there are not enough registers, and each thread stores ",
                                      function.spill_store_bytes, " bytes and loads ", function.spill_load_bytes,
                                      " bytes of them in local memory")};
    if (function.name != kernel) warning.message += cat(" (in function `", function.name, "`)");
    warning.where = place_from(line_with(ptx_text, cat(' ', function.name, '(')), ptx_text, where);
    if (function.registers != 0) warning.note(cat("ptxas: ", function.registers, " registers of each thread are used"));
    warnings.push_back(std::move(warning).hint(
        "keep fewer values at a time, or leave each thread more registers (`.maxntid`, `.minnctapersm`, setmaxnreg)"));
  }
  return warnings;
}

}  // namespace ptx::cuda
