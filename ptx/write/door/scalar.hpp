// What a C++ kernel has of `ptx`'s scalar half beside `k << inst…`: registers of the families apart, `mad` by the type of its
// operands, unrolled loops, directives and statements as text. Python's typed wrappers (`ptx.add(u32, d, a, b)`) have no twins
// here: they are its way to an instruction whose operands are checked at once, and `inst.add.u32(d, a, b)` is checked while
// compiling. Of `ptx.expr` and `ptx.pipe`, which say how Python is to group what is written, there is nothing to say in C++.
#pragma once

#include <concepts>

#include "ptx/write/door/door.hpp"
#include "ptx/write/idiom/kloop.hpp"

namespace ptx::write {

/// The keywords of `kloop`.
struct KloopOptions {
  std::int64_t unroll = 1;           ///< a power of two
  std::string_view loop_label = {};  ///< empty: `kloop`, or a fresh label where that is taken
};

// What the members below do with a builder.
RegArray alloc_array(Builder& builder, Type type, std::int64_t count, SourceLocation at);
Addr<Type::none> declare_variable(Builder& builder, const Name& name, const ir::Variable& variable);
void keep(Builder& builder, Expected<void> done);
Reg multiply_add(Builder& builder, const Value& a, const Source& b, const Source& c, std::string_view mode, Type result,
                 const Pred& pred);

/// The keywords of `mad`.
struct MadOptions {
  std::string_view mode = "lo";  ///< or "hi", of integers
  Pred pred = {};
};

/// The scalar members of ptx::Kernel, which is K.
template <class K>
class Scalar {
 public:
  /// One register of its type's own family: `%au0`, `%af0` …
  template <Type T>
  ptx::Reg<T> alloc(SourceLocation at = SourceLocation::current()) {
    return {builder(), keep_error(builder(), builder().alloc(T, at), T)};
  }
  /// `count` registers of such a family: `%auarr0_0` …
  template <Type T, Number Count>
  ptx::RegArray<T> alloc_array(Count count, SourceLocation at = SourceLocation::current()) {
    return {builder(), write::alloc_array(builder(), T, static_cast<std::int64_t>(count), at)};
  }
  /// body() `total` times: a number, written out, or a register, unrolled (write/idiom/kloop.hpp).
  template <std::invocable Body>
  void kloop(const Source& total, KloopOptions options, Body body) {
    keep(builder(), idiom::kloop(builder(), total.value, options.unroll, idiom::Pass(body), options.loop_label, total.at));
  }
  /// A variable of the body; its address, in its space. Shared memory is better had from `k.smem`.
  Addr<Type::none> var(const Name& name, const ir::Variable& variable) { return declare_variable(builder(), name, variable); }
  /// a * b + c in a fresh register: `fma.rn` of floats, `mad.lo` or `mad.hi` of integers (write/idiom/mad.hpp).
  template <Type T>
  ptx::Reg<T> mad(const ptx::Reg<T>& a, const Source& b, const Source& c, const MadOptions& options = {}) {
    return {builder(), multiply_add(builder(), a.value(), b, c, options.mode, T, options.pred)};
  }
  /// The same in a register twice as wide, to which c belongs: `mad.wide`.
  template <Type T>
    requires(is_word(T) && isa::bits(T) <= 32)
  auto mad_wide(const ptx::Reg<T>& a, const Source& b, const Source& c, const Pred& pred = {}) {
    constexpr Type wide = isa::widened(isa::kind(T) != isa::TypeKind::bits ? T : isa::bits(T) == 16 ? Type::u16 : Type::u32);
    return ptx::Reg<wide>(builder(), multiply_add(builder(), a.value(), b, c, "wide", wide, pred));
  }
  /// `.pragma "text";`
  void pragma(const Name& text) { keep(builder(), builder().pragma(text.text, text.at)); }
  /// `.loc file line column`
  void loc(std::uint32_t file, std::uint32_t line, std::uint32_t column = 0, SourceLocation at = SourceLocation::current()) {
    builder().loc(file, line, column, at);
  }
  /// `.file number "name"`, of the module.
  void file_(std::uint32_t number, const Name& name) { keep(builder(), builder().file(number, name.text, name.at)); }
  /// A whole statement as text, kept as it is: nothing below reads it, so that the executor refuses the kernel. (Python's `raw`
  /// is read by the parser first, which write must not see; a whole module in text is text::parse's.)
  void raw(const Name& statement) { builder().raw(statement.text, statement.at); }
  /// `// text`
  void comment(std::string_view text) { builder().comment(text); }

 private:
  Builder& builder() { return static_cast<K*>(this)->builder(); }
};

}  // namespace ptx::write
