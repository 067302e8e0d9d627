// Arguments that the helpers of wgmma and tcgen05 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "errors.hpp"
#include "places.hpp"

namespace ptx::python {

/// An array, a list or a tuple of registers; `what` names the argument in the error.
std::vector<write::Reg> registers_argument(Trace& trace, nb::handle object, const char* what);

/// A predicate, `~predicate`, a 32-bit register, or a bool or int: what write::idiom::enable_predicate takes.
write::Value enable_argument(Trace& trace, Operands& operands, nb::handle object, const char* what);

/// A number of bytes: an int, or an integer register.
write::Value bytes_argument(Trace& trace, Operands& operands, nb::handle object, const char* what);

/// The place of a matrix in shared memory, for a descriptor: like place_argument, but a part of the dynamic array is named by its
/// symbol and its whole offset, and no instruction is written.
write::Place matrix_place(Trace& trace, Operands& operands, nb::handle object, const char* what);

/// An int of 64 bits, as the bits of an unsigned one if it is not negative.
std::uint64_t bits_argument(Trace& trace, nb::handle object, const char* what);

/// A word: a str, or a PtxType's name.
std::string word_argument(Trace& trace, nb::handle object, const char* what);

/// What the core refuses, with the author's line.
template <class T>
T unwrap_at(Where where, Expected<T> expected) {
  if (expected) return std::move(*expected);
  Diagnostic d = std::move(expected).error();
  if (!d.where.known()) d.where = where;
  raise(d);
}

}  // namespace ptx::python
