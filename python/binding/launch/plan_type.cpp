// `pyptx._ptx.Plan`: what a kernel's call comes down to. A C type with vectorcall, since every nanosecond here is paid at every
// launch; it takes torch tensors on the fast path, and everything else on a careful one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/binding/base/author.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/launch/image_handle.hpp"
#include "python/binding/launch/plan.hpp"

namespace ptx::python {
namespace {

struct PlanObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  alignas(PlanState) std::byte state[sizeof(PlanState)];  // a PlanState from plan_new to plan_dealloc
};

PlanState& state_of(PyObject* self) {
  return *std::launder(reinterpret_cast<PlanState*>(reinterpret_cast<PlanObject*>(self)->state));
}

/// Runs `body`; what it throws becomes the Python error.
template <class Body>
PyObject* guarded(Body body) noexcept {
  try {
    return body();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a plan is given values of the wrong type");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

using Scalars = std::vector<std::optional<std::uint64_t>>;

Scalars scalars_of(nb::handle bits) { return nb::cast<Scalars>(bits); }

PyObject* plan_call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PlanState& state = state_of(self);
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    Scalars scalars;
    PyObject* out = nullptr;
    if (keywords != nullptr) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); ++i) {
        PyObject* const keyword = PyTuple_GET_ITEM(keywords, i);
        PyObject* const value = args[count + static_cast<std::size_t>(i)];
        if (PyUnicode_CompareWithASCIIString(keyword, "out") == 0) {
          out = value;
          continue;
        }
        if (PyUnicode_CompareWithASCIIString(keyword, "scalars") != 0) {
          PyErr_Format(PyExc_TypeError, "the plan of kernel `%s` takes tensors, `out` and `scalars`, not the keyword %R",
                       state.signature().kernel().c_str(), keyword);
          return nullptr;
        }
        scalars = scalars_of(value);
      }
    }
    if (PyObject* result = state.call_fast(args, count, scalars, out)) return result;
    if (PyErr_Occurred() != nullptr) return nullptr;
    return state.call_carefully(self, args, count, scalars, out);
  });
}

template <class T>
std::vector<T> items_of(nb::handle sequence) {
  std::vector<T> items;
  for (const nb::handle item : sequence) items.push_back(nb::cast<T>(item));
  return items;
}

PyObject* plan_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"name", "inputs", "outputs", "arguments", "specialise", "dims", nullptr};
  PyObject *name = nullptr, *inputs = nullptr, *outputs = nullptr, *arguments = nullptr, *specialise = nullptr, *dims = nullptr;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "UOOOO|O!:Plan", const_cast<char**>(names), &name, &inputs, &outputs, &arguments,
                                  &specialise, &PyDict_Type, &dims) == 0) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    tile::Env fixed;
    if (dims != nullptr) fixed = nb::cast<tile::Env>(nb::handle(dims));
    auto signature = unwrap(launch::Signature::make(nb::cast<std::string>(nb::handle(name)), items_of<Tile>(inputs),
                                                    items_of<Tile>(outputs), items_of<std::string>(arguments), std::move(fixed)));
    if (signature.inputs().size() + signature.outputs().size() > max_plan_tensors) {
      raise(Kind::argument_count, cat("kernel `", signature.kernel(), "` has more than ", max_plan_tensors, " tensors"),
            authors_line());
    }
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    auto* plan = reinterpret_cast<PlanObject*>(self);
    new (plan->state) PlanState(std::move(signature), nb::borrow(specialise));
    plan->vectorcall = plan_call;
    return self;
  });
}

int plan_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(state_of(self).specialise().ptr());
  return 0;
}

int plan_clear(PyObject* self) {
  state_of(self).specialise() = nb::none();
  return 0;
}

void plan_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  std::destroy_at(&state_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* plan_bind(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count != 1 && count != 2) {
    PyErr_Format(PyExc_TypeError, "`Plan.bind` takes specs and perhaps scalars; %zd arguments are given", count);
    return nullptr;
  }
  return guarded([&] {
    const Scalars scalars = count == 2 ? scalars_of(args[1]) : Scalars();
    return state_of(self).bind(args[0], scalars).release().ptr();
  });
}

PyObject* plan_again(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count < 2) {
    PyErr_Format(PyExc_TypeError, "`Plan.again` takes scalars, ways and tensors; %zd arguments are given", count);
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const Scalars scalars = scalars_of(args[0]);
    if (PyObject* result = state_of(self).call_again(args + 2, static_cast<std::size_t>(count - 2), scalars, args[1]))
      return result;
    if (PyErr_Occurred() != nullptr) return nullptr;
    Py_RETURN_NONE;
  });
}

PyObject* plan_name(PyObject* self, void*) {
  const std::string& name = state_of(self).signature().kernel();
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

/// A getter of the signature: what `of` makes of it.
template <auto of>
PyObject* plan_get(PyObject* self, void*) {
  return guarded([&] { return nb::object(of(state_of(self))).release().ptr(); });
}
constexpr auto tuple_of_tiles = [](const std::vector<Tile>& tiles) {
  nb::list all;
  for (const Tile& tile : tiles) all.append(tile);
  return nb::tuple(all);
};
constexpr auto inputs_of = [](PlanState& state) { return tuple_of_tiles(state.signature().inputs()); };
constexpr auto outputs_of = [](PlanState& state) { return tuple_of_tiles(state.signature().outputs()); };
constexpr auto dims_of = [](PlanState& state) { return nb::cast(state.signature().fixed()); };
constexpr auto specialise_of = [](PlanState& state) { return state.specialise(); };
constexpr auto arguments_of = [](PlanState& state) {
  nb::list all;
  for (const std::string& name : state.signature().names()) all.append(name);
  return nb::tuple(all);
};

PyObject* plan_size(PyObject* self, void*) { return PyLong_FromSize_t(state_of(self).plan().size()); }

PyObject* plan_repr(PyObject* self) {
  return PyUnicode_FromFormat("<plan of kernel %s>", state_of(self).signature().kernel().c_str());
}

PyMemberDef plan_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PlanObject, vectorcall), READONLY, nullptr}, {}};
PyMethodDef plan_methods[] = {
    {"again", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(plan_again)), METH_FASTCALL,
     "again($self, scalars, ways, /, *tensors)\n--\n\n"
     "A call with plain torch tensors like those of the last call, none of which needs a gradient, all 16 bytes aligned; None\n"
     "where they are others. `ways` is None, or for each tensor None or the shape and strides that it is taken by."},
    {"bind", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(plan_bind)), METH_FASTCALL,
     "bind($self, specs, scalars=(), /)\n--\n\n"
     "The Image for tensors of these (shape, dtype name) pairs with these scalars, and its outputs as such pairs. Raises as a\n"
     "call does."},
    {}};
PyGetSetDef plan_getters[] = {
    {"name", plan_name, nullptr, "The kernel's name.", nullptr},
    {"inputs", plan_get<inputs_of>, nullptr, "The inputs' tiles.", nullptr},
    {"outputs", plan_get<outputs_of>, nullptr, "The outputs' tiles.", nullptr},
    {"dims", plan_get<dims_of>, nullptr, "Sizes of dimensions that are given by name.", nullptr},
    {"arguments", plan_get<arguments_of>, nullptr, "The tensors' names, inputs first.", nullptr},
    {"specialise", plan_get<specialise_of>, nullptr, "What makes its images.", nullptr},
    {"specialisations", plan_size, nullptr, "How many sets of shapes it has been called with.", nullptr},
    {}};

PyType_Slot plan_slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "Plan(name, inputs, outputs, arguments, specialise, dims={})\n--\n\n"
         "A kernel, ready for tensors: the tiles of its inputs and outputs, all their names, and a function that makes the\n"
         "Image for a dict of dimensions. Called with tensors, it runs the kernel and gives back its outputs; `scalars=` are "
         "the\n"
         "bits of the kernel's scalar parameters, None for those that the Image has; `out=` is the tensor, or a tuple of them,\n"
         "that the outputs are written to.")},
    {Py_tp_new, reinterpret_cast<void*>(plan_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(plan_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(plan_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(plan_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(plan_repr)},
    {Py_tp_members, plan_members},
    {Py_tp_methods, plan_methods},
    {Py_tp_getset, plan_getters},
    {0, nullptr},
};
nb::handle plan_type;  // immutable, and kept by the module

PyType_Spec plan_spec = {"pyptx._ptx.Plan", sizeof(PlanObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
                         plan_slots};

}  // namespace

PlanState* plan_state(nb::handle object) {
  const bool is_plan = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == plan_type.ptr();
  return is_plan ? &state_of(object.ptr()) : nullptr;
}

void add_plan_type(nb::module_& m) {
  const nb::object type = nb::steal(PyType_FromModuleAndSpec(m.ptr(), &plan_spec, nullptr));
  if (!type.is_valid()) throw nb::python_error();
  plan_type = type;
  m.attr("Plan") = type;
}

}  // namespace ptx::python
