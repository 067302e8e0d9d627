#include "ptx/tool/tool.hpp"

#include <charconv>
#include <vector>

#include "ptx/tool/commands.hpp"
#include "ptx/version.hpp"

namespace ptx::tool {
namespace {

struct Command {
  std::string_view name, usage, summary;
  Outcome (*run)(const Arguments&, const Caller&);
  std::string_view options;  ///< those it takes, each between spaces
};
constexpr Command commands[] = {
    {"check", "check FILE… [--target sm_90a] [--json] [--max N]", "say everything that is wrong with the PTX", check,
     " --target --json --max "},
    {"print", "print FILE [-o FILE]", "the module as canonical text", print, " -o "},
    {"isa", "isa [OPCODE[.MODIFIER…]]", "an instruction's forms, modifiers, operands and availability", isa, " "},
};

std::string usage(const Caller& caller) {
  std::string out = cat("usage: ", caller.program, " COMMAND …\n\n");
  for (const Command& command : commands) out += cat("  ", caller.program, ' ', command.usage, "\n      ", command.summary, '\n');
  return cat(
      out, "  ", caller.program, " help | --version\n\n",
      "FILE `-` is the standard input. --target takes the place of the module's own; --max is how many findings of one file are\n"
      "shown (50; 0: all). Exit status: 0 well, warnings included; 1 the PTX has errors; 2 called wrongly, or a file cannot be\n"
      "read or written.\n");
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
    if (command.options.find(cat(' ', name, ' ')) == std::string_view::npos)
      return cat("`", command.name, "` takes no option `", name, "`");
    if (name == "--json") {
      if (equals != std::string::npos) return "`--json` takes no value";
      arguments.json = true;
      continue;
    }
    std::string value;
    if (equals != std::string::npos)
      value = word.substr(equals + 1);
    else if (++i < words.size())
      value = words[i];
    if (value.empty()) return cat("`", name, "` needs a value");
    if (name == "--target") arguments.target = value;
    if (name == "-o") arguments.output = value;
    if (name == "--max") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), arguments.most);
      if (error != std::errc() || end != value.data() + value.size())
        return cat("`--max` takes a number, `", value, "` was given");
    }
  }
  return {};
}

}  // namespace

Outcome refuse(const Caller& caller, std::string_view message, std::string_view hint) {
  Outcome outcome{.status = 2, .out = {}, .err = cat(caller.program, ": error: ", message, '\n')};
  if (!hint.empty()) outcome.err += cat("  = hint: ", hint, '\n');
  return outcome;
}

Outcome run(std::span<const std::string> arguments, const Caller& caller) {
  if (arguments.empty()) return {.status = 2, .out = {}, .err = usage(caller)};
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help" || name == "-h") return {.status = 0, .out = usage(caller), .err = {}};
  if (name == "--version") return {.status = 0, .out = cat(version, '\n'), .err = {}};
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.emplace_back(command.name);
    if (command.name != name) continue;
    const auto rest = arguments.subspan(1);
    for (const std::string& word : rest) {
      if (word == "--") break;
      if (word == "--help" || word == "-h") return {.status = 0, .out = usage(caller), .err = {}};
    }
    Arguments read;
    const std::string wrong = read_arguments(command, rest, read);
    return wrong.empty() ? command.run(read, caller) : refuse(caller, wrong, cat("usage: ", caller.program, ' ', command.usage));
  }
  const std::string near = nearest(name, names);
  return refuse(caller, cat("`", name, "` is not a command; there are ", list_choices(names)),
                near.empty() ? cat("`", caller.program, " help` says what they do") : cat("did you mean `", near, "`?"));
}

}  // namespace ptx::tool
