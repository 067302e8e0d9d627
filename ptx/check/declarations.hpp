// What a module and its functions declare: header, registers, variables, parameters, directives, shared memory.
#pragma once

#include <cstdint>

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// The header: does the version know the target?
void check_header(Report& report);

/// Where a declaration stands: what is allowed differs.
enum class Level : std::uint8_t { module, body };

/// Declares a variable; `item` is the item of the body that places it, nullptr for one that no item does.
void declare_variable(Report& report, Names& names, const ir::Variable& variable, std::uint32_t index, Level level,
                      const ir::Function* function = nullptr, const ir::Inst* item = nullptr);
/// Declares registers; `item` as above.
void declare_registers(Report& report, Names& names, const ir::Function& function, std::uint32_t index,
                       const ir::Inst* item = nullptr);
/// Declares the parameters, checks their total size and the directives behind them.
void check_signature(Report& report, Names& names, const ir::Function& function);
/// Static shared memory: what the function declares and what of the module's it names.
void check_shared_memory(Report& report, const ir::Function& function);

/// The most bytes of static shared memory that ptxas gives a kernel for this target. More than that must be dynamic.
std::uint64_t static_shared_limit(Target target);

}  // namespace ptx::check
