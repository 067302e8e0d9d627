// Registers of the families apart (reg.alloc): every type has a base and a count of its own, and each register its own
// declaration.
#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {
namespace {

struct Base {
  Type type;
  std::string_view base;
};
constexpr std::array bases = {
    Base{Type::b8, "%ab"},        Base{Type::b16, "%ah"},   Base{Type::b32, "%ar"},       Base{Type::b64, "%ad"},
    Base{Type::b128, "%aq"},      Base{Type::u8, "%au8"},   Base{Type::u16, "%au16"},     Base{Type::u32, "%au"},
    Base{Type::u64, "%aud"},      Base{Type::s8, "%as8"},   Base{Type::s16, "%as16"},     Base{Type::s32, "%as"},
    Base{Type::s64, "%asd"},      Base{Type::f16, "%af16"}, Base{Type::f16x2, "%af16x2"}, Base{Type::bf16, "%abf"},
    Base{Type::bf16x2, "%abfx2"}, Base{Type::tf32, "%atf"}, Base{Type::f32, "%af"},       Base{Type::f64, "%afd"},
    Base{Type::e4m3, "%ae4"},     Base{Type::e5m2, "%ae5"}, Base{Type::pred, "%ap"}};

}  // namespace

// The next name of a type's family: of a register, or (count != 0) the base of an array. `%au80` is u8's first and u32's 81st,
// so names that are there already are passed over.
Expected<std::string> Builder::State::next_allocated(Type type, std::uint32_t count, SourceLocation where) {
  const auto found = std::find_if(bases.begin(), bases.end(), [&](const Base& b) { return b.type == type; });
  if (found == bases.end()) {
    std::vector<std::string> types;
    for (const Base& b : bases) types.push_back(cat('.', isa::name(b.type)));
    return refuse(Kind::bad_declaration, cat("`alloc` has no registers of type .", isa::name(type)), where,
                  cat("it has ", list_choices(types, bases.size()), "; `scalar` has the others"));
  }
  const bool array = count != 0;
  std::uint32_t& next = allocated[cat(found->base, array ? "arr" : "")];
  std::string name;
  do name = array ? cat(found->base, "arr", next++, '_') : cat(found->base, next++);
  while (array ? names.array_taken(name, count) : names.taken(name));
  return name;
}

Expected<Reg> Builder::alloc(Type type, SourceLocation where) {
  const Expected<std::string> name = state_->next_allocated(type, 0, where);
  if (!name) return Unexpected{name.error()};
  return reg(type, *name, where);
}

Expected<RegArray> Builder::alloc_array(Type type, std::uint32_t count, SourceLocation where) {
  if (count == 0) return refuse(Kind::bad_declaration, "an array has at least one register", where);
  const Expected<std::string> name = state_->next_allocated(type, count, where);
  if (!name) return Unexpected{name.error()};
  return array(type, count, *name, where);
}

}  // namespace ptx::write
