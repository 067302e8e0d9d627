// `pyptx._ptx.node_table`: launches for autograd nodes that are compiled against the torch at hand.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ptx/launch/call.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"
#include "python/binding/launch/call_libraries.hpp"
#include "python/binding/launch/plan.hpp"
#include "python/pyptx/torch_support/cpp/table.hpp"

namespace ptx::python {
namespace {

struct NodeLaunch {
  nb::object kept;  // whose state `plan` is
  launch::Plan* plan;
  std::vector<std::optional<std::uint64_t>> scalars;
};

/// Called without the GIL, unlike Python's other libraries.
class NodeLibrary : public launch::CallLibrary {
 public:
  NodeLibrary(std::span<const launch::Output> outputs, nodes::Caller& caller) : outputs_(outputs), caller_(caller) {}

  Expected<void*> allocate(std::size_t index) {
    const launch::Output& output = outputs_[index];
    void* made =
        caller_.allocate(static_cast<std::uint32_t>(index), output.shape.data(), static_cast<std::int32_t>(output.shape.size()),
                         {output.dtype.code, output.dtype.bits, output.dtype.lanes});
    if (made == nullptr && output.bytes != 0) return refuse(Kind::argument_memory, "there is no memory for an output");
    return made;
  }
  [[nodiscard]] static Expected<launch::TensorView> given(std::size_t /*output*/) {
    return refuse(Kind::internal, "a node's launch gives no outputs");
  }
  [[nodiscard]] static Expected<cuda::api::Stream> stream(int ordinal) { return TorchBridge::ready()->stream(ordinal); }
  static launch::Cpu cpu() { return PythonLibrary::cpu(); }
  static void loading() {
    const nb::gil_scoped_acquire locked;
    PythonLibrary::loading();
  }
  static Expected<void> loaded(const launch::KernelImage& image, Expected<void> ready) {
    const nb::gil_scoped_acquire locked;
    return PythonLibrary::loaded(image, std::move(ready));
  }

 private:
  std::span<const launch::Output> outputs_;
  nodes::Caller& caller_;
};

void* make_launch(void* plan, void* scalars) {
  try {
    PlanState* state = plan_state(static_cast<PyObject*>(plan));
    const TorchBridge* torch = TorchBridge::find();
    if (state == nullptr || torch == nullptr || !torch->has_exchange()) {
      PyErr_SetString(PyExc_TypeError, "a node launches a Plan, beside a torch that says its stream");
      return nullptr;
    }
    return new NodeLaunch{
        .kept = nb::borrow(static_cast<PyObject*>(plan)),
        .plan = &state->plan(),
        .scalars = nb::cast<std::vector<std::optional<std::uint64_t>>>(nb::handle(static_cast<PyObject*>(scalars)))};
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "the scalars of a launch are numbers or None");
  }
  return nullptr;
}

void release_launch(void* launch) { delete static_cast<NodeLaunch*>(launch); }  // NOLINT: its owner is on the table's other side

bool run_for_node(const NodeLaunch& wanted, std::span<const nodes::Tensor> inputs, nodes::Caller& caller) {
  std::array<launch::TensorView, max_plan_tensors> room;
  if (inputs.empty() || inputs.size() != wanted.plan->signature().inputs().size()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const nodes::Tensor& from = inputs[i];
    launch::TensorView& to = room[i];
    to.data = from.data;
    to.dtype = {from.type.code, from.type.bits, from.type.lanes};
    to.rank = from.rank;
    to.shape = from.sizes;
    to.strides = from.strides;
    if (from.gpu >= 0) to.device = {launch::DeviceId::Kind::cuda, from.gpu};
  }
  const std::span<const launch::TensorView> views(room.data(), inputs.size());
  const auto found = wanted.plan->get(views);
  if (!found || !(*found)->changed.empty()) return false;
  NodeLibrary library((*found)->outputs, caller);
  const launch::Call call{.plan = *wanted.plan, .specialisation = **found, .inputs = views, .scalars = wanted.scalars};
  return static_cast<bool>(launch::run(call, library));
}

bool launch_for_node(const void* launch, const nodes::Tensor* inputs, std::uint32_t count, nodes::Caller* caller) noexcept {
  bool ran = false;
  try {
    ran = run_for_node(*static_cast<const NodeLaunch*>(launch), {inputs, count}, *caller);
  } catch (nb::python_error& error) {
    const nb::gil_scoped_acquire locked;
    error.discard_as_unraisable("a launch of an autograd node");
  } catch (...) {  // it is tried once more by Python, which says what it is
  }
  if (!ran) {  // what an image's making left set
    const nb::gil_scoped_acquire locked;
    PyErr_Clear();
  }
  return ran;
}

constexpr nodes::Table node_table{nodes::table_version, make_launch, release_launch, launch_for_node};

}  // namespace

void bind_node_launches(nb::module_& m) { m.attr("node_table") = nb::capsule(&node_table, nodes::table_name); }

}  // namespace ptx::python
