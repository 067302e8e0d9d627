// debug: a kernel of a PTX file, stepped in the executor by commands from the standard input.
#include <csignal>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/tool/debug_show.hpp"
#include "ptx/tool/files.hpp"
#include "ptx/tool/kernel_arguments.hpp"
#include "ptx/tool/kernel_run.hpp"
#include "ptx/tool/style.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {
namespace {

// While it lives, Ctrl-C does not end the program: it stops what runs.
class Interrupts {
 public:
  Interrupts() {
    pressed_ = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { pressed_ = 1; };
    sigemptyset(&action.sa_mask);
    kept_ = sigaction(SIGINT, &action, &before_) == 0;
  }
  ~Interrupts() {
    if (kept_) sigaction(SIGINT, &before_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  /// Whether it was pressed since the last question.
  static bool take() {
    const bool was = pressed_ != 0;
    pressed_ = 0;
    return was;
  }

 private:
  static volatile std::sig_atomic_t pressed_;
  struct sigaction before_{};
  bool kept_ = false;
};
volatile std::sig_atomic_t Interrupts::pressed_ = 0;

Words words_of(std::string_view line) {
  Words words;
  std::string word;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r')
      word += c;
    else if (!word.empty())
      words.push_back(std::exchange(word, {}));
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::optional<std::array<std::uint32_t, 3>> block_of(std::string_view text) {
  std::array<std::uint32_t, 3> block{};
  for (std::size_t i = 0; i < 3 && !text.empty(); ++i) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto value = number_of(text.substr(0, end));
    if (!value || *value > 0xFFFFFFFFu) return std::nullopt;
    block[i] = static_cast<std::uint32_t>(*value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return text.empty() ? std::optional(block) : std::nullopt;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}
std::set<std::uint32_t> lines_that_run(const ir::Module& module) {
  std::set<std::uint32_t> lines;
  for (const ir::Function& function : module.functions)
    for (const ir::Inst& item : function.body)
      if (item.kind == ir::ItemKind::inst) lines.insert(module.where(item).line);
  return lines;
}

/// The prompt: what a person types, and what is answered.
class Prompt {
 public:
  /// `echoes`: commands are shown as if they had been typed.
  Prompt(vgpu::Session& session, const Expected<vgpu::Report>& report, const LoadedKernel& kernel, const Caller& caller,
         std::istream& in, bool echoes, std::vector<std::string> buffers, Outcome& outcome)
      : session_(session),
        report_(report),
        source_(kernel.source),
        lines_(lines_of(kernel.source)),
        runs_(lines_that_run(kernel.module())),
        caller_(caller),
        in_(in),
        echoes_(echoes),
        buffers_(std::move(buffers)),
        outcome_(outcome) {}

  void talk() {
    show(session_.go_to(0));
    std::string line;
    for (;;) {
      say(style()(Colour::bold, "(ptx) "));
      if (!std::getline(in_, line)) {
        if (!Interrupts::take()) break;
        in_.clear();  // Ctrl-C at the prompt: nothing runs
        say("\n`quit` leaves\n");
        continue;
      }
      if (echoes_) say(line + '\n');
      Words words = words_of(line);
      if (words.empty()) words = last_;
      if (words.empty()) continue;
      last_ = words;
      if (words.front() == "quit" || words.front() == "q") return;
      answer(words);
    }
    say("\n");
  }

 private:
  struct Command {
    std::string_view name, brief, operands, summary;
    void (Prompt::*run)(const Words&);
  };
  static std::span<const Command> commands();

  [[nodiscard]] Style style() const { return Style(caller_.colour); }
  void say(std::string_view text) {
    if (caller_.say)
      caller_.say(text);
    else
      outcome_.out += text;
  }
  void complain(std::string_view text) { say(cat(style()(Colour::red, "error:"), ' ', text, '\n')); }

  void answer(const Words& words) {
    for (const Command& command : commands())
      if (words.front() == command.name || words.front() == command.brief) return (this->*command.run)(words);
    std::vector<std::string> names;
    for (const Command& command : commands()) names.emplace_back(command.name);
    const std::string near = nearest(words.front(), names);
    complain(cat("`", words.front(), "` is no command here; ",
                 near.empty() ? std::string("`help` lists them") : cat("did you mean `", near, "`?")));
  }

  void show(const vgpu::Stop& stop) {
    using Why = vgpu::Stop::Why;
    if (stop.why == Why::ended) {
      if (report_)
        say(cat("the run has ended: ", plural(report_->ctas, "block"), ", ",
                plural(report_->warp_instructions, "warp instruction"), '\n'));
      else
        say(cat(render(report_.error(), source_, caller_.colour), '\n'));
      return;
    }
    if (stop.diagnostic) say(cat(render(*stop.diagnostic, source_, caller_.colour), '\n'));
    if (stop.why == Why::breakpoint) say(cat("breakpoint ", stop.breakpoint, '\n'));
    if (stop.why == Why::watch) say(cat("watch ", stop.breakpoint, ": ", stop.changed, ", by\n"));
    if (stop.why == Why::interrupted) say("stopped\n");
    say(cat(style()(Colour::blue, cat("block ", triple(stop.block), " warp ", stop.warp)), ", ", lanes_of(stop.lanes),
            ", instruction ", stop.position, place(stop.where), '\n'));
    if (!stop.instruction.empty() && stop.why != Why::fault) say(cat("  ", spelled(stop.instruction, stop.ptx_line), '\n'));
  }

  std::string place(const SourceLocation& where) { return where.known() ? cat(", ", to_string(where)) : std::string(); }
  // A count behind a command; nothing: a complaint was made.
  std::optional<std::uint64_t> count(const Words& words) {
    if (words.size() < 2) return 1;
    const auto value = number_of(words[1]);
    if (!value || *value == 0) {
      complain(cat("`", words[0], "` takes a number, 1 at least, `", words[1], "` was given"));
      return std::nullopt;
    }
    return value;
  }

  void help(const Words&) {
    for (const Command& command : commands())
      say(cat("  ", command.name, command.brief.empty() ? "" : ", ", command.brief, command.operands.empty() ? "" : " ",
              command.operands, "\n      ", command.summary, '\n'));
    say("  quit, q\n      leave\nAn empty line does what the last one did.\n");
  }
  void run(const Words&) { show(session_.run()); }
  void step(const Words& words) {
    if (const auto n = count(words)) show(session_.step(*n));
  }
  void step_block(const Words& words) {
    if (const auto n = count(words))
      for (std::uint64_t i = 0; i < *n; ++i)
        if (const vgpu::Stop stop = session_.step_block(); i + 1 == *n || stop.why != vgpu::Stop::Why::step) return show(stop);
  }
  void back(const Words& words) {
    if (words.size() > 1 && words[1] == "event") return show(session_.back_to_event());
    if (const auto n = count(words)) show(session_.back(*n));
  }
  void restart(const Words&) { show(session_.restart()); }
  void go_to(const Words& words) {
    const auto position = words.size() > 1 ? number_of(words[1]) : std::nullopt;
    if (!position) return complain("`goto` takes the number of an instruction, as stops tell it");
    show(session_.go_to(*position));
  }
  void where(const Words&) { show(session_.where()); }
  // The text around a line: of the stop, behind what was listed last, or of a number.
  void list(const Words& words) {
    constexpr std::size_t around = 5;
    const std::size_t at = session_.where().ptx_line;
    if (words.size() > 1) {
      const auto line = number_of(words[1]);
      if (!line || *line == 0 || *line > lines_.size())
        return complain(cat("`list` takes a line of the file, 1 to ", lines_.size(), "; `", words[1], "` was given"));
      listed_ = *line > around ? *line - around : 1;
    } else if (listed_from_ != session_.where().position || listed_ == 0) {
      listed_ = at > around ? at - around : 1;
    }
    listed_from_ = session_.where().position;
    if (listed_ > lines_.size())
      return complain(cat("the file has ", lines_.size(), " lines, which were shown; `list 1` begins again"));
    for (std::size_t i = 0; i < 2 * around + 1 && listed_ <= lines_.size(); ++i, ++listed_) {
      const std::string number = std::to_string(listed_);
      say(cat(listed_ == at ? "> " : "  ", std::string(number.size() < 5 ? 5 - number.size() : 0, ' '), number, "  ",
              lines_[listed_ - 1], '\n'));
    }
  }

  void set_break(const Words& words) {
    if (words.size() < 2) {
      for (const auto& [number, point] : session_.breakpoints())
        say(cat(number, ": ", point.file.empty() ? std::string("line ") : cat(point.file, ':'),
                point.line != 0 ? point.line : point.ptx_line, point.block ? cat(" block ", triple(*point.block)) : std::string(),
                point.warp ? cat(" warp ", *point.warp) : std::string(),
                point.condition ? cat(" if ", say_condition(*point.condition)) : std::string(), '\n'));
      for (const auto& [number, watch] : session_.watches())
        say(cat(number, ": watch ", watch.name.empty() ? cat("0x", hex(watch.address)) : cat(watch.name, '+', watch.address),
                ", ", watch.bytes, " bytes\n"));
      if (session_.breakpoints().empty() && session_.watches().empty()) say("no breakpoints; `break 12` sets one at a line\n");
      return;
    }
    if (words[1] == "finding") return break_on_findings(words);
    vgpu::Breakpoint point;
    const std::size_t colon = words[1].rfind(':');
    const auto line = number_of(std::string_view(words[1]).substr(colon == std::string::npos ? 0 : colon + 1));
    if (!line || *line == 0 || *line > 0xFFFFFFFFu)
      return complain(cat("`break` takes a line of the PTX, or FILE:LINE of an author's; `", words[1], "` was given"));
    if (colon == std::string::npos) {
      const auto next = runs_.lower_bound(static_cast<std::uint32_t>(*line));
      if (next == runs_.end())
        return complain(cat("no instruction stands at line ", *line, " or behind it; the last one is at line ",
                            runs_.empty() ? 0 : *runs_.rbegin()));
      point.ptx_line = *next;
    } else {
      point.file = words[1].substr(0, colon), point.line = static_cast<std::uint32_t>(*line);
    }
    const std::string moved = point.ptx_line != 0 && point.ptx_line != *line
                                  ? cat(", at line ", point.ptx_line, ": no instruction stands at line ", *line)
                                  : std::string();
    for (std::size_t i = 2; i < words.size(); i += 2) {
      if (words[i] == "if") {
        std::string text;
        for (std::size_t k = i + 1; k < words.size(); ++k) text += cat(text.empty() ? "" : " ", words[k]);
        auto condition = vgpu::Condition::read(text);
        if (!condition) return complain(condition.error().message);
        point.condition = *std::move(condition);
        break;
      }
      const std::string value = i + 1 < words.size() ? words[i + 1] : std::string();
      if (words[i] == "block" && block_of(value) && !value.empty())
        point.block = block_of(value);
      else if (words[i] == "warp" && number_of(value))
        point.warp = static_cast<std::uint32_t>(*number_of(value));
      else
        return complain(cat("behind the line `break` takes `block X,Y,Z`, `warp N` and `if REGISTER == VALUE`; `", words[i], ' ',
                            value, "` was given"));
    }
    say(cat("breakpoint ", session_.break_at(std::move(point)), moved, '\n'));
  }
  void break_on_findings(const Words& words) {
    const std::string_view word = words.size() > 2 ? std::string_view(words[2]) : "on";
    if (word == "on" || word == "off") return session_.break_on_findings(word == "on");
    const auto rule = vgpu::rule_from_id(word);
    if (!rule) return complain(cat("`break finding` takes a rule, `on` or `off`; `", word, "` was given"));
    session_.break_on_findings(true, std::string(vgpu::id(*rule)));
  }
  // "tile+0x10 8 block 1,0,0": of shared memory a variable or an address, else a parameter's buffer.
  void watch(const Words& words) {
    if (words.size() < 2)
      return complain("`watch` takes a variable of shared memory, a buffer, or a shared address, with `+N` bytes behind it");
    vgpu::Watch watch{.block = session_.where().block};
    const std::size_t plus = words[1].find('+');
    watch.name = words[1].substr(0, plus);
    const auto offset =
        plus == std::string::npos ? std::optional(std::uint64_t{0}) : number_of(std::string_view(words[1]).substr(plus + 1));
    if (!offset) return complain(cat("behind `+` `watch` takes a number of bytes; `", words[1], "` was given"));
    watch.address = *offset;
    const auto variables = session_.shared_variables();
    watch.is_shared =
        std::any_of(variables.begin(), variables.end(), [&](const vgpu::SharedView& v) { return v.name == watch.name; });
    if (const auto address = number_of(watch.name))
      watch.is_shared = true, watch.address += *address, watch.name.clear();
    else if (!watch.is_shared && std::find(buffers_.begin(), buffers_.end(), watch.name) == buffers_.end())
      return complain(cat("`", watch.name, "` is no variable of the block's shared memory, and no parameter with a buffer"));
    std::size_t next = 2;
    if (next < words.size() && number_of(words[next]) && *number_of(words[next]) != 0) watch.bytes = *number_of(words[next++]);
    if (next + 1 < words.size() && words[next] == "block" && block_of(words[next + 1]))
      watch.block = *block_of(words[next + 1]), next += 2;
    if (next != words.size())
      return complain(cat("behind the place `watch` takes a number of bytes and `block X,Y,Z`; `", words[next], "` was given"));
    say(cat("watch ", session_.watch(std::move(watch)), '\n'));
  }
  void remove(const Words& words) {
    const auto number = words.size() > 1 ? number_of(words[1]) : std::nullopt;
    if (!number || !session_.remove_breakpoint(static_cast<std::size_t>(*number)))
      complain("`delete` takes the number of a breakpoint; `break` lists them");
  }

  void focus(const Words& words) {
    std::array<std::uint32_t, 3> block = session_.where().block;
    std::optional<std::uint64_t> warp;
    if (words.size() == 2) warp = number_of(words[1]);
    if (words.size() == 3 && block_of(words[1])) block = *block_of(words[1]), warp = number_of(words[2]);
    if (!warp) return complain("`focus` takes a warp, or a block and a warp: `focus 2`, `focus 1,0,0 2`");
    if (!session_.focus(block, static_cast<std::uint32_t>(*warp)))
      complain(cat("block ", triple(block), " is not running, or has no warp ", *warp));
  }

  // What the run's state looks like.
  void warps(const Words&) { tell(shown_warps(session_)); }
  void registers(const Words& words) { tell(shown_registers(session_, words)); }
  void shared(const Words& words) { tell(shown_shared(session_, words)); }
  void barriers(const Words&) { say(shown_barriers(session_)); }
  void tell(const Expected<std::string>& text) {
    if (text)
      say(*text);
    else
      complain(text.error().message);
  }

  vgpu::Session& session_;
  const Expected<vgpu::Report>& report_;
  std::string_view source_;
  std::vector<std::string_view> lines_;  // of the source
  std::set<std::uint32_t> runs_;         // lines at which instructions stand
  std::size_t listed_ = 0;               // the line that `list` shows next
  std::uint64_t listed_from_ = 0;        // where the run stood then
  const Caller& caller_;
  std::istream& in_;
  bool echoes_;
  std::vector<std::string> buffers_;  // their names
  Outcome& outcome_;
  Words last_;
};

std::span<const Prompt::Command> Prompt::commands() {
  static constexpr Command all[] = {
      {"break", "b", "[LINE|FILE:LINE [block X,Y,Z] [warp N] [if REGISTER OPERATOR VALUE]]",
       "stop where a line of the PTX, or of the author's file, is about to run, where the register has that value in a lane that "
       "runs it; alone: list breakpoints. `break finding RULE|on|off`: which findings of --checks full stop the run",
       &Prompt::set_break},
      {"watch", "", "NAME[+N]|ADDRESS [BYTES] [block X,Y,Z]",
       "stop behind what changes memory: of a variable or an address of the block's shared memory, or of a parameter's buffer",
       &Prompt::watch},
      {"delete", "d", "N", "remove a breakpoint or a watch", &Prompt::remove},
      {"run", "r", "", "go on to a breakpoint, a finding, a fault or the end", &Prompt::run},
      {"continue", "c", "", "the same", &Prompt::run},
      {"step", "s", "[N]", "the focused warp runs N instructions, 1 without this; others run as the schedule has it",
       &Prompt::step},
      {"block", "n", "[N]", "any warp of the focused block runs one; the focus goes to it", &Prompt::step_block},
      {"back", "", "[N|event]",
       "to before the focused warp's last instruction, or to before the last that completed a barrier, a phase or a copy: the "
       "run is repeated from its start",
       &Prompt::back},
      {"restart", "", "", "to before the first instruction", &Prompt::restart},
      {"goto", "", "N", "to before instruction N of the run", &Prompt::go_to},
      {"where", "w", "", "the stop again", &Prompt::where},
      {"list", "l", "[LINE]", "the file around the stop, or around a line; again: what follows", &Prompt::list},
      {"warps", "", "", "every warp: what it runs, or waits for", &Prompt::warps},
      {"focus", "f", "[X,Y,Z] N", "look at a warp, of another block", &Prompt::focus},
      {"registers", "", "[NAME…]", "of the focused warp, by lane; `?` is what nothing has written", &Prompt::registers},
      {"print", "p", "NAME…", "the same", &Prompt::registers},
      {"shared", "", "[NAME[+N] [TYPE[ROWS,COLUMNS] [SWIZZLE]]]",
       "the block's shared memory; alone: its variables. With a swizzle of TMA the tile as its author sees it: shared a "
       "bf16[8,64] 128B",
       &Prompt::shared},
      {"barriers", "", "", "mbarriers: phase, what it lacks, who waits; and who waits at barriers, or for lanes of its warp",
       &Prompt::barriers},
      {"help", "h", "", "this list", &Prompt::help},
  };
  return all;
}

}  // namespace

Outcome debug(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.size() != 1 || arguments.files.front() == "-")
    return refuse(caller, "`debug` takes one file", "the standard input is for the commands");
  auto prepared = prepare_run(arguments, caller);
  if (!prepared.run) return std::move(prepared.failure);
  const KernelRun& of = *prepared.run;
  LoadedKernel& kernel = prepared.run->kernel;
  std::vector<std::vector<std::byte>> before;
  for (Buffer& buffer : kernel.given.buffers) {
    const auto bytes = buffer.array.bytes();
    before.emplace_back(bytes.begin(), bytes.end());
  }
  Expected<vgpu::Report> report = vgpu::Report{};
  const auto run = [&](vgpu::Observer& observer) {
    for (std::size_t i = 0; i < before.size(); ++i)
      std::memcpy(kernel.given.buffers[i].array.bytes().data(), before[i].data(), before[i].size());
    kernel.variables->reset();
    vgpu::Options options = of.options;
    options.observer = &observer;
    report = kernel.program->run(of.config, kernel.given.block, kernel.given.regions(), options);
  };
  Outcome outcome;
  std::istringstream script;
  const std::string file(arguments.last("--commands"));
  if (!file.empty()) {
    Read read = read_file(file, caller);
    if (!read.failure.empty()) return refuse(caller, read.failure, read.hint);
    script.str(std::move(read.text));
  }
  const Interrupts interrupts;
  vgpu::Session session(run, [] { return !Interrupts::take(); });
  std::istream& in = file.empty() ? *caller.in : script;
  std::vector<std::string> buffers;
  for (const Buffer& buffer : kernel.given.buffers) buffers.push_back(buffer.name);
  Prompt(session, report, kernel, caller, in, !file.empty(), std::move(buffers), outcome).talk();
  return outcome;
}

}  // namespace ptx::tool
