// What pyptx.spec says of the table: its rows, and what is wrong with an instruction that is given as a node.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/text/opcodes.hpp"
#include "python/binding/authoring/operands.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

// ---- rows -----------------------------------------------------------------------------------------------------------

std::string description_of(const isa::Form& form) { return cat(form.row->doc, ". Manual: ", isa::manual(form)); }

// (operand pattern, slots as (name, words, required), fewest and most operands, description, version, target or None)
nb::tuple form_tuple(const isa::Form& form) {
  nb::list slots;
  for (const isa::FormSlot& slot : form.slots) {
    nb::list words;
    for (const isa::Choice& choice : slot.choices) words.append(cat('.', choice.word));
    slots.append(nb::make_tuple(std::string(slot.name), nb::tuple(words), !slot.optional));
  }
  std::size_t least = 0;
  for (const isa::OperandSpec& operand : form.operands) least += !operand.optional && !operand.conditional;
  const std::string syntax = form.syntax();
  const std::size_t space = syntax.find_first_of(" ");
  std::string pattern = space == std::string::npos ? std::string() : syntax.substr(space);
  pattern.erase(0, std::min(pattern.find_first_not_of(' '), pattern.size()));
  const isa::TargetSet on = form.row->on;
  const nb::object arch = on == 0 ? nb::none() : nb::cast(isa::list_targets(on));
  return nb::make_tuple(pattern, nb::tuple(slots), least, form.operands.size(), description_of(form),
                        nb::make_tuple(int{form.row->since.major}, int{form.row->since.minor}), arch);
}

nb::list forms_of(std::string_view opcode) {
  nb::list all;
  for (const isa::Form& form : isa::forms())
    if (form.opcode == opcode) all.append(form_tuple(form));
  return all;
}

// ---- an instruction as a node -----------------------------------------------------------------------------------------

std::string text_of(nb::handle object, const char* field) { return nb::cast<std::string>(object.attr(field)); }

// Its operands as isa::match sees them. Of a register only the name is known: any type will do.
class Args {
 public:
  void add(nb::handle node, bool piped = false) {
    if (node_class(node) == "PipeOperand") {
      add(node.attr("left"), piped);
      add(node.attr("right"), true);
      return;
    }
    all.push_back(arg_of(node));
    all.back().piped = piped;
  }
  std::vector<isa::Arg> all;

 private:
  isa::Arg arg_of(nb::handle node) {
    const std::string_view name = node_class(node);
    if (name == "RegisterOperand" || name == "LabelOperand") return named(text_of(node, "name"));
    if (name == "ImmediateOperand") return number(text_of(node, "text"));
    if (name == "VectorOperand" || name == "ParenthesizedOperand")
      return list(name == "VectorOperand" ? isa::ArgKind::vector : isa::ArgKind::list, node.attr("elements"));
    if (name == "NegatedOperand") {
      isa::Arg arg = arg_of(node.attr("operand"));
      arg.negated = true;
      return arg;
    }
    if (name == "AddressOperand") return address(node);
    raise(Kind::argument_kind, cat("an operand is ", describe(node), "; what fits is an operand of pyptx.ir"), authors_line());
  }
  isa::Arg named(std::string text) {
    isa::Arg arg;
    arg.shown = texts_.emplace_back(std::move(text));
    if (arg.shown == "_") {
      arg.kind = isa::ArgKind::sink;
    } else if (const auto special = isa::special_from_name(arg.shown)) {
      arg.kind = isa::ArgKind::special;
      arg.type = isa::specials()[*special].type;
    } else if (arg.shown.starts_with('%')) {
      arg.kind = isa::ArgKind::reg;
    } else {
      arg.kind = isa::ArgKind::symbol;
    }
    return arg;
  }
  isa::Arg number(const std::string& text) {
    isa::Arg arg;
    arg.shown = texts_.emplace_back(text);
    arg.kind = isa::ArgKind::text;  // an expression: an integer, whatever it comes to
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const bool single = text.starts_with("0f") || text.starts_with("0F"), wide = text.starts_with("0d") || text.starts_with("0D");
    if (single || wide || (!hexadecimal && text.find_first_of(".eE") != std::string::npos && text.front() != '(')) {
      arg.kind = isa::ArgKind::floating;
      arg.type = single ? Type::f32 : wide ? Type::f64 : Type::none;
      return arg;
    }
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + (hexadecimal ? 2 : 0), end, arg.integer, hexadecimal ? 16 : 10);
    if (read.ec == std::errc() && (read.ptr == end || *read.ptr == 'U')) arg.kind = isa::ArgKind::integer;
    return arg;
  }
  isa::Arg list(isa::ArgKind kind, const nb::object& elements) {
    std::vector<isa::Arg> parts;
    for (const nb::handle element : elements) parts.push_back(arg_of(element));
    return compound(kind, std::move(parts));
  }
  isa::Arg compound(isa::ArgKind kind, std::vector<isa::Arg> parts) {
    isa::Arg arg;
    arg.kind = kind;
    arg.elements = parts_.emplace_back(std::move(parts));
    return arg;
  }
  isa::Arg of_text(std::string text) {
    const bool is_number =
        !text.empty() && (text.front() == '-' || text.front() == '(' || (text.front() >= '0' && text.front() <= '9'));
    return is_number ? number(text) : named(std::move(text));
  }
  isa::Arg address(nb::handle node) {
    const isa::Arg base = of_text(text_of(node, "base"));
    const nb::object offset = node.attr("offset");
    if (offset.is_none()) return compound(isa::ArgKind::address, {base});
    const std::string text = nb::cast<std::string>(offset);
    if (!text.starts_with(',')) return compound(isa::ArgKind::address, {base, of_text(text)});
    // [map, {x, y}], [texture, sampler, {x}]
    std::vector<isa::Arg> parts = {base};
    const std::size_t brace = text.find('{');
    if (brace != std::string::npos && text.find_first_not_of(", ") != brace) parts.push_back(named("sampler"));
    if (const auto coords = coordinates(cat(", ", std::string_view(text).substr(std::min(brace, text.size()))))) {
      std::vector<isa::Arg> elements;
      for (const nb::handle one : *coords) elements.push_back(of_text(nb::cast<std::string>(one)));
      parts.push_back(compound(isa::ArgKind::vector, std::move(elements)));
    }
    return compound(isa::ArgKind::tensor, std::move(parts));
  }

  std::deque<std::string> texts_;
  std::deque<std::vector<isa::Arg>> parts_;
};

// Why none of the forms takes the operands; nothing when one does.
std::optional<Diagnostic> misfit(const std::vector<text::Candidate>& candidates, std::span<const isa::Arg> args) {
  text::Chosen chosen = text::choose(candidates, args, Target::sm_90a);
  if (!chosen.why_not) return std::nullopt;
  Diagnostic d = *std::move(chosen.why_not);
  if (d.kind != Kind::operand_count) return d;
  std::size_t most = 0;
  for (const text::Candidate& c : candidates) {
    const isa::Form& form = isa::form(c.form);
    most = std::max(most, static_cast<std::size_t>(std::count_if(form.operands.begin(), form.operands.end(),
                                                                 [&](const auto& o) { return form.present(o, c.choices); })));
  }
  d.message = cat(args.size() > most ? "Too many operands: " : "Too few operands: ", d.message);
  return d;
}

// (kind, message, notes) of what is wrong with an instruction, or None.
nb::object validate(nb::handle node) {
  std::string path = text_of(node, "opcode");
  for (const nb::handle modifier : node.attr("modifiers")) {
    const std::string word = nb::cast<std::string>(modifier);
    path += word.starts_with('.') ? word : cat('.', word);
  }
  std::optional<Diagnostic> d;
  const text::Opcode opcode(path);
  if (opcode.unknown()) {
    text::Opcode::Why why = opcode.explain();
    d = std::move(why.diagnostic);
    if (d->kind == Kind::unknown_opcode) d->message = cat("Unknown opcode: ", d->message);
    if (d->kind == Kind::missing_modifier) d->message = cat("Missing required modifier: ", d->message);
    if (d->kind == Kind::unknown_modifier) d->message = cat("Unrecognised modifier: ", d->message);
  } else {
    Args args;
    for (const nb::handle operand : node.attr("operands")) args.add(operand);
    d = misfit(opcode.candidates(), args.all);
  }
  if (!d) return nb::none();
  nb::list notes;
  for (const std::string& note : notes_of(*d)) notes.append(note);
  return nb::make_tuple(name(d->kind), d->message, notes);
}

}  // namespace

void bind_spec(nb::module_& m) {
  function(m, "instruction_forms(opcode: str) -> list[tuple[typing.Any, ...]]",
           "The table's rows of that opcode: (operands, slots, fewest operands, most operands, description, version, targets).",
           forms_of);
  function(m, "validate(instruction: typing.Any) -> tuple[str, str, list[str]] | None",
           "What is wrong with an instruction of pyptx.ir: the kind of error, the message, notes; or None.", validate);
}

}  // namespace ptx::python
