// completion: scripts for shells, made of the list of commands and of the instruction table.
#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : " ", word);
  return out;
}

std::string targets() {
  std::vector<std::string> names;
  for (const isa::TargetInfo& info : isa::detail::target_infos) names.emplace_back(info.name);
  return joined(names);
}

// What the option's value may be, between spaces; "": anything.
std::string values_of(const Option& option) { return option.name == "--target" ? targets() : std::string(option.words); }

std::string opcodes() {
  std::vector<std::string> names;
  for (const isa::Form& form : isa::forms()) names.emplace_back(form.opcode);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return joined(names);
}

std::string rules() {
  std::vector<std::string> names;
  for (const vgpu::RuleRow& row : vgpu::all_rules()) names.emplace_back(row.id);
  return joined(names);
}

std::string command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return joined(names);
}

// Inside '…' of a shell.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

std::string bash(std::string_view program) {
  std::string offered;
  for (const Command& command : commands())
    for (const Option& option : command.options)
      if (const std::string values = values_of(option); !values.empty())
        offered += cat("    ", option.name, ") COMPREPLY=($(compgen -W '", values, "' -- \"$word\")); return ;;\n");
  std::string out = cat("# Completion of ", program, " for bash.\n", '_', program, "() {\n",
                        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n  COMPREPLY=()\n"
                        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '",
                        command_names(), " help --version' -- \"$word\"))\n    return\n  fi\n  case $before in\n", offered,
                        "    --max) return ;;\n    -o) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n  esac\n"
                        "  case ${COMP_WORDS[1]} in\n    help) COMPREPLY=($(compgen -W '",
                        command_names(), "' -- \"$word\")) ;;\n");
  for (const Command& command : commands()) {
    std::string options = "--help";
    for (const Option& option : command.options) options += cat(' ', option.name);
    out +=
        cat("    ", command.name, ")\n      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '", options, "' -- \"$word\"))\n");
    if (command.takes == Takes::files)
      out += "      else COMPREPLY=($(compgen -f -X '!*.ptx' -- \"$word\") $(compgen -d -- \"$word\")); compopt -o filenames\n";
    if (command.takes == Takes::opcode) out += cat("      else COMPREPLY=($(compgen -W '", opcodes(), "' -- \"$word\"))\n");
    if (command.takes == Takes::shell) out += "      else COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\"))\n";
    if (command.takes == Takes::rule) out += cat("      else COMPREPLY=($(compgen -W '", rules(), "' -- \"$word\"))\n");
    out += "      fi ;;\n";
  }
  return cat(out, "  esac\n}\ncomplete -F _", program, ' ', program, '\n');
}

std::string zsh(std::string_view program) {
  std::string out =
      cat("#compdef ", program, "\n# Completion of ", program, " for zsh.\n_", program, "() {\n  local -a known\n  known=(\n");
  for (const Command& command : commands()) out += cat("    ", in_quotes(cat(command.name, ':', command.summary)), '\n');
  out +=
      "    'help:what a command does'\n  )\n  if (( CURRENT == 2 )); then _describe command known; return; fi\n  shift words\n"
      "  (( CURRENT-- ))\n  case $words[1] in\n    help) _describe command known ;;\n";
  for (const Command& command : commands()) {
    out += cat("    ", command.name, ") _arguments '--help[what the command does]'");
    for (const Option& option : command.options) {
      std::string value;
      if (const std::string values = values_of(option); !values.empty())
        value = cat(':', option.name.substr(2), ":(", values, ')');
      else if (option.name == "-o")
        value = ":file:_files";
      else if (!option.value.empty())
        value = cat(':', option.value, ':');
      std::string summary(option.summary);
      for (char& c : summary)
        if (c == ':' || c == '[' || c == ']') c = ' ';
      out += cat(' ', in_quotes(cat(option.name, '[', summary, ']', value)));
    }
    if (command.takes == Takes::files) out += " '*:file:_files -g \"*.ptx(-.)\"'";
    if (command.takes == Takes::opcode) out += cat(" '1:opcode:(", opcodes(), ")'");
    if (command.takes == Takes::shell) out += " '1:shell:(bash zsh fish)'";
    if (command.takes == Takes::rule) out += cat(" '1:rule:(", rules(), ")'");
    out += " ;;\n";
  }
  return cat(out, "  esac\n}\nif [ \"$funcstack[1]\" = _", program, " ]; then _", program, " \"$@\"; else compdef _", program,
             ' ', program, "; fi\n");
}

std::string fish(std::string_view program) {
  const std::string complete = cat("complete -c ", program);
  std::string out = cat("# Completion of ", program, " for fish.\n", complete, " -f -n __fish_use_subcommand -l version\n",
                        complete, " -f -n __fish_use_subcommand -a help -d 'what a command does'\n", complete,
                        " -f -n '__fish_seen_subcommand_from help' -a ", in_quotes(command_names()), '\n');
  for (const Command& command : commands()) {
    out += cat(complete, " -f -n __fish_use_subcommand -a ", command.name, " -d ", in_quotes(command.summary), '\n');
    const std::string here = cat(complete, " -n '__fish_seen_subcommand_from ", command.name, "' ");
    for (const Option& option : command.options) {
      const bool is_short = !option.name.starts_with("--");
      out += cat(here, is_short ? "-s " : "-l ", option.name.substr(is_short ? 1 : 2), option.value.empty() ? "" : " -r",
                 values_of(option).empty() ? std::string() : cat(" -f -a ", in_quotes(values_of(option))), " -d ",
                 in_quotes(option.summary), '\n');
    }
    if (command.takes == Takes::opcode) out += cat(here, "-f -a ", in_quotes(opcodes()), '\n');
    if (command.takes == Takes::shell) out += cat(here, "-f -a 'bash zsh fish'\n");
    if (command.takes == Takes::rule) out += cat(here, "-f -a ", in_quotes(rules()), '\n');
  }
  return out;
}

}  // namespace

Outcome completion(const Arguments& arguments, const Caller& caller) {
  struct Shell {
    std::string_view name;
    std::string (*script)(std::string_view);
  };
  constexpr Shell shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  if (arguments.files.size() == 1)
    for (const Shell& shell : shells)
      if (shell.name == arguments.files.front()) return deliver(shell.script(caller.program), arguments, caller);
  return refuse(caller, "`completion` takes the name of a shell: `bash`, `zsh` or `fish`");
}

}  // namespace ptx::tool
