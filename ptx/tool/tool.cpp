#include "ptx/tool/tool.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "ptx/tool/commands.hpp"
#include "ptx/tool/response.hpp"
#include "ptx/version.hpp"

namespace ptx::tool {
namespace {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Reads what stands behind a command; what is wrong with it, or "".
std::string read_arguments(const Command& command, std::span<const std::string> words, Arguments& arguments) {
  bool only_files = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_files || word.size() < 2 || word[0] != '-') {
      arguments.files.push_back(word);
      continue;
    }
    if (word == "--") {
      only_files = true;
      continue;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const auto option =
        std::find_if(command.options.begin(), command.options.end(), [&](const Option& known) { return known.name == name; });
    if (option == command.options.end()) return cat("`", command.name, "` takes no option `", name, "`");
    if (option->value.empty()) {
      if (equals != std::string::npos) return cat("`", name, "` takes no value");
      if (name == "--json")
        arguments.format = "json";
      else
        arguments.others.emplace_back(option->name, "yes");
      continue;
    }
    std::string value;
    if (equals != std::string::npos)
      value = word.substr(equals + 1);
    else if (++i < words.size())
      value = words[i];
    if (value.empty()) return cat("`", name, "` needs a value");
    if (const std::vector<std::string> fit = split_words(option->words);
        !fit.empty() && std::find(fit.begin(), fit.end(), value) == fit.end())
      return cat("`", name, "` takes ", list_choices(fit), ", `", value, "` was given");
    if (name == "--format")
      arguments.format = value;
    else if (name == "--target")
      arguments.target = value;
    else if (name == "-o")
      arguments.output = value;
    else if (name != "--max")
      arguments.others.emplace_back(option->name, std::move(value));
    else {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), arguments.most.emplace());
      if (error != std::errc() || end != value.data() + value.size())
        return cat("`--max` takes a number, `", value, "` was given");
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> Arguments::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [option, value] : others)
    if (option == name) values.push_back(value);
  return values;
}
std::string_view Arguments::last(std::string_view name) const {
  std::string_view found;
  for (const auto& [option, value] : others)
    if (option == name) found = value;
  return found;
}

Outcome run(std::span<const std::string> given, const Caller& caller) {
  const auto expanded = expand_responses(given);
  if (!expanded) {
    Outcome outcome = refuse(caller, expanded.error().message);
    for (const std::string& note : notes_of(expanded.error())) outcome.err += cat("  = ", note, '\n');
    return outcome;
  }
  std::span<const std::string> arguments = *expanded;
  if (arguments.empty()) return {.status = 2, .out = {}, .err = help(caller)};
  if (arguments.front() == "--version") return {.status = 0, .out = cat(version, '\n'), .err = {}};
  bool wants_help = false;
  if (const std::string& first = arguments.front(); first == "help" || first == "--help" || first == "-h") {
    wants_help = true;
    arguments = arguments.subspan(1);
    if (arguments.empty()) return {.status = 0, .out = help(caller), .err = {}};
  }
  const std::string& name = arguments.front();
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    names.emplace_back(command.name);
    if (command.name != name) continue;
    const auto rest = arguments.subspan(1);
    for (const std::string& word : rest) {
      if (word == "--") break;
      wants_help |= word == "--help" || word == "-h";
    }
    if (wants_help) return {.status = 0, .out = help(command, caller), .err = {}};
    Arguments read;
    const std::string wrong = read_arguments(command, rest, read);
    return wrong.empty() ? command.run(read, caller)
                         : refuse(caller, wrong, cat("usage: ", caller.program, ' ', usage_of(command)));
  }
  const std::string near = nearest(name, names);
  return refuse(caller, cat("`", name, "` is not a command; there are ", list_choices(names)),
                near.empty() ? cat("`", caller.program, " help` says what they do") : cat("did you mean `", near, "`?"));
}

}  // namespace ptx::tool
