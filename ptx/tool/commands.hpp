// The commands, one file each, and what is known of them all: help, completion, the man page and the reading of a command line
// come from one list.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/tool/tool.hpp"

namespace ptx::tool {

/// A command line, read: options by name, the rest in order.
struct Arguments {
  std::vector<std::string> files;                                ///< or whatever a command takes that is no option
  std::string target;                                            ///< --target
  std::string output;                                            ///< -o
  std::string format;                                            ///< --format; --json is `json`
  std::optional<std::size_t> most = std::nullopt;                ///< --max: how many findings, 0: all
  std::vector<std::pair<std::string_view, std::string>> others;  ///< options of one command: name, value ("yes" of a flag)
  [[nodiscard]] std::size_t most_or(std::size_t otherwise) const { return most.value_or(otherwise); }
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  /// The last one's value; "" without one.
  [[nodiscard]] std::string_view last(std::string_view name) const;
};

Outcome check(const Arguments& arguments, const Caller& caller);
Outcome print(const Arguments& arguments, const Caller& caller);
Outcome run_kernel(const Arguments& arguments, const Caller& caller);
Outcome debug(const Arguments& arguments, const Caller& caller);
Outcome explain(const Arguments& arguments, const Caller& caller);
Outcome isa(const Arguments& arguments, const Caller& caller);
Outcome completion(const Arguments& arguments, const Caller& caller);
Outcome manual(const Arguments& arguments, const Caller& caller);

struct Option {
  std::string_view name, value;  ///< "--target", "TARGET"; no value: ""
  std::string_view summary;
  std::string_view words = {};  ///< what its value may be, between spaces; "": anything
};

/// What a command's operands are, for completion.
enum class Takes : std::uint8_t { files, opcode, shell, rule, nothing };

struct Command {
  std::string_view name, operands;  ///< "check", "FILE|FOLDER…"
  std::string_view summary;         ///< half a sentence
  std::string_view description;     ///< paragraphs
  std::span<const Option> options;
  Takes takes;
  Outcome (*run)(const Arguments&, const Caller&);
};
/// In the order of the help.
std::span<const Command> commands();
/// What every command line may hold, as the last paragraph of any help.
extern const std::string_view common_help;
/// What the exit status says, line by line.
struct Status {
  int number;
  std::string_view meaning;
};
std::span<const Status> statuses();

/// "check FILE|FOLDER… [--target TARGET] [--json] [--max N]"
std::string usage_of(const Command& command);
/// The help of the program, and of one command.
std::string help(const Caller& caller);
std::string help(const Command& command, const Caller& caller);

/// What a command made, to `-o` or to the standard output.
Outcome deliver(std::string text, const Arguments& arguments, const Caller& caller);
/// An outcome of status 2 that says `error: …` on the error stream.
Outcome refuse(const Caller& caller, std::string_view message, std::string_view hint = "");

}  // namespace ptx::tool
