// The small objects that authors hold: types, registers, addresses. And how they are told apart from other Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/layout/layout.hpp"
#include "python/binding/authoring/trace.hpp"

namespace ptx::python {

namespace nb = nanobind;

/// `pyptx.types.f32`: one object per type.
struct PtxType {
  Type type = Type::none;
};

/// A register of a trace, or a special register, or (made by its name) a register of whichever trace uses it.
struct Reg {
  enum class Kind : std::uint8_t { traced, special, named };
  Kind kind = Kind::named;
  Type type = Type::none;
  isa::SpecialId special = 0;
  write::Reg reg;
  std::uint64_t trace = 0;  ///< Trace::id()
  std::string name;
};

/// Registers in a row. Element objects are made once, so that `a[3] is a[3]`.
struct RegArray {
  write::RegArray array;
  std::uint64_t trace = 0;  ///< Trace::id(); 0: made by its names
  std::string base;
  std::vector<nb::object> elements;
};

/// `~p`
struct NegPred {
  nb::object reg;
};

/// `d | p`
struct PipeRef {
  nb::object left, right;
};

/// `[base]`, `[base+offset]`; with a list of coordinates for an offset, `[map, {…}]`.
struct Address {
  nb::object base, offset;
};

/// What a kernel's tensor parameter is inside its body: a name, and shape and type as far as they are known.
struct TensorSpec {
  std::string name;
  nb::object shape, dtype, layout;
  std::optional<std::uint64_t> box_bytes;  ///< what one copy by its descriptor takes of shared memory, where that is known
};

/// Outside a kernel, the name that a tensor's TMA descriptor will have.
struct TmaDescriptorHandle {
  nb::object tensor;
  std::string name;
};

/// An allocation in shared memory: a variable of its own, or a part of `dyn_smem`.
struct SharedAlloc {
  std::string name;  ///< of the symbol
  Type type = Type::none;
  std::vector<std::int64_t> shape;
  nb::object swizzle;
  std::optional<layout::GmmaLayout> gmma_layout;
  std::optional<layout::Major> gmma_major;
  std::int64_t byte_offset = 0;  ///< from the symbol
  bool dynamic = false;
  std::uint64_t trace = 0;  ///< Trace::id()

  /// Bytes of one element of the first dimension: a stage.
  [[nodiscard]] std::int64_t stage_bytes() const;
  [[nodiscard]] std::uint64_t bytes() const;  ///< of all of it
};

/// `a[stage]` of an allocation.
struct SharedSlice {
  nb::object alloc;
  std::int64_t stage = 0;
};

/// `smem.mbarrier(count)`
struct MbarrierArray {
  std::string name;  ///< of the symbol
  std::int64_t count = 0, byte_offset = 0;
  bool dynamic = false;
  std::uint64_t trace = 0;

  [[nodiscard]] std::uint64_t bytes() const;
};

/// `m[i]`
struct MbarrierRef {
  nb::object array;
  std::int64_t index = 0;
};

/// `ptx.mbarrier.array(base, byte_offset, count)`: barriers 8 bytes apart at an address of the author's.
struct BarrierArray {
  nb::object base;
  std::int64_t byte_offset = 0, count = 0;
};

/// `b[i]`, or `b.at(stage)`: then `address` is the register that holds its address, computed where `at` was called.
struct BarrierSlot {
  nb::object array;
  std::int64_t index = 0;
  nb::object address;
};

/// The Python object of a type; borrowed, lives as long as the module.
nb::object type_object(Type type);
/// The type that an argument names: a PtxType; anything else raises for `what` ("reg.scalar").
Type type_argument(nb::handle value, const char* what);

/// The instance behind an object when it is exactly a T, else nullptr.
template <class T>
T* as(nb::handle object);

/// Python objects of registers.
nb::object make_reg(Trace& trace, write::Reg reg);
nb::object make_special(isa::SpecialId special);

/// The register of that name, with the type it is declared with; nothing when the trace has none.
std::optional<write::Reg> register_named(Trace& trace, std::string_view name);
/// The core's register behind a handle: of this trace and no special one, else raises.
write::Reg register_of(Trace& trace, const Reg& reg);
/// The same for any Python object; `what` says what wants a register.
write::Reg register_argument(Trace& trace, nb::handle value, const char* what);
/// Element `index`; raises IndexError.
nb::object element(RegArray& array, std::int64_t index);

namespace detail {
/// Python types of the handles, for a test that is one comparison.
template <class T>
inline PyTypeObject* python_type = nullptr;
}  // namespace detail

template <class T>
T* as(nb::handle object) {
  return Py_TYPE(object.ptr()) == detail::python_type<T> ? nb::inst_ptr<T>(object) : nullptr;
}

/// A method's object, for methods that need itself and not what it holds alone. No other object will do.
template <class T>
struct Self {
  nb::handle object;
  T* held = nullptr;
  T* operator->() const { return held; }
  T& operator*() const { return *held; }
};

}  // namespace ptx::python

template <class T>
struct nanobind::detail::type_caster<ptx::python::Self<T>> {
  NB_TYPE_CASTER(ptx::python::Self<T>, const_name("typing.Any"))
  bool from_python(handle object, std::uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    value = {object, ptx::python::as<T>(object)};
    return value.held != nullptr;
  }
};
