// What the bindings of copies and of warp matrices share: the arguments of a call, and the definition of a helper.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "places.hpp"

namespace ptx::python {

/// The arguments of one call of a helper, converted; `pred` is its guard.
class Call {
 public:
  Call(std::string helper, nb::handle pred)
      : helper_(std::move(helper)),
        trace_(Trace::require(helper_.c_str())),
        operands_(trace_),
        guard_(guard_argument(trace_, pred)) {}

  write::Builder& builder() { return trace_.builder(); }
  [[nodiscard]] const write::Guard& guard() const { return guard_; }
  write::Guard guard_of(nb::handle object) { return guard_argument(trace_, object); }
  Where where() { return trace_.where(); }
  write::Place place(nb::handle object) { return place_argument(trace_, operands_, object, helper_.c_str()); }
  std::optional<write::Place> optional_place(nb::handle object) {
    return object.is_none() ? std::nullopt : std::optional(place(object));
  }
  write::Value value(nb::handle object) { return operands_.value(object); }
  std::optional<write::Value> optional(nb::handle object) {
    return object.is_none() ? std::nullopt : std::optional(value(object));
  }
  /// A tensor map: the register of `tma_desc()`, a tensor of the kernel (the same register), a name, or one of them as an
  /// address.
  write::Value map(nb::handle object) {
    if (const Address* address = as<Address>(object); address != nullptr && address->offset.is_none()) return map(address->base);
    if (const TensorSpec* tensor = as<TensorSpec>(object); tensor != nullptr && has_param(tensor->name))
      return value(object.attr("tma_desc")());
    const write::Value map = value(object);
    if (map.kind != write::Value::Kind::reg && map.kind != write::Value::Kind::symbol)
      refuse("the tensor map", object, "the register of `tma_desc()`, a tensor, or a name");
    return map;
  }
  /// The elements of a tuple, a list or an array of registers; none of None.
  std::span<const write::Value> values(nb::handle object) {
    if (object.is_none()) return {};
    nb::object list = nb::borrow(object);
    if (PyTuple_Check(object.ptr())) list = nb::list(list);
    if (!PyList_Check(list.ptr()) && as<RegArray>(list) == nullptr)
      refuse("the coordinates", object, "a tuple of registers and numbers");
    return value(list).parts;
  }

  /// Raises: "the shape of `ptx.mma.sync`: the int `5` is given; what fits is …".
  [[noreturn]] void refuse(std::string_view what, nb::handle seen, std::string_view fits) {
    raise(Kind::operand_mismatch, cat(what, " of `", helper_, "`: ", describe(seen), " is given; what fits is ", fits), where());
  }

 private:
  bool has_param(std::string_view name) {
    const std::vector<ir::Param>& params = builder().function().params;
    return std::any_of(params.begin(), params.end(), [&](const ir::Param& p) { return builder().module().str(p.name) == name; });
  }

  std::string helper_;
  Trace& trace_;
  Operands operands_;
  write::Guard guard_;
};

/// Defines a helper whose last argument is `pred`.
template <class Space, class Function, class... Args>
void method(Space& space, const std::string& name, std::string_view parameters, const char* doc, Function function,
            const Args&... args) {
  const std::string signature = cat("def ", name, '(', parameters, ", pred: Reg | NegPred | None = None) -> None");
  space.def(name.c_str(), function, args..., nb::arg("pred").none() = nb::none(), nb::sig(signature.c_str()), doc);
}
inline auto or_none(const char* name) { return nb::arg(name).none() = nb::none(); }
inline auto any(const char* name) { return nb::arg(name).none(); }

// Objects of Python that can be called themselves (bind_tensor_copies.cpp).
struct TensorSpace {};  ///< ptx.cp.async_.bulk.tensor
struct TensorCopies {   ///< ptx.cp.async_.bulk.tensor_2d
  int rank;
};
struct TensorReductions {  ///< ptx.cp.reduce.async_.bulk.tensor_2d
  int rank;
};

/// Their classes, and `ptx.tma`.
void bind_tensor_copies(nb::module_& m);

/// An attribute of the class for each rank: `tensor_1d` to `tensor_5d`.
template <class Copies>
void add_ranks(nb::handle space) {
  for (int rank = 1; rank <= 5; ++rank) space.attr(cat("tensor_", rank, 'd').c_str()) = Copies{rank};
}

}  // namespace ptx::python
