#include "ptx/check/initialisers.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/check/declarations.hpp"

namespace ptx::check {
namespace {

using ir::Init;
using ir::InitKind;
using ir::StateSpace;

constexpr std::array<std::string_view, 12> fields = {
    "width",       "height",      "depth",       "channel_data_type", "channel_order", "normalized_coords",
    "addr_mode_0", "addr_mode_1", "addr_mode_2", "filter_mode",       "array_size",    "force_unnormalized_coords",
};
constexpr std::array<std::string_view, 8> sampler_words = {"wrap",    "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border",
                                                           "nearest", "linear", "clamp"};

class Initialiser {
 public:
  Initialiser(Report& report, const Names& names, const ir::Variable& v, ir::WhereId where)
      : report_(report), names_(names), v_(v), where_(where) {}

  void run() {
    if (v_.linkage == ir::Linkage::extern_) return bad("is .extern: its definition has the initial value");
    if (v_.space != StateSpace::global && v_.space != StateSpace::const_)
      return bad("has an initial value, which only .global and .const variables can have");
    if (is_opaque(v_.type)) return opaque();
    if (v_.type == Type::f16) return bad("is declared .f16, which takes no initial value", "declare it .b16");
    // Levels of braces: one for each dimension, one more for a vector.
    const std::size_t dimensions = (v_.elements || v_.unsized ? 1 + v_.inner.size() : 0);
    const std::size_t levels = dimensions + (v_.vector > 1 ? 1 : 0);
    std::vector<std::uint64_t> counts;  // of the lists that are open
    for (const Init& e : v_.initialiser) {
      if (e.kind == InitKind::close) {
        if (counts.empty()) return bad("has an initial value with a `}` too many");
        const bool vector = v_.vector > 1 && counts.size() == levels;
        if (vector && counts.back() != v_.vector)
          return bad(cat("is a vector of ", v_.vector, " that starts with ", counts.back(), " values"));
        counts.pop_back();
        continue;
      }
      if (!counts.empty()) {
        const std::size_t level = counts.size() - 1;
        const std::uint64_t most = size(level, dimensions);
        if (++counts.back() > most)
          return bad(cat("starts with more values than ", level == 0 ? "it has elements, " : "a row has elements, ", most));
      }
      if (e.kind == InitKind::open) {
        if (counts.size() == levels)
          return bad(levels == 0 ? std::string("is a scalar that starts with a list")
                                 : cat("starts with a list that is nested deeper than its ", levels,
                                       levels == 1 ? " dimension" : " dimensions"));
        counts.push_back(0);
        continue;
      }
      if (counts.size() != levels)
        return bad("starts with a single value where a list of its elements belongs", "write `{…}` around them");
      if (!value(e)) return;
    }
  }

 private:
  void bad(std::string_view why, std::string_view hint = {}) {
    const ir::Module& module = report_.module();
    Diagnostic& d =
        report_.error(where_, Kind::bad_initialiser, cat("the .", name(v_.space), " variable `", module.str(v_.name), "` ", why));
    if (!hint.empty()) d.hint(cat(hint));
  }

  // The elements of a list at a level; no bound where the first dimension is counted from the list.
  [[nodiscard]] std::uint64_t size(std::size_t level, std::size_t dimensions) const {
    if (level >= dimensions) return v_.vector;
    if (level == 0) return v_.unsized ? ~std::uint64_t{0} : v_.elements.value_or(0);
    return v_.inner[level - 1];
  }

  // True when the value fits the type. ptxas cuts integers to size in silence.
  bool value(const Init& e) {
    const std::string type = cat("is declared .", isa::name(v_.type));
    if (v_.type == Type::f16x2) return bad(cat(type, ", which takes no initial value"), "declare it .b32"), false;
    switch (e.kind) {
      case InitKind::integer:
        if (isa::is_float(v_.type)) return bad(cat(type, " and starts with an integer"), "write it `1.0`"), false;
        integer(e);
        return true;
      case InitKind::floating:
        if (isa::is_integer(v_.type)) return bad(cat(type, " and starts with a floating-point number")), false;
        floating(e);
        return true;
      case InitKind::symbol:
      case InitKind::generic:
        return symbol(e, type);
      default:
        return bad(cat(type, " and starts with a word")), false;
    }
  }

  void integer(const Init& e) {
    const int width = isa::bits(v_.type);
    if (width >= 64 || warned_) return;
    const auto number = static_cast<std::int64_t>(e.value);
    const std::uint64_t magnitude = number < 0 ? ~e.value : e.value;
    if (static_cast<int>(std::bit_width(magnitude)) <= width - (number < 0 ? 1 : 0)) return;
    warned_ = true;  // once for each variable
    const ir::Module& module = report_.module();
    report_
        .warning(where_, Kind::immediate_range,
                 cat("the .", name(v_.space), " variable `", module.str(v_.name), "` starts with ", number, ", which .",
                     isa::name(v_.type), " cannot hold"))
        .hint("ptxas takes the low bits and says nothing");
  }

  // ptxas: `0f3F800000` in 64 bits is its own 32 bits, no 1.0, and no number is left of any in fewer than 32.
  void floating(const Init& e) {
    const int width = isa::bits(v_.type);
    if (warned_ || width == 32 || (width == 64 && e.width == 64)) return;
    warned_ = true;
    const ir::Module& module = report_.module();
    report_
        .warning(where_, Kind::immediate_range,
                 cat("the .", name(v_.space), " variable `", module.str(v_.name), "` is declared .", isa::name(v_.type),
                     " and starts with a floating-point number of ", static_cast<int>(e.width), " bits"))
        .hint(width == 64 ? "ptxas puts the 32 bits there as they are; write `0d…` or a decimal number"
                          : "ptxas puts 0 there and says nothing; write the bits as an integer");
  }

  bool symbol(const Init& e, const std::string& type) {
    const ir::Module& module = report_.module();
    const std::string spelled = cat('`', module.str(e.symbol), '`');
    const Entity* entity = names_.find(e.symbol);
    if (entity == nullptr || entity->meaning == Meaning::reg || entity->meaning == Meaning::parameter) {
      const std::string name(module.str(v_.name));
      Diagnostic& d = report_.error(where_, Kind::undefined_symbol,
                                    cat(spelled, ", the initial value of `", name, "`, is not declared before it"));
      if (entity == nullptr)
        if (const std::string near = nearest(module.str(e.symbol), names_.symbols()); !near.empty())
          d.hint(cat("did you mean `", near, "`?"));
      return false;
    }
    const bool masked = e.mask_byte != 0;
    const int width = isa::bits(v_.type);
    if (isa::kind(v_.type) != isa::TypeKind::uint || (width < 32 && !(masked && width == 8)))
      return bad(cat(type, " and starts with the address ", spelled, "; what fits is .u64",
                     masked ? ", or .u8 for one byte of it" : "")),
             false;
    if (entity->meaning == Meaning::function) {
      if (e.kind == InitKind::generic) return bad(cat("starts with generic(", module.str(e.symbol), "), a function")), false;
      if (e.value != 0) return bad(cat("starts with the address of the function ", spelled, " and an offset")), false;
      return true;
    }
    if (entity->space != StateSpace::global && entity->space != StateSpace::const_)
      return bad(cat("starts with the address of ", describe(module, *entity), "; what fits is in .global or .const")), false;
    return true;
  }

  // `{ width = 5, filter_mode = linear }` (manual: "Texture Sampler and Surface Types")
  void opaque() {
    const std::vector<Init>& list = v_.initialiser;
    if (list.front().kind != InitKind::open) return bad("starts with a value; what fits is a list of `field = value`");
    const ir::Module& module = report_.module();
    for (std::size_t i = 1; i < list.size() && list[i].kind != InitKind::close; ++i) {
      if (list[i].kind != InitKind::field) return bad("starts with a value that names no field; what fits is `field = value`");
      const std::string_view field = module.str(list[i].symbol);
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) return bad(cat("has no field `", field, '`'));
      if (++i == list.size()) return bad(cat("has no value for its field `", field, '`'));
      const Init& value = list[i];
      if (value.kind == InitKind::open || value.kind == InitKind::field)
        return bad(cat("has a list for its field `", field, "`"));
      if (value.kind != InitKind::word && value.kind != InitKind::symbol) continue;
      const std::string_view word = module.str(value.symbol);
      if (std::find(sampler_words.begin(), sampler_words.end(), word) == sampler_words.end())
        return bad(cat("has `", word, "` for its field `", field, "`, which is not a value of one"));
    }
  }

  Report& report_;
  const Names& names_;
  const ir::Variable& v_;
  ir::WhereId where_;
  bool warned_ = false;
};

}  // namespace

void check_initialiser(Report& report, const Names& names, const ir::Variable& variable, ir::WhereId where) {
  Initialiser(report, names, variable, where).run();
}

}  // namespace ptx::check
