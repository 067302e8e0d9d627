// What a module and its functions declare: the header, registers, variables, shared and constant memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// The header: is this a version of PTX, does it know the target, do the target's options fit together?
void check_header(Report& report);
/// True when `.target` has this word: "debug".
bool has_option(const ir::Module& module, std::string_view option);

/// Where a declaration stands: what is allowed differs.
enum class Level : std::uint8_t { module, body };

/// Declares a variable at a place, with its attributes and initialiser.
void declare_variable(Report& report, Names& names, const ir::Variable& variable, std::uint32_t index, Level level,
                      ir::WhereId where);
/// Declares registers.
void declare_registers(Report& report, Names& names, const ir::Function& function, std::uint32_t index, ir::WhereId where);

// What every declaration is held to; `what` begins the message: "the parameter `x`".
void check_name(Report& report, ir::WhereId where, std::string_view what, std::string_view name);
void check_alignment(Report& report, ir::WhereId where, const std::string& what, std::uint32_t align);
void check_type(Report& report, ir::WhereId where, const std::string& what, Type type);
/// A vector of these is no wider than the 16 bytes that a vector may have.
void check_vector(Report& report, ir::WhereId where, const std::string& what, Type type, unsigned vector);
/// Adds a name to the open scope or reports what has it already.
void declare(Report& report, Names& names, ir::WhereId where, const Entity& entity);

/// Reports `what`, "`.noreturn`", when the module's version or target does not have it.
void check_availability(Report& report, ir::WhereId where, const std::string& what, Version since, isa::TargetSet on);

/// Static shared memory of every entry: what it and those that it calls declare, and what of the module's they name.
void check_shared_memory(Report& report);
/// The constant variables of the module and its functions fit the constant bank, its global variables a GPU's memory, and the
/// local variables that a function names a thread's.
void check_declared_memory(Report& report);

/// The most bytes of static shared memory that ptxas gives a kernel for this target. More than that must be dynamic.
std::uint64_t static_shared_limit(Target target);

/// The texture, sampler and surface types of variables and parameters.
inline bool is_opaque(Type type) {
  const std::string_view word = isa::name(type);
  return word == "texref" || word == "samplerref" || word == "surfref";
}

}  // namespace ptx::check
