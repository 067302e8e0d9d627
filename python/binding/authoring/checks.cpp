#include "python/binding/authoring/checks.hpp"
#include "python/binding/base/define.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "ptx/author/raw.hpp"
#include "ptx/isa/isa.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {
namespace {

using write::Value;

std::atomic<bool> strict_by_default{true};
thread_local std::optional<bool> strict_here;  // of this thread, in `with pyptx.spec.strict(…)`

void read_environment() {
  const char* text = std::getenv("PYPTX_CHECK");
  const std::string_view check = text == nullptr || *text == '\0' ? "error" : text;
  if (check != "error" && check != "off")
    throw std::invalid_argument(cat("the environment variable PYPTX_CHECK is `", check, "`; what fits is `error` or `off`"));
  strict_by_default = check == "error";
}

// The operands of an instruction that no row of the table describes: spelled by what they are alone.
class Speller {
 public:
  Speller(Trace& trace, bool wide) : trace_(trace), wide_(wide) {}

  void list(std::span<const Value> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) text += values[i].piped ? "|" : ", ";
      add(values[i]);
    }
  }
  void add(const Value& value) {
    if (value.negated) text += '!';
    switch (value.kind) {
      case Value::Kind::reg:
        text += trace_.builder().name(value.reg);
        break;
      case Value::Kind::special:
        text += isa::specials()[value.special].name;
        break;
      case Value::Kind::integer:
        text += value.text.empty() ? cat(value.integer) : std::string(value.text);
        break;
      case Value::Kind::floating:
        floating(value.floating);
        break;
      case Value::Kind::symbol:
      case Value::Kind::label:
        text += value.text;
        break;
      case Value::Kind::vector:
        enclosed('{', value.parts, '}');
        break;
      case Value::Kind::list:
        enclosed('(', value.parts, ')');
        break;
      case Value::Kind::tensor:
        enclosed('[', value.parts, ']');
        break;
      case Value::Kind::address: {
        const bool zero = value.parts.size() == 2 && value.parts[1].kind == Value::Kind::integer && value.parts[1].integer == 0;
        text += '[';
        add(value.parts[0]);
        if (value.parts.size() == 2 && !zero) {
          text += '+';
          add(value.parts[1]);
        }
        text += ']';
        break;
      }
      case Value::Kind::sink:
        text += '_';
        break;
    }
  }

  std::string text;

 private:
  void enclosed(char open, std::span<const Value> parts, char close) {
    text += open;
    list(parts);
    text += close;
  }
  void floating(double value) {
    const std::uint64_t bits =
        wide_ ? std::bit_cast<std::uint64_t>(value) : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    text += cat(wide_ ? "0d" : "0f", hex_upper(bits, wide_ ? 16 : 8));
  }

  Trace& trace_;
  bool wide_;  // floating-point numbers have 64 bits
};

// True when the last type among the words is one of 64 bits.
bool ends_wide(std::string_view path) {
  bool wide = false;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    path.remove_prefix(dot + 1);
    if (const auto type = isa::type_from_name(path.substr(0, path.find('.')))) wide = isa::bits(*type) == 64;
  }
  return wide;
}

}  // namespace

bool is_strict() { return strict_here.value_or(strict_by_default); }

std::string spell_unchecked(Trace& trace, std::string_view path, std::span<const Value> operands, const write::Guard& guard) {
  Speller speller(trace, ends_wide(path));
  if (guard.predicate) speller.text = cat(guard.negated ? "@!" : "@", trace.builder().name(*guard.predicate), ' ');
  speller.text += path;
  if (!operands.empty()) speller.text += ' ';
  speller.list(operands);
  speller.text += ';';
  return std::move(speller.text);
}

void warn_unheard_of(Diagnostic why) { warn(author::as_unheard_of(std::move(why))); }

void write_unchecked(Trace& trace, std::string_view path, std::span<const Value> operands, const write::Guard& guard,
                     Diagnostic why) {
  if (!why.where.known()) why.where = trace.where();
  std::string statement = spell_unchecked(trace, path, operands, guard);
  trace.builder().raw(statement, why.where);
  if (why.kind == Kind::unknown_opcode) {
    why.severity = Severity::warning;
    nb::module_::import_("pyptx.spec").attr("warn_unvalidated")(std::string(path));
  }
  trace.issues.push_back({std::move(statement), std::move(why)});
}

void raise_validation(std::string_view path, const Diagnostic& why) {
  nb::list notes;
  for (const std::string& note : notes_of(why)) notes.append(note);
  const nb::object make = nb::module_::import_("pyptx.spec").attr("validation_error");
  const nb::object error =
      make(std::string(path), name(why.kind), why.message, std::string(why.where.file), why.where.line, notes);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void unwrap_validated(std::string_view path, const Expected<void>& written) {
  if (written) return;
  const Diagnostic& why = written.error();
  switch (why.kind) {
    case Kind::unknown_opcode:
    case Kind::unknown_modifier:
    case Kind::missing_modifier:
    case Kind::operand_count:
    case Kind::operand_mismatch:
    case Kind::immediate_range:
      raise_validation(path, why);
    default:
      raise(why);
  }
}

void bind_checks(nb::module_& m) {
  read_environment();
  function(m, "is_strict() -> bool", "Whether an instruction that the table refuses is an error.", is_strict);
  function(m, "set_strict(strict: bool) -> None", "For all threads that are not in a block of `pyptx.spec.strict`.",
           [](bool strict) { strict_by_default = strict; });
  function(m, "swap_strict(strict: bool | None) -> bool | None",
           "For this thread alone; `None` for what all have. What it was before.", [](nb::handle strict) {
             const nb::object before = strict_here ? nb::cast(*strict_here) : nb::none();
             strict_here = strict.is_none() ? std::nullopt : std::optional(nb::cast<bool>(strict));
             return before;
           });
}

}  // namespace ptx::python
