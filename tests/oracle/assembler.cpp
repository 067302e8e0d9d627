#include "tests/oracle/assembler.hpp"

#include <chrono>
#include <cstdlib>

#include "ptx/cuda/cuda.hpp"
#include "ptx/cuda/subprocess.hpp"

namespace ptx::oracle {

Expected<Assembler> Assembler::find() {
  Assembler assembler;
  auto program = cuda::find_tool(cuda::Tool::ptxas);
  if (!program) return Unexpected{program.error()};
  assembler.program_ = *std::move(program);
  const auto said = cuda::run_process(assembler.program_, {"--version"});
  if (!said) return Unexpected{said.error()};
  const std::string_view text = said->output;
  if (const std::size_t at = text.find("release "); at != std::string_view::npos)
    assembler.release_ = text.substr(at + 8, text.find(',', at) - at - 8);
  return assembler;
}

Expected<std::map<std::uint32_t, std::string>> Assembler::complaints(std::string_view ptx, std::string_view target, bool whole,
                                                                     bool relocatable) const {
  const auto folder = cuda::TemporaryFolder::make();
  if (!folder) return Unexpected{folder.error()};
  const std::string file = folder->file("oracle.ptx");
  if (auto written = cuda::write_file(file, ptx); !written) return Unexpected{written.error()};
  // For a virtual architecture ptxas parses and checks, and makes no code.
  const std::string arch = whole ? std::string(target) : cat("compute_", target.substr(3));
  // Some mistakes keep ptxas busy until the memory is full: that is no verdict, and counts as a crash, as does its end when it
  // gets no more (4 GiB; what it makes of whole files takes less than 1).
  constexpr auto patience = std::chrono::minutes(2);
  constexpr std::string_view limited = "ulimit -v 4194304 && exec \"$@\"";
  std::vector<std::string> words = {"-c", std::string(limited),        "ptxas", program_, "-arch", arch, "-O0", file,
                                    "-o", folder->file("oracle.cubin")};
  if (relocatable) words.emplace_back("-c");
  const auto begin = std::chrono::steady_clock::now();
  const auto said = cuda::run_process("/bin/sh", words, {.time = patience});
  if (!said && std::chrono::steady_clock::now() - begin >= patience)
    return std::map<std::uint32_t, std::string>{{0, "ptxas was killed by signal 9, for it took two minutes"}};
  if (!said) return Unexpected{said.error()};
  std::map<std::uint32_t, std::string> by_line;
  for (const cuda::PtxasMessage& message : cuda::parse_ptxas_log(said->output).messages)
    if (message.severity == Severity::error && message.text != "Ptx assembly aborted due to errors")
      by_line.try_emplace(message.line, message.text);
  // ptxas names the lines that make a program one of 32 bits in warnings, and refuses it without a line.
  if (said->output.find("32-Bit ABI") != std::string::npos) {
    constexpr std::string_view warning = "Program uses 32-bit address on line '";
    for (std::size_t at = said->output.find(warning); at != std::string::npos; at = said->output.find(warning, at)) {
      at += warning.size();
      by_line.try_emplace(static_cast<std::uint32_t>(std::strtoul(said->output.c_str() + at, nullptr, 10)), "32-bit address");
    }
    if (by_line.size() > 1) by_line.erase(0);
  }
  if (said->signal != 0) by_line = {{0, cat("ptxas ", cuda::describe_end(*said))}};
  if (said->ok() != by_line.empty())
    return Unexpected{{.kind = Kind::tool_failed, .message = cat("ptxas ", cuda::describe_end(*said), ": ", said->output)}};
  return by_line;
}

}  // namespace ptx::oracle
