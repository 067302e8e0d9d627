#include "ptx/write/door/scalar.hpp"

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/mad.hpp"

namespace ptx::write {

void keep(Builder& builder, Expected<void> done) {
  if (!done) builder.fail(std::move(done).error());
}

Reg multiply_add(Builder& builder, const Value& a, const Source& b, const Source& c, std::string_view mode, Type result,
                 const Pred& pred) {
  const std::array values = {a, b.value, c.value};
  return keep_error(builder, idiom::mad(builder, values, mode, pred.guard, b.at), result);
}

Addr<Type::none> declare_variable(Builder& builder, const Name& name, const ir::Variable& variable) {
  Expected<std::string_view> made = builder.variable(variable, name.text, name.at);
  if (made) return addr(*made);
  builder.fail(std::move(made).error());
  return addr(std::string_view("_failed"));
}

RegArray alloc_array(Builder& builder, Type type, std::int64_t count, SourceLocation at) {
  constexpr std::int64_t most = 1 << 16;
  const bool possible = count >= 1 && count <= most;
  Expected<RegArray> made =
      possible ? builder.alloc_array(type, static_cast<std::uint32_t>(count), at)
               : Expected<RegArray>(
                     refuse(Kind::bad_declaration, cat("an array of ", count, " registers; what fits is 1 to ", most), at));
  if (made) return *made;
  builder.fail(std::move(made).error());
  const Expected<RegArray> other = builder.array(Type::b32, possible ? static_cast<std::uint32_t>(count) : 1);  // to go on with
  return {other->decl, other->first, other->count, type};
}

}  // namespace ptx::write
