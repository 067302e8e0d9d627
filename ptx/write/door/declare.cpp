#include "ptx/write/door/declare.hpp"

#include <algorithm>
#include <bit>

#include "ptx/base/base.hpp"

namespace ptx::write::declare {
namespace {

std::string integer_text(std::uint64_t number) {
  return number < 0x1000 ? cat(number) : cat("0x", hex_upper(number, (std::bit_width(number) + 3) / 4));
}
std::string integer_text(std::int64_t number) {
  return number < 0 ? cat(number) : integer_text(static_cast<std::uint64_t>(number));
}
std::string value_text(const Value& value) { return value.kind == Value::Kind::integer ? integer_text(value.integer) : "None"; }

template <class T, class Shown>
std::string shown(const T* value, Shown show) {
  return value == nullptr ? std::string() : show(*value);
}

}  // namespace

Spelled spelled(const PlaceArg* /*value*/) { return {"typing.Any"}; }
Spelled spelled(const TmemArg* /*value*/) { return {"Reg | Address"}; }
Spelled spelled(const TmemColumns* /*value*/) { return {"Reg"}; }
Spelled spelled(const MatrixDescriptor* /*value*/) { return {"Reg"}; }
Spelled spelled(const MapArg* /*value*/) { return {"typing.Any"}; }
Spelled spelled(const BlockMask* /*value*/) { return {"int"}; }
Spelled spelled(const Source* value) {
  return {"Reg | int", shown(value, [](const Source& source) { return value_text(source.value); })};
}
Spelled spelled(const Bytes* value) {
  return {"Reg | int", shown(value, [](const Bytes& bytes) { return value_text(bytes.value); })};
}
Spelled spelled(const Enable* value) {
  const auto answer = [](const Enable& enable) -> std::string { return enable.value.integer != 0 ? "True" : "False"; };
  return {"Reg | NegPred | bool | int", shown(value, answer)};
}
Spelled spelled(const Pred* /*value*/) { return {"Reg | NegPred | None", "None"}; }
Spelled spelled(const IssuerArg* /*value*/) { return {"Reg | NegPred | int | None", "None"}; }
Spelled spelled(const Registers* value) {
  const Spelled shown{"Reg | RegArray | typing.Sequence[Reg]"};
  return value != nullptr && value->regs.empty() ? or_none(shown, true) : shown;
}
Spelled spelled(const Factor* /*value*/) { return {"Reg | SharedAlloc | SharedSlice | RegArray | typing.Sequence[Reg]"}; }
Spelled spelled(const Coords* value) {
  const Spelled shown{"typing.Sequence[Reg | int]"};
  return value != nullptr && value->empty() ? or_none(shown, true) : shown;
}
Spelled spelled(const Type* /*value*/) { return {"PtxType"}; }
Spelled spelled(const layout::Major* value) {
  return {"Major | str",
          shown(value, [](layout::Major major) -> std::string { return major == layout::Major::k ? "'K'" : "'MN'"; })};
}
Spelled spelled(const layout::GmmaLayout* /*value*/) { return {"GmmaLayout"}; }
Spelled spelled(const SharedShape* /*value*/) { return {"int | typing.Sequence[int]"}; }
Spelled spelled(const SharedAllocation* /*value*/) { return {"SharedAlloc"}; }
Spelled spelled(const MbarrierArray* /*value*/) { return {"MbarrierArray"}; }
Spelled spelled(const bool* value) {
  return {"bool", shown(value, [](bool is) -> std::string { return is ? "True" : "False"; })};
}
Spelled spelled(const std::int64_t* value) {
  return {"int", shown(value, [](std::int64_t number) { return integer_text(number); })};
}
Spelled spelled(const int* value) {
  return {"int", shown(value, [](int number) { return integer_text(std::int64_t{number}); })};
}
Spelled spelled(const std::uint32_t* value) {
  return {"int", shown(value, [](std::uint32_t number) { return integer_text(std::uint64_t{number}); })};
}
Spelled spelled(const std::uint64_t* value) {
  return {"int", shown(value, [](std::uint64_t number) { return integer_text(number); })};
}
Spelled spelled(const std::string_view* value) {
  if (value != nullptr && value->data() == nullptr) return or_none({"str"}, true);
  return {"str", shown(value, [](std::string_view text) { return cat('\'', text, '\''); })};
}
Spelled spelled(const Reg* /*value*/) { return {"Reg"}; }

Spelled or_none(Spelled given, bool is_none) {
  if (is_none) given.standard = "None";
  if (given.type != "typing.Any" && !given.type.ends_with("| None")) given.type += " | None";
  return given;
}

void names_other_parameters() {}

void add_fields(std::span<const FieldOf> fields, std::span<const void* const> defaults, std::size_t& slot,
                std::vector<Parameter>& to) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool is_needed = fields[i].kind == FieldKind::needed, is_word = fields[i].kind == FieldKind::word;
    Spelled shown = fields[i].spelled(is_needed ? nullptr : defaults[i]);
    if (is_word) shown.type = "PtxType | str";
    Parameter made{.name = fields[i].name,
                   .type = std::move(shown.type),
                   .shows_default = is_word || fields[i].kind == FieldKind::plain,
                   .slot = slot++};
    if (!is_needed) made.standard = std::move(shown.standard);
    constexpr std::string_view or_nothing = " | None";
    if (fields[i].kind == FieldKind::asked && made.type.ends_with(or_nothing))
      made.type.resize(made.type.size() - or_nothing.size());
    to.push_back(std::move(made));
  }
}

Signature signature_of(std::string_view name, std::string_view parameters, std::string_view doc, std::span<const Taken> takes,
                       std::string gives) {
  const Listed listed = declare::listed(parameters);
  std::vector<Parameter> arguments, options;
  std::size_t slot = 0;
  for (const Taken& taken : takes) {
    if (taken.options != nullptr) taken.options(slot, options);
    if (taken.spelled == nullptr) continue;
    auto& to = taken.is_guard ? options : arguments;
    to.push_back({.name = taken.is_guard ? "pred" : "", .type = taken.spelled(nullptr).type, .slot = slot++});
    if (taken.is_guard || to.back().type.ends_with("| None")) to.back().standard = "None";
  }
  Signature made{.name = std::string(name), .gives = std::move(gives), .gives_back = listed.gives, .doc = std::string(doc)};
  if (!made.gives_back.empty()) made.gives = "Reg";
  auto argument = arguments.begin();
  for (std::size_t i = 0; i < listed.count; ++i) {
    const Named& named = listed.parameters[i];
    const auto option = std::find_if(options.begin(), options.end(), [&](const Parameter& o) { return o.name == named.name; });
    Parameter parameter = option != options.end() ? std::move(*option) : std::move(*argument++);
    if (option != options.end()) options.erase(option);
    parameter.name = named.name;
    parameter.seconds = named.seconds;
    parameter.by_name = named.by_name;
    if (!named.type.empty()) parameter.type = named.type;
    if (!named.standard.empty()) parameter.standard = named.standard;
    made.parameters.push_back(std::move(parameter));
  }
  for (Parameter& option : options)
    if (!listed.leaves_out(option.name)) made.parameters.push_back(std::move(option));
  // A field that calls give, behind others that they need not give by position: None stands for it until the function asks.
  bool may_end = false;
  for (Parameter& parameter : made.parameters) {
    if (parameter.by_name) break;
    may_end = may_end || (parameter.standard && parameter.shows_default);
    if (!may_end || parameter.shows_default || !parameter.standard) continue;
    parameter.shows_default = true;
    parameter.type = or_none({parameter.type}, true).type;
  }
  return made;
}

std::string Signature::python(std::string_view as, bool is_method, std::size_t bound) const {
  std::string text = cat("def ", as, '(', is_method ? "self" : "");
  bool first = !is_method, by_name = false;
  for (std::size_t i = bound; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (parameter.by_name && !by_name) text += first ? "*" : ", *";
    by_name = by_name || parameter.by_name;
    text += cat(first && !parameter.by_name ? "" : ", ", parameter.name, ": ", parameter.type);
    if (parameter.standard && parameter.shows_default) text += cat(" = ", *parameter.standard);
    first = false;
  }
  return cat(text, ") -> ", gives);
}

}  // namespace ptx::write::declare
