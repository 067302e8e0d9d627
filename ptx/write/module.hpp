// A module written in C++: several kernels, the device functions that they call, variables, and what else a PTX text declares.
// The twin of Python's `Module`.
//
//   Module m({.arch = sm_90a});
//   m.var({.name = "table", .type = f32, .shape = {4}, .init = write::Initial::list({1.0, 2.0, 3.0, 4.0})});
//   Func square(m, {.name = "square", .returns = {f32}, .params = {{"x", f32}}});
//   square.return_(square.param<f32>("x") * square.param<f32>("x"));
//   Kernel k(m, {.name = "k", …});
//   auto y = k.call<f32>(square, x);
//
// Each kernel's text has all that the module declares and that kernel alone: it is checked, run, launched and saved as any other.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/write/kernel.hpp"
#include "ptx/write/module_builder.hpp"

namespace ptx {
namespace write {
struct ModuleState;
}  // namespace write

/// What a module is besides what is written into it.
struct ModuleSpec {
  Target arch = Target::sm_90a;
  std::optional<Version> version = std::nullopt;  ///< nothing: write::default_version(arch)
};

/// A device function: `.func (.reg .f32 %result) square (.reg .f32 %x)`. Predicates and bytes cannot be passed.
struct FuncSpec {
  std::string name;
  std::vector<Type> returns = {};
  std::vector<ScalarSpec> params = {};
  std::vector<ir::Directive> raw_directives = {};  ///< `.noreturn` and the like
};

/// A handle: copies are the same module. Errors are kept until a kernel's module(), or link(), gives the first.
class Module {
 public:
  explicit Module(const ModuleSpec& spec = {});

  /// A variable; its address in its space.
  Addr<Type::none> var(const write::VariableSpec& spec, SourceLocation at = SourceLocation::current());
  /// `.pragma "text";`
  void pragma(const write::Name& text);
  /// Another name for a function of the module.
  void alias(const write::Name& name, std::string_view function);
  /// `.section .name { lines }`
  void section(const write::Name& name, std::string_view lines);
  /// What a text declares, as text::parse_part read it; `raw(m, "…")` looks at what that found, too. Kind duplicate_symbol.
  void append(const ir::Module& parsed, SourceLocation at = SourceLocation::current());

  /// The whole: everything declared, and these kernels, which are spent.
  template <std::same_as<Kernel>... K>
  [[nodiscard]] Expected<ir::Module> link(K&... kernels) {
    std::vector<ir::Module> finished;
    for (Kernel* kernel : std::initializer_list<Kernel*>{&kernels...}) {
      Expected<ir::Module> module = kernel->finish();
      if (!module) return module;
      finished.push_back(std::move(*module));
    }
    return link_all(finished);
  }

  /// What it declares so far, for helpers such as `raw`, which hand it their errors.
  [[nodiscard]] write::ModuleBuilder& parts();
  void fail(Diagnostic diagnostic);

  [[nodiscard]] const std::shared_ptr<write::ModuleState>& state() const { return state_; }

 private:
  [[nodiscard]] Expected<ir::Module> link_all(const std::vector<ir::Module>& kernels);
  std::shared_ptr<write::ModuleState> state_;
};

/// A device function of a module. Its body is written as a kernel's is; kernels and functions of the module call it.
class Func : public Body {
 public:
  Func(Module& module, const FuncSpec& spec, SourceLocation at = SourceLocation::current());

  /// A parameter, which is a register.
  template <Type T>
  Reg<T> param(const write::Name& name) {
    return {*builder_, parameter(name, T)};
  }
  /// `mov` of the results to where the caller finds them, and `ret;`.
  template <Type... T>
  void return_(const Reg<T>&... results) {
    give({write::Value::of(results.untyped())...}, SourceLocation{});
  }
  /// The same, with the author's line.
  template <Type T>
  void return_(const Reg<T>& result, SourceLocation at = SourceLocation::current()) {
    give({write::Value::of(result.untyped())}, at);
  }
  [[nodiscard]] const write::Callee& callee() const { return callee_; }

 private:
  write::Reg parameter(const write::Name& name, Type type);
  void give(const std::vector<write::Value>& results, SourceLocation at);

  write::Callee callee_;
  std::vector<std::string> names_;
  std::vector<write::Reg> params_;
};

}  // namespace ptx
