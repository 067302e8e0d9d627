// The declaration of a helper: one row beside its function. The function's parameter types say what may be given, the fields of
// its options say names and defaults; the row adds what C++ does not keep: the names of the parameters, and the documentation.
// A binding makes of a row the Python function, its signature, its stub and its help (python/binding/authoring/helpers.hpp).
//
//   template <> inline constexpr auto fields<ShiftOptions> = Fields<&ShiftOptions::cta_group, &ShiftOptions::pred>{};
//   constexpr auto shift = helper<&Tcgen05::shift>("ptx.tcgen05.shift", "taddr|tmem_addr", "`tcgen05.shift`: moves rows …");
//
// is Python's `shift(taddr, *, cta_group=1, pred=None)`. The text lists what may be given by position, in Python's order. A name
// is a field of the options, or else the function's next parameter. `|` stands before second names, `:` before a type that the
// stub shows in place of the parameter's own, `=` before a default; what follows `*` is given by name, `-field` is not given at
// all, and `-> name` is what the call gives back. Fields that the text does not list, and `pred`, are given by name.
//
// No header of an author's includes this one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ptx/write/door/copies.hpp"
#include "ptx/write/door/smem.hpp"
#include "ptx/write/door/sync.hpp"
#include "ptx/write/door/tcgen05.hpp"

namespace ptx::write::declare {

// ---- fields of options ------------------------------------------------------------------------------------------------------

enum class FieldKind : std::uint8_t {
  plain,
  needed,  ///< every call gives it
  asked,   ///< a call has to give it: the function itself says so where it is missing, better than Python can
  word,    ///< a name of a type, which may be given as the type itself
};
template <class Member, FieldKind kind_>
struct Field {
  Member field;
  static constexpr FieldKind kind = kind_;
};
template <class Member>
constexpr Field<Member, FieldKind::needed> needed(Member field) {
  return {field};
}
template <class Member>
constexpr Field<Member, FieldKind::asked> asked(Member field) {
  return {field};
}
template <class Member>
constexpr Field<Member, FieldKind::word> word(Member field) {
  return {field};
}
template <auto field>
constexpr auto described() {
  if constexpr (requires { field.field; })
    return field;
  else
    return Field<decltype(field), FieldKind::plain>{field};
}

/// What a compiler calls this function, with the field in it: `… [with auto field = &ptx::write::Options::name]`.
template <auto field>
consteval const char* naming() {
  return __PRETTY_FUNCTION__;
}
/// "cta_group" of `&Tcgen05Options::cta_group`
template <auto field>
consteval std::string_view field_name() {
  const std::string_view all = naming<field>(), name = all.substr(all.rfind("::") + 2);
  return name.substr(0, name.find_first_of("]}); "));
}

/// The fields of an aggregate, in the order in which Python shows them: pointers to members, bare or described as above.
template <auto... field>
struct Fields {
  static constexpr std::array<std::string_view, sizeof...(field)> names = {field_name<field>()...};
  /// How many of the first ones every call gives.
  static constexpr std::size_t first_needed = [] {
    std::size_t count = 0;
    bool all = true;
    ((all = all && described<field>().kind == FieldKind::needed, count += all), ...);
    return count;
  }();
};
/// Of each aggregate that a helper takes, beside the helper.
template <class Aggregate>
inline constexpr std::nullptr_t fields{};
template <class T>
concept Options = !std::is_same_v<std::remove_cv_t<decltype(fields<T>)>, std::nullptr_t>;

/// An aggregate whose needed fields, which are its first, hold nothing yet.
struct Anything {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_same_v<T, PlaceArg>)
      return PlaceArg(nullptr, Place(), {});
    else if constexpr (std::is_same_v<T, Source>)
      return Source(0, SourceLocation{});
    else if constexpr (std::is_same_v<T, MapArg>)
      return MapArg("");
    else
      return T{};
  }
};
template <class T, class... First>
constexpr T blank(First... first) {
  if constexpr (sizeof...(First) >= std::remove_cv_t<decltype(fields<T>)>::first_needed && requires { T{first...}; })
    return T{first...};
  else
    return blank<T>(first..., Anything());
}

// ---- functions ----------------------------------------------------------------------------------------------------------------

template <class Function>
struct Shape;
template <class Result, class... Arguments>
struct Shape<Result (*)(Arguments...)> {
  using Group = void;
  using Gives = Result;
  using Takes = std::tuple<std::remove_cvref_t<Arguments>...>;
};
template <class Result, class Class, class... Arguments>
struct Shape<Result (Class::*)(Arguments...)> : Shape<Result (*)(Arguments...)> {
  using Group = Class;
};
template <class Result, class Class, class... Arguments>
struct Shape<Result (Class::*)(Arguments...) const> : Shape<Result (Class::*)(Arguments...)> {};

/// What a function is written with, and no argument: the builder. A binding may have more of the kind.
template <class T>
inline constexpr bool is_context = std::is_same_v<T, Builder>;

/// A parameter that a row names: not the author's line, the builder, options or the guard.
template <class T>
inline constexpr bool is_named = !std::is_same_v<T, SourceLocation> && !is_context<T> && !std::is_same_v<T, Pred> && !Options<T>;

// ---- rows -------------------------------------------------------------------------------------------------------------------

/// One parameter as the text has it.
struct Named {
  std::string_view name, seconds, type, standard;
  bool by_name = false;
};
template <class T>
constexpr std::span<const std::string_view> field_names() {
  if constexpr (Options<T>)
    return std::remove_cv_t<decltype(fields<T>)>::names;
  else
    return {};
}

/// text.find(word, from): that of GCC compares an address with null, which is no constant under sanitizers.
constexpr std::size_t find_in(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (; from + word.size() <= text.size(); ++from)
    if (text.substr(from, word.size()) == word) return from;
  return std::string_view::npos;
}

struct Listed {
  std::array<Named, 24> parameters{};
  std::size_t count = 0;
  std::string_view left_out;  ///< " one two "
  std::string_view gives;

  [[nodiscard]] constexpr const Named* find(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i)
      if (parameters[i].name == name) return &parameters[i];
    return nullptr;
  }
  [[nodiscard]] constexpr bool has(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i)
      if (parameters[i].name == name) return true;
    return false;
  }
  [[nodiscard]] constexpr bool leaves_out(std::string_view name) const {
    for (std::size_t at = find_in(left_out, name); at != std::string_view::npos; at = find_in(left_out, name, at + 1))
      if (at > 0 && left_out[at - 1] == '-' && (at + name.size() == left_out.size() || left_out[at + name.size()] == ','))
        return true;
    return false;
  }

  // Of a function's parameters, with the fields of their types.
  [[nodiscard]] constexpr std::size_t fields_listed(std::span<const std::string_view> names) const {
    std::size_t all = 0;
    for (const std::string_view name : names) all += has(name);
    return all;
  }
  template <class... T>
  [[nodiscard]] constexpr bool names_all(std::tuple<T...>* /*takes*/) const {
    return count == ((is_named<T> ? std::size_t{1} : fields_listed(field_names<T>())) + ... + std::size_t{0});
  }
};

constexpr std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}
/// What stands before `mark`; `text` keeps what stands behind it.
constexpr std::string_view taken_before(std::string_view& text, std::string_view mark) {
  const std::size_t at = find_in(text, mark);
  const std::string_view before = trimmed(text.substr(0, at));
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + mark.size());
  return before;
}

constexpr Listed listed(std::string_view text) {
  Listed all;
  all.left_out = text;
  std::string_view parameters = taken_before(text, "->");
  all.gives = trimmed(text);
  for (bool by_name = false; !parameters.empty();) {
    std::string_view one = parameters;
    int depth = 0;  // of brackets: `tuple[int, int]` is one type, `(1, 1)` one default
    for (std::size_t i = 0; i < parameters.size() && (depth > 0 || parameters[i] != ','); ++i) {
      const char c = parameters[i];
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      one = parameters.substr(0, i + 1);
    }
    parameters = trimmed(parameters.substr(std::min(one.size() + 1, parameters.size())));
    if (one == "*") {
      by_name = true;
    } else if (!one.starts_with('-')) {
      Named& made = all.parameters[all.count++];
      made.by_name = by_name;
      std::string_view head = taken_before(one, "=");
      made.standard = trimmed(one);
      std::string_view names = taken_before(head, ":");
      made.type = trimmed(head);
      made.name = taken_before(names, "|");
      made.seconds = trimmed(names);
    }
  }
  return all;
}

/// A helper: its function, what its parameters are called, and what it does.
template <auto function_>
struct Helper {
  using Function = Shape<decltype(function_)>;
  using Takes = typename Function::Takes;
  static constexpr auto function = function_;

  const char* name;             ///< "ptx.tcgen05.alloc"
  std::string_view parameters;  ///< as the notation above has them
  const char* doc;

  [[nodiscard]] constexpr Listed listed() const { return declare::listed(parameters); }
};

void names_other_parameters();  // no constant: a call of it is an error at the row
/// A row; its text names as many parameters as the function has, and fields of its options.
template <auto function>
consteval Helper<function> helper(const char* name, std::string_view parameters, const char* doc) {
  if (!listed(parameters).names_all(static_cast<typename Helper<function>::Takes*>(nullptr))) names_other_parameters();
  return {name, parameters, doc};
}

// ---- what a row says, for bindings and pages --------------------------------------------------------------------------------

struct Parameter {
  std::string_view name = {}, seconds = {};  ///< seconds: further names of the keyword, "mbar|barrier"
  std::string type = {};                     ///< "Reg | int"
  std::optional<std::string> standard = {};  ///< the default, as Python spells it
  bool shows_default = true, by_name = true;
  std::size_t slot = 0;  ///< arguments are counted in the function's order, the fields of options among them
};
struct Signature {
  std::string name;  ///< "ptx.tcgen05.alloc"
  std::vector<Parameter> parameters = {};
  std::string gives = {};       ///< "Reg", "None"
  std::string_view gives_back;  ///< the parameter whose argument the call gives back
  std::string doc = {};

  /// "def alloc(slot: typing.Any, ncols: Reg | int, *, cta_group: int = 1, pred: Reg | NegPred | None = None) -> None". Of a
  /// method the first `bound` parameters are its object.
  [[nodiscard]] std::string python(std::string_view as, bool is_method, std::size_t bound = 0) const;
};

/// A type as stubs spell it, and a default.
struct Spelled {
  std::string type;
  std::string standard = {};
};
Spelled spelled(const PlaceArg* value);
Spelled spelled(const TmemArg* value);
Spelled spelled(const TmemColumns* value);
Spelled spelled(const MatrixDescriptor* value);
Spelled spelled(const MapArg* value);
Spelled spelled(const BlockMask* value);
Spelled spelled(const Source* value);
Spelled spelled(const Bytes* value);
Spelled spelled(const Enable* value);
Spelled spelled(const Pred* value);
Spelled spelled(const IssuerArg* value);
Spelled spelled(const Registers* value);
Spelled spelled(const Factor* value);
Spelled spelled(const Coords* value);
Spelled spelled(const Type* value);
Spelled spelled(const layout::Major* value);
Spelled spelled(const layout::GmmaLayout* value);
Spelled spelled(const SharedShape* value);
Spelled spelled(const SharedAllocation* value);
Spelled spelled(const MbarrierArray* value);
Spelled spelled(const bool* value);
Spelled spelled(const std::int64_t* value);
Spelled spelled(const int* value);
Spelled spelled(const std::uint32_t* value);
Spelled spelled(const std::uint64_t* value);
Spelled spelled(const std::string_view* value);
Spelled spelled(const Reg* value);
template <Type T>
Spelled spelled(const ptx::Reg<T>* /*value*/) {
  return {"Reg"};
}
template <std::size_t count>
Spelled spelled(const std::array<std::int64_t, count>* /*value*/) {
  return {"typing.Sequence[int]"};
}
/// `given` or None; nothing to say when None is spelled already
Spelled or_none(Spelled given, bool is_none);
template <class T>
Spelled spelled(const std::optional<T>* value) {
  return or_none(spelled(value != nullptr && *value ? &**value : static_cast<const T*>(nullptr)), value != nullptr && !*value);
}

template <class T>
std::string result_type() {
  if constexpr (std::is_void_v<T>)
    return "None";
  else if constexpr (std::is_same_v<T, Expected<void>>)
    return "None";
  else if constexpr (requires(T wrapped) { *wrapped; })
    return result_type<std::remove_cvref_t<decltype(*std::declval<T>())>>();
  else
    return spelled(static_cast<const T*>(nullptr)).type;
}

/// What signatures know of a type: how it is spelled, with a default where `value` points to one.
using Speller = Spelled (*)(const void* value);
template <class T>
Spelled spelled_as(const void* value) {
  return spelled(static_cast<const T*>(value));
}

/// A field of options as signatures have it.
struct FieldOf {
  std::string_view name;
  FieldKind kind;
  Speller spelled;
};
void add_fields(std::span<const FieldOf> fields, std::span<const void* const> defaults, std::size_t& slot,
                std::vector<Parameter>& to);
template <class T, auto... field>
void add_fields_of(Fields<field...> /*of*/, std::size_t& slot, std::vector<Parameter>& to) {
  const T options = blank<T>();
  const std::array<const void*, sizeof...(field)> defaults = {&(options.*described<field>().field)...};
  static constexpr std::array<FieldOf, sizeof...(field)> all = {
      FieldOf{field_name<field>(), described<field>().kind,
              &spelled_as<std::remove_cvref_t<decltype(options.*described<field>().field)>>}...};
  add_fields(all, defaults, slot, to);
}
template <class T>
void add_options(std::size_t& slot, std::vector<Parameter>& to) {
  add_fields_of<T>(fields<T>, slot, to);
}

/// One parameter of a function: an argument or the guard, options, or nothing that Python has.
struct Taken {
  Speller spelled = nullptr;
  bool is_guard = false;
  void (*options)(std::size_t& slot, std::vector<Parameter>& to) = nullptr;
};
template <class T>
constexpr Taken taken() {
  if constexpr (Options<T>)
    return {.options = &add_options<T>};
  else if constexpr (is_named<T> || std::is_same_v<T, Pred>)
    return {.spelled = &spelled_as<T>, .is_guard = !is_named<T>};
  else
    return {};
}
/// Of all parameters: a table that functions with the same ones share.
template <class Takes>
inline constexpr std::array<Taken, 0> takes_of{};
template <class... T>
inline constexpr std::array<Taken, sizeof...(T)> takes_of<std::tuple<T...>> = {taken<T>()...};

/// A function's parameters and its text put in Python's order.
Signature signature_of(std::string_view name, std::string_view parameters, std::string_view doc, std::span<const Taken> takes,
                       std::string gives);
template <auto function>
Signature signature_of(const Helper<function>& row) {
  using Row = Helper<function>;
  return signature_of(row.name, row.parameters, row.doc, takes_of<typename Row::Takes>,
                      result_type<typename Row::Function::Gives>());
}

}  // namespace ptx::write::declare
