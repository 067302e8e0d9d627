#include "ptx/write/module.hpp"

#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/module_state.hpp"

namespace ptx {
namespace write {

Expected<ir::Module> ModuleState::link(std::span<const ir::Module* const> kernels) {
  if (failure) return Unexpected{*failure};
  for (Open& function : open) {
    if (function.finished) {
      // its text is in a module that was handed out
      if (const Diagnostic* late = function.builder->failure()) return Unexpected{*late};
      continue;
    }
    Expected<ir::Module> module = function.builder->finish();
    if (!module) return Unexpected{std::move(module).error()};
    parts.define(function.number, std::move(*module));
    function.finished = true;
  }
  return parts.link(kernels);
}

std::vector<Reg> write_call(Builder& builder, const CallOf& function, std::span<const Value> arguments) {
  Expected<std::vector<Reg>> results = call(builder, function.function.callee(), arguments, {}, function.at);
  if (results) return *std::move(results);
  builder.fail(std::move(results).error());
  return {};
}

}  // namespace write

Module::Module(const ModuleSpec& spec) : state_(std::make_shared<write::ModuleState>(spec.arch, spec.version)) {}

Addr<Type::none> Module::var(const write::VariableSpec& spec, SourceLocation at) {
  state_->keep(state_->parts.variable(spec, at));
  return addr(std::string_view(*state_->names.insert(spec.name).first));
}
void Module::pragma(const write::Name& text) { state_->keep(state_->parts.pragma(text.text, text.at)); }
void Module::alias(const write::Name& name, std::string_view function) {
  state_->keep(state_->parts.alias(name.text, function, name.at));
}
void Module::section(const write::Name& name, std::string_view lines) {
  state_->keep(state_->parts.section(name.text, lines, name.at));
}
void Module::append(const ir::Module& parsed, SourceLocation at) { state_->keep(state_->parts.append(parsed, at)); }
write::ModuleBuilder& Module::parts() { return state_->parts; }
void Module::fail(Diagnostic diagnostic) { state_->fail(std::move(diagnostic)); }

Expected<ir::Module> Module::link_all(const std::vector<ir::Module>& kernels) {
  std::vector<const ir::Module*> all;
  for (const ir::Module& kernel : kernels) all.push_back(&kernel);
  return state_->link(all);
}

namespace {

Owned<write::Held> function_builder(const write::ModuleState& module, const FuncSpec& spec) {
  write::KernelHeader header;
  header.name = spec.name;
  header.target = module.parts.target();
  header.version = module.parts.version();
  header.directives = spec.raw_directives;
  header.is_entry = false;
  header.linkage = ir::Linkage::none;
  header.module_names = module.parts.names();
  return Owned<write::Held>::make(write::Held{std::make_shared<write::Builder>(std::move(header)), nullptr});
}

}  // namespace

Func::Func(Module& module, const FuncSpec& spec, SourceLocation at)
    : Body(function_builder(*module.state(), spec)), callee_{spec.name, spec.returns, {}, module.state().get()} {
  write::ModuleState& state = *module.state();
  builder_->set_owner(&state);
  const Expected<std::size_t> number = state.parts.declare(spec.name, at);
  if (!number) {
    state.fail(number.error());
    return;
  }
  state.open.push_back({*number, held_->builder});
  const bool one = spec.returns.size() == 1;
  for (std::size_t i = 0; i < spec.returns.size(); ++i)
    if (auto made = builder_->function_result(spec.returns[i], one ? "result" : cat("result", i, '_'), at); !made)
      builder_->fail(std::move(made).error());
  for (const ScalarSpec& param : spec.params) {
    callee_.params.push_back(param.type);
    names_.push_back(param.name);
    params_.push_back(write::keep_error(*builder_, builder_->function_param(param.type, param.name, at), Type::b32));
  }
}

write::Reg Func::parameter(const write::Name& name, Type type) {
  const auto it = std::find(names_.begin(), names_.end(), name.text);
  const auto fail = [&](Kind kind, std::string message) {
    Diagnostic d;
    d.kind = kind;
    d.message = std::move(message);
    d.where = name.at;
    builder_->fail(std::move(d));
    return write::keep_error(*builder_, builder_->reg(type), type);
  };
  if (it == names_.end())
    return fail(Kind::undefined_symbol, cat("the function has no parameter `", name.text, "`; it has ", list_choices(names_)));
  const write::Reg reg = params_[static_cast<std::size_t>(it - names_.begin())];
  if (!isa::fits(reg.type, type))
    return fail(Kind::operand_mismatch,
                cat("the parameter `", name.text, "` is .", isa::name(reg.type), ", and .", isa::name(type), " was asked for"));
  return {reg.id, type};
}

void Func::give(const std::vector<write::Value>& results, SourceLocation at) { keep(write::give_back(*builder_, results, at)); }

}  // namespace ptx
