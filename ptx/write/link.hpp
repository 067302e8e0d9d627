// One module joined to another: everything that it declares comes behind what is there. Internal to the room.
#pragma once

#include "ptx/ir/ir.hpp"

namespace ptx::write {

/// Appends what `from` declares, in its order, to `into`. An `extern` variable that is there already is not declared again: it
/// gets the larger alignment of the two.
void append(ir::Module& into, const ir::Module& from);

/// Declares the functions that are called before they are defined: in front of the first function of the module, which has all
/// its items placed.
void declare_ahead(ir::Module& module);

/// What a call sees of a function: `.func (.reg .f32 %result) f (.reg .f32 %x);`
ir::Function declaration_of(const ir::Function& function);

}  // namespace ptx::write
