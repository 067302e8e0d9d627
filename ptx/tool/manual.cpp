// man: the manual page, in the language of man(7).
#include "ptx/tool/commands.hpp"
#include "ptx/version.hpp"

namespace ptx::tool {
namespace {

// Text as roff: no character of it is a request, a font or a hyphen that may be broken.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else if ((text[i] == '.' || text[i] == '\'') && (i == 0 || text[i - 1] == '\n'))
      out += cat("\\&", text.substr(i, 1));
    else
      out += text[i];
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

Outcome manual(const Arguments& arguments, const Caller& caller) {
  if (!arguments.files.empty()) return refuse(caller, "`man` takes no file");
  const std::string program = roff(caller.program);
  std::string out = cat(".TH ", upper(program), " 1 \"\" \"ptx ", version, "\"\n.SH NAME\n", program,
                        " \\- check, print and explain PTX\n.SH SYNOPSIS\n");
  for (const Command& command : commands()) out += cat(".B ", program, "\n", roff(usage_of(command)), "\n.br\n");
  out += cat(".B ", program, "\nhelp [COMMAND]\n.br\n.B ", program, "\n\\-\\-version\n.SH DESCRIPTION\n",
             "PTX is the assembly language of NVIDIA's GPUs. This program reads it from files; it needs no GPU and no compiler.\n"
             ".SH COMMANDS\n");
  for (const Command& command : commands()) {
    std::string description(command.description);
    constexpr std::string_view word = "PROGRAM";
    for (std::size_t at = 0; (at = description.find(word, at)) != std::string::npos;)
      description.replace(at, word.size(), caller.program);
    out += cat(".SS ", roff(usage_of(command)), '\n', roff(description), '\n');
    for (const Option& option : command.options)
      out += cat(".TP\n.B ", roff(option.name), option.value.empty() ? "" : " ", roff(option.value), '\n', roff(option.summary),
                 '\n');
  }
  out += cat(".PP\n", roff(common_help), "\n.SH EXIT STATUS\n");
  for (const Status& status : statuses()) out += cat(".TP\n.B ", status.number, '\n', roff(status.meaning), '\n');
  return deliver(cat(out, ".SH SEE ALSO\n.BR ptxas (1),\nthe manual \\(lqParallel Thread Execution ISA\\(rq of NVIDIA\n"),
                 arguments, caller);
}

}  // namespace ptx::tool
