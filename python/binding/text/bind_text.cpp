// Text: nodes and tokens for `pyptx.parser`, and the command line of ptx/tool.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "ptx/text/text.hpp"
#include "ptx/tool/tool.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/bindings.hpp"
#include "python/binding/text/nodes.hpp"
#include "python/binding/text/tokens.hpp"

namespace nb = nanobind;

namespace ptx::python {
namespace {

// The core counts columns in bytes, Python in characters.
std::size_t characters(std::string_view bytes) {
  return static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

nb::object parse_nodes(std::string source, nb::handle classes) {
  const text::Parsed parsed = text::parse(std::move(source));
  if (!parsed.broken()) return make_nodes(parsed, classes);
  const auto is_syntax = [](const Diagnostic& d) { return d.kind == Kind::syntax; };
  const auto first = std::find_if(parsed.findings.begin(), parsed.findings.end(), is_syntax);
  if (first == parsed.findings.end()) return nb::make_tuple("the text is not PTX", 0, 0);
  const ir::Source& text = *parsed.module.source;
  const std::uint32_t line = first->where.line;
  std::size_t column = first->where.column;
  if (line != 0 && line <= text.line_starts.size() && column != 0)
    column = characters(std::string_view(text.text).substr(text.line_starts[line - 1], column - 1)) + 1;
  return nb::make_tuple(first->message, line, column);
}

nb::list tokens_of(const std::string& source) {
  nb::list all;
  std::size_t line = 1, line_begin = 0, behind = 0;
  for (const Token& token : tokenize(source)) {
    const std::string_view text = std::string_view(source).substr(token.begin, token.end - token.begin);
    const std::size_t column = characters(std::string_view(source).substr(line_begin, token.begin - line_begin)) + 1;
    all.append(nb::make_tuple(nb::str(kind_name(token.kind).data(), kind_name(token.kind).size()),
                              nb::str(text.data(), text.size()), line, column, source.substr(behind, token.begin - behind)));
    behind = token.end;
    line += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (const std::size_t newline = text.rfind('\n'); newline != std::string_view::npos) line_begin = token.begin + newline + 1;
  }
  return all;
}

nb::tuple run_tool(const std::vector<nb::bytes>& words, bool colour, bool colour_of_errors, const std::string& program,
                   nb::object say) {
  std::vector<std::string> arguments;
  for (const nb::bytes& word : words) arguments.emplace_back(word.c_str(), word.size());
  bool interrupted = false;
  const auto goes_on = [&] {
    const nb::gil_scoped_acquire here;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return !interrupted;
  };
  const auto tell = [&](std::string_view text) {
    const nb::gil_scoped_acquire here;
    say(nb::bytes(text.data(), text.size()));
  };
  tool::Outcome outcome = [&] {
    const nb::gil_scoped_release others;
    return tool::run(arguments, {.in = &std::cin,
                                 .colour = colour,
                                 .colour_of_errors = colour_of_errors,
                                 .program = program,
                                 .goes_on = goes_on,
                                 .say = say.is_none() ? std::function<void(std::string_view)>() : tell});
  }();
  if (interrupted) {  // what the command has is said all the same
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
    PyErr_Clear();
    outcome.status = 130;
  }
  return nb::make_tuple(outcome.status, nb::bytes(outcome.out.data(), outcome.out.size()),
                        nb::bytes(outcome.err.data(), outcome.err.size()));
}

}  // namespace

void bind_text(nb::module_& m) {
  function(m, "parse_nodes(source: str, classes: typing.Any) -> tuple[typing.Any, ...]",
           "The text as nodes of `classes`, pyptx.ir.nodes: (version, target, address size, list of directives, header). Or, of "
           "a text that is not PTX, (message, line, column).",
           parse_nodes);
  function(m, "tokenize(source: str) -> list[tuple[str, str, int, int, str]]",
           "Every token: (kind, text, line, column, the space before it).", tokens_of);
  function(m, "print_text(source: str) -> str", "The text as the core prints it.",
           [](std::string source) { return text::print(text::parse(std::move(source)).module); });
  function(
      m,
      "run_tool(arguments: Sequence[bytes], colour: bool = False, colour_of_errors: bool = False, program: str = 'pyptx', "
      "say: typing.Callable[[bytes], object] | None = None) -> tuple[int, bytes, bytes]",
      "Runs a command line of ptx/tool, whose words are bytes as the names of files are: its exit status, 130 when Ctrl-C ended "
      "it, and what it said on each stream. `say` takes what a command says while it is talked with.",
      run_tool);
}

}  // namespace ptx::python
