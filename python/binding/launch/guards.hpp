// Guards: whether what a kernel's body reads beyond its arguments is still what it was when the kernel was traced.
#pragma once

#include <nanobind/nanobind.h>

namespace ptx::python {

/// The first guard of `guards` that does not hold any more, as its number; -1 when all hold, -2 with a Python error.
/// `guards` is a tuple: a function (see below), then four objects a guard: its kind (an int, see `guard_kinds`), an owner, a key,
/// and what was found there:
///
///     item        owner (a dict) has `found` under `key`
///     missing     owner (a dict) has no `key`
///     cell        owner (a closure's cell) holds `found`
///     code, defaults, kwdefaults   a function's
///     list        owner (a list) has the items of `found`, a tuple
///     dict        owner (a dict) has the keys and values of `found`, a tuple of both in turns
///     attribute   `getattr(owner, key)` is `found`
///     class       owner (a class) has `found` under `key`, itself, not by a base
///     value       the function, called with owner and key, gives what equals `found`
///
/// All but the last compare by identity, in nanoseconds: what is equal but another object is for Python to judge.
Py_ssize_t changed_guard(PyObject* guards);
/// Whether an object is such a tuple, and its owners are what their kinds say.
bool is_guards(PyObject* object);

void bind_guards(nanobind::module_& m);

}  // namespace ptx::python
