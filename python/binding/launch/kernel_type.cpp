// `pyptx._ptx.KernelCall`: the base of Python's `Kernel`, which makes a call of a kernel the call of its plan without a frame of
// Python between. The Python `__call__` stays where Python looks for it: Dynamo reads that one, and calls that need more than the
// plan (template parameters, the first call) go there.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <cstddef>

#include "python/binding/base/frames.hpp"
#include "python/binding/launch/guards.hpp"
#include "python/binding/launch/image_handle.hpp"
#include "python/binding/launch/plan.hpp"

namespace ptx::python {
namespace {

struct KernelCallObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* plan;    // a Plan, or whatever Python put there until there is one
  PyObject* guards;  // null, or what must still hold for the plan to be the kernel's: see guards.hpp
  bool is_plan;
  bool out_is_free;  // `out=` means the outputs: the kernel has no parameter of that name
};

KernelCallObject& call_of(PyObject* self) { return *reinterpret_cast<KernelCallObject*>(self); }

/// False with or without a Python error.
bool guards_hold(const KernelCallObject& kernel) {
  if (kernel.guards == nullptr) return true;
  PyObject* const guards = Py_NewRef(kernel.guards);  // another thread may put others there
  const Py_ssize_t changed = changed_guard(guards);
  Py_DECREF(guards);
  return changed == -1;
}

PyObject* call_in_python(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  PyObject* method = PyObject_GetAttrString(self, "__call__");
  if (method == nullptr) return nullptr;
  PyObject* result = PyObject_Vectorcall(method, args, flags & ~PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
  Py_DECREF(method);
  if (result == nullptr) drop_our_frames();
  return result;
}

PyObject* kernel_call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* keywords) {
  const KernelCallObject& kernel = call_of(self);
  // Who gives the class or a derived one another `__call__` changes its tp_call with it.
  if (kernel.is_plan && Py_TYPE(self)->tp_call == PyVectorcall_Call) [[likely]] {
    const Py_ssize_t count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    if (count == 0 ||
        (count == 1 && kernel.out_is_free && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "out") == 0)) {
      if (!guards_hold(kernel)) [[unlikely]]
        return PyErr_Occurred() != nullptr ? nullptr : call_in_python(self, args, flags, keywords);
      PyObject* plan = Py_NewRef(kernel.plan);  // another thread may put another one there
      PyObject* result = PyObject_Vectorcall(plan, args, flags, keywords);
      Py_DECREF(plan);
      if (result == nullptr) drop_our_frames();
      return result;
    }
  }
  return call_in_python(self, args, flags, keywords);
}

PyObject* kernel_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  call_of(self).vectorcall = kernel_call;
  return self;
}

int kernel_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(call_of(self).plan);
  Py_VISIT(call_of(self).guards);
  return 0;
}

int kernel_clear(PyObject* self) {
  call_of(self).is_plan = false;
  Py_CLEAR(call_of(self).plan);
  Py_CLEAR(call_of(self).guards);
  return 0;
}

void kernel_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  (void)kernel_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_plan(PyObject* self, void*) { return Py_NewRef(call_of(self).plan != nullptr ? call_of(self).plan : Py_None); }

int set_plan(PyObject* self, PyObject* value, void*) {
  PyObject* const old = call_of(self).plan;
  call_of(self).plan = Py_XNewRef(value);
  call_of(self).is_plan = value != nullptr && plan_state(value) != nullptr;
  Py_XDECREF(old);
  return 0;
}

PyObject* get_guards(PyObject* self, void*) {
  return Py_NewRef(call_of(self).guards != nullptr ? call_of(self).guards : Py_None);
}

int set_guards(PyObject* self, PyObject* value, void*) {
  if (value == Py_None) value = nullptr;
  if (value != nullptr && !is_guards(value)) {
    PyErr_SetString(PyExc_TypeError, "a kernel's guards are a function and four objects each");
    return -1;
  }
  Py_XSETREF(call_of(self).guards, Py_XNewRef(value));
  return 0;
}

PyMemberDef kernel_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(KernelCallObject, vectorcall), READONLY, nullptr},
    {"_out_is_free", T_BOOL, offsetof(KernelCallObject, out_is_free), 0, "Whether `out=` of a call means its outputs."},
    {}};
PyGetSetDef kernel_getters[] = {
    {"_plan", get_plan, set_plan, "What a call without keywords calls.", nullptr},
    {"_guards", get_guards, set_guards, "None, or what must still hold for `_plan` to be called: see `changed_guard`.", nullptr},
    {}};

PyType_Slot kernel_slots[] = {
    {Py_tp_doc, const_cast<char*>("A callable whose calls go to its `_plan` when that is a Plan, and else to its `__call__`.")},
    {Py_tp_new, reinterpret_cast<void*>(kernel_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(kernel_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(kernel_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(kernel_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, kernel_members},
    {Py_tp_getset, kernel_getters},
    {0, nullptr},
};
PyType_Spec kernel_spec = {
    "pyptx._ptx.KernelCall", sizeof(KernelCallObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    kernel_slots};

/// Undoes, for one class, what defining `__call__` in Python does to its type: the calls of its objects are the base's again.
void call_through_plan(nb::handle cls, const nb::object& base) {
  auto* const type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  if (!PyType_Check(cls.ptr()) || PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base.ptr())) == 0)
    throw nb::type_error("`call_through_plan` takes a class that is derived from `KernelCall`");
  type->tp_vectorcall_offset = offsetof(KernelCallObject, vectorcall);
  type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  type->tp_call = PyVectorcall_Call;
  PyType_Modified(type);
}

}  // namespace

void add_kernel_type(nb::module_& m) {
  const nb::object type = nb::steal(PyType_FromModuleAndSpec(m.ptr(), &kernel_spec, nullptr));
  if (!type.is_valid()) throw nb::python_error();
  m.attr("KernelCall") = type;
  m.def(
      "call_through_plan", [type](nb::handle cls) { call_through_plan(cls, type); }, nb::arg("cls"),
      nb::sig("def call_through_plan(cls: type) -> None"),
      "Makes the calls of a class derived from `KernelCall` go to the plan first, although it defines `__call__` itself.");
}

}  // namespace ptx::python
