// The list of the commands, and their help.
#include "ptx/tool/commands.hpp"

#include <utility>

#include "ptx/tool/files.hpp"
#include "ptx/tool/style.hpp"

namespace ptx::tool {
namespace {

constexpr Option check_options[] = {
    {"--target", "TARGET", "check for this target, such as sm_90a, in place of the module's own"},
    {"--format", "FORMAT",
     "how findings are told: text for people; json, one object; sarif, which code hosts and editors show beside the lines; "
     "github, the commands that GitHub's workflows read",
     "text json sarif github"},
    {"--json", "", "the same as --format json"},
    {"--max", "N", "findings of one file that are shown: 50 without this, and 0 shows all"},
};
constexpr Option output_options[] = {
    {"-o", "FILE", "write there in place of the standard output; the file is replaced whole or stays as it is"},
};

constexpr Option run_options[] = {
    {"--entry", "NAME", "the kernel; needless where the file has one"},
    {"--grid", "X[,Y[,Z]]", "blocks: 1 without this"},
    {"--block", "X[,Y[,Z]]", "threads of a block: what the kernel's .reqntid says, or 1"},
    {"--cluster", "X[,Y,Z]", "blocks of a cluster: what the kernel's .reqnctapercluster says, or 1"},
    {"--smem", "BYTES", "dynamic shared memory"},
    {"--arg", "[NAME:]WORD", "what a parameter gets, in their order or by name; see above"},
    {"--save", "NAME=FILE",
     "write that parameter's buffer there after the run: a NumPy file when its name ends in .npy, else bytes"},
    {"--print", "N", "elements of a buffer that are shown: 8 without this, and 0 shows all"},
    {"--workers", "N", "threads of the host: all without this; results are the same for any number"},
    {"--limit", "N", "end a run that takes more warp instructions with an error: no limit without this"},
    {"--numerics", "WORD",
     "how tensor cores add up: exact, as the target does, without this; or fast, by f32 fused multiply-adds", "exact fast"},
    {"--approx", "WORD",
     "what approximations give: the bits of an H200 without this, the function's value rounded, or another value within the "
     "manual's bound for each --seed",
     "hardware rounded perturb"},
    {"--schedule", "WORD",
     "the order of what may happen in any: eager without this, threads in turn and asynchronous copies as they begin; lazy, "
     "copies "
     "as late as a wait allows; random, threads in any order and copies some time in between",
     "eager lazy random"},
    {"--completion", "WORD",
     "when asynchronous copies are performed: as they begin without this, as late as a wait allows, or some time in between",
     "eager lazy random"},
    {"--checks", "WORD",
     "how closely the run is looked at: off, cheap without this (and values that nobody wrote), or full: and accesses that "
     "nothing orders, races and missing fences of the asynchronous proxy, by one thread of the host. The exit code is 1 where an "
     "error is found",
     "off cheap full"},
    {"--suppress", "RULE",
     "do not tell of findings that break this rule, or that at a place: P-02, P-01@gemm.ptx:133, R-rw@KERNEL, *@FILE; what fits "
     "nothing is "
     "named"},
    {"--suppressions", "FILE", "a file of such words, one a line; # begins a comment"},
    {"--max", "N", "different findings that are kept: 100 without this, and 0 keeps all"},
    {"--stop", "", "end the run at the first finding that is an error"},
    {"--seeds", "N",
     "run 2 + N times, with --schedule eager, lazy, and random with seeds from 0, each on fresh buffers; what all found is "
     "told "
     "once, and whether the buffers differ. With --checks full unless another level is given"},
    {"--systematic", "",
     "run in every order in which threads and asynchronous copies can go on that makes a difference to what they can see of "
     "each other, each on fresh buffers, and say whether that were all: for kernels of a few threads that meet a few times. With "
     "--checks full unless another level is given"},
    {"--runs", "N", "so many runs of --systematic at most: 10000 without this, and 0 ends when there are no more"},
    {"--seed", "N", "of --approx perturb, --schedule random and --completion random: 0 without this"},
    {"--format", "FORMAT",
     "how results are told: text for people; json, one object; or sarif, the findings as code hosts and editors show them",
     "text json sarif"},
    {"--trace", "FILE",
     "write a timeline there, for ui.perfetto.dev: each warp and each engine of each block, copies, products, waits, and what "
     "ends them. Order is meant, not speed; the run has one thread of the host"},
    {"--profile", "",
     "show the lines that cost most in the timeline's model: executions, lanes, bank conflicts, sectors of global memory"},
};
constexpr Option debug_options[] = {
    {"--entry", "NAME", "the kernel; needless where the file has one"},
    {"--grid", "X[,Y[,Z]]", "blocks: 1 without this"},
    {"--block", "X[,Y[,Z]]", "threads of a block: what the kernel's .reqntid says, or 1"},
    {"--cluster", "X[,Y,Z]", "blocks of a cluster: what the kernel's .reqnctapercluster says, or 1"},
    {"--smem", "BYTES", "dynamic shared memory"},
    {"--arg", "[NAME:]WORD", "what a parameter gets, as `run` takes it"},
    {"--numerics", "WORD", "how tensor cores add up: exact without this, or fast", "exact fast"},
    {"--schedule", "WORD", "in which order threads run, and when asynchronous copies are performed: eager without this",
     "eager lazy random"},
    {"--completion", "WORD", "when asynchronous copies are performed, whatever --schedule says", "eager lazy random"},
    {"--checks", "WORD",
     "how closely the run is looked at: cheap without this; full: what nothing orders stops the run where it is found",
     "off cheap full"},
    {"--seed", "N", "of --schedule random and --completion random: 0 without this"},
    {"--commands", "FILE", "take the commands from there, and show them, in place of the standard input"},
};
constexpr Option explain_options[] = {
    {"--kernel", "", "print the kernel that breaks the rule, and nothing else"},
    {"--mended", "", "print the mended kernel, and nothing else"},
};

constexpr Command list[] = {
    {"check", "FILE|FOLDER…", "say everything that is wrong with the PTX",
     "Reads every file and says what is wrong with it, each finding with its place, the line, and what would fit. Of a folder, "
     "every file below it whose name ends in .ptx is read.",
     check_options, Takes::files, check},
    {"print", "FILE", "the module as canonical text",
     "Prints the module in one spelling: spaces, literals and declarations as the library writes them. Text that is no PTX is "
     "not "
     "printed.",
     output_options, Takes::files, print},
    {"run", "FILE", "run a kernel on the CPU",
     "Runs a kernel in the executor, which needs no GPU, and shows the buffers that it changed. What goes wrong (an access "
     "outside "
     "a buffer, a value that nobody wrote, a deadlock) is said with the line, the block and the thread.\n\n"
     "--arg 1024, --arg -1.5, --arg 0x10 is a number of the parameter's type; --arg 'f32[4096]' the address of 4096 floats that "
     "nobody has written, an output; --arg 'f32[4096]=0' of zeros, =iota of 0, 1, 2 …, =random or =random:SEED, =1,2,3 of these, "
     "and 'f32[]=@FILE' of a file's, .npy or bytes; --arg @FILE is a parameter's own bytes.",
     run_options, Takes::files, run_kernel},
    {"debug", "FILE", "step a kernel on the CPU",
     "Runs a kernel in the executor as far as commands from the standard input say: break 12, run, step, back, warps, registers, "
     "shared, barriers; `help` there lists them. Ctrl-C stops what runs.",
     debug_options, Takes::files, debug},
    {"explain", "[RULE]", "what a rule of the executor is about",
     "Says what goes wrong where a run breaks the rule, the smallest kernel that shows it and its mend, and the manual's "
     "section; "
     "alone it lists all rules. A finding names its rule.",
     explain_options, Takes::rule, explain},
    {"isa",
     "[OPCODE[.MODIFIER…]]",
     "an instruction's forms, modifiers, operands and availability",
     "Shows what the instruction table knows of an opcode, narrowed by the modifiers given; alone it lists all opcodes.",
     {},
     Takes::opcode,
     isa},
    {"completion", "bash|zsh|fish", "a script that completes command lines in this shell",
     "Prints the script. For bash: eval \"$(PROGRAM completion bash)\" in ~/.bashrc; for zsh, the same in ~/.zshrc behind "
     "compinit; for fish: PROGRAM completion fish | source in config.fish. An installed package has put it in place already.",
     output_options, Takes::shell, completion},
    {"man", "", "the manual page", "Prints the manual page in man(7): PROGRAM man | man -l - shows it.", output_options,
     Takes::nothing, manual},
};

constexpr Status status_list[] = {
    {0, "all is well; there may be warnings"},
    {1, "the PTX has errors, or its run ended with one"},
    {2, "the program was called wrongly, or something cannot be read or written"},
};

}  // namespace

const std::string_view common_help =
    "FILE `-` is the standard input. `@FILE` stands for the words in that file, which are separated by spaces or lines, and may "
    "be "
    "quoted. Behind `--` every word is a file. Colours go to a terminal alone; NO_COLOR in the environment keeps them away.";

std::span<const Command> commands() { return list; }
std::span<const Status> statuses() { return status_list; }

std::string usage_of(const Command& command) {
  std::string out = cat(command.name, command.operands.empty() ? "" : " ", command.operands);
  for (const Option& option : command.options) out += cat(" [", option.name, option.value.empty() ? "" : " ", option.value, ']');
  return out;
}

namespace {
std::string named(std::string_view text, const Caller& caller) {
  std::string out(text);
  constexpr std::string_view word = "PROGRAM";
  for (std::size_t at = 0; (at = out.find(word, at)) != std::string::npos;) out.replace(at, word.size(), caller.program);
  return out;
}

std::string closing() {
  std::string out = cat(wrap(common_help, columns, ""), "\n\nexit status:\n");
  for (const Status& status : status_list) out += cat("  ", status.number, "  ", status.meaning, '\n');
  return out;
}
}  // namespace

std::string help(const Caller& caller) {
  std::string out = cat("usage: ", caller.program, " COMMAND …\n\n");
  for (const Command& command : list) out += cat("  ", caller.program, ' ', usage_of(command), "\n      ", command.summary, '\n');
  return cat(out, "  ", caller.program, " help [COMMAND] | --version\n\n", closing());
}

std::string help(const Command& command, const Caller& caller) {
  std::string out = cat("usage: ", caller.program, ' ', usage_of(command), "\n\n",
                        wrap(named(command.description, caller), columns, ""), "\n\n");
  if (!command.options.empty()) {
    constexpr std::size_t width_of_names = 21;
    out += "options:\n";
    for (const Option& option : command.options) {
      const std::string name = cat(option.name, option.value.empty() ? "" : " ", option.value);
      out += cat("  ", name, std::string(width_of_names - name.size(), ' '),
                 wrap(option.summary, columns - width_of_names - 2, std::string(width_of_names + 2, ' ')), '\n');
    }
    out += '\n';
  }
  return out + closing();
}

Outcome deliver(std::string text, const Arguments& arguments, const Caller& caller) {
  if (arguments.output.empty()) return {.status = 0, .out = std::move(text), .err = {}};
  const std::string failure = write_file(arguments.output, text);
  return failure.empty() ? Outcome{} : refuse(caller, failure);
}

Outcome refuse(const Caller& caller, std::string_view message, std::string_view hint) {
  const Style style(caller.colour_of_errors);
  Outcome outcome{.status = 2, .out = {}, .err = cat(caller.program, ": ", style(Colour::red, "error"), ": ", message, '\n')};
  if (!hint.empty()) outcome.err += cat("  = hint: ", hint, '\n');
  return outcome;
}

}  // namespace ptx::tool
