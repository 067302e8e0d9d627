#include "python/binding/torch/torch_layout.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace ptx::python {

namespace nb = nanobind;

namespace {

/// How far into torch's objects is looked.
constexpr std::size_t max_bytes = 208;

std::uintptr_t number(nb::handle of) { return nb::cast<std::uintptr_t>(of); }

/// An object of torch's on the heap.
struct Object {
  const char* begin = nullptr;
  std::size_t bytes = 0;

  explicit Object(nb::handle of)
      : begin(reinterpret_cast<const char*>(number(of.attr("_cdata")))),
        bytes(std::min(max_bytes, ::malloc_usable_size(const_cast<char*>(begin)))) {}
  template <class T>
  [[nodiscard]] bool has(std::size_t offset, const T& value) const {
    return offset + sizeof value <= bytes && std::memcmp(begin + offset, &value, sizeof value) == 0;
  }
};

/// One tensor whose contents are known, and where torch keeps it.
struct Known {
  nb::object tensor, held = tensor.attr("untyped_storage")();
  Object impl = Object(tensor), storage = Object(held);
  explicit Known(nb::object made) : tensor(std::move(made)) {}
};

/// While it lives, torch makes plain tensors: no mode sees them, and autograd knows them.
class PlainTensors {
 public:
  PlainTensors() : stack_(nb::module_::import_("contextlib").attr("ExitStack")()) {
    const nb::object enter = stack_.attr("enter_context");
    enter(nb::module_::import_("torch.utils._python_dispatch").attr("_disable_current_modes")());
    enter(nb::module_::import_("torch").attr("inference_mode")(false));
  }
  ~PlainTensors() {
    try {
      stack_.attr("close")();
    } catch (nb::python_error&) {
    }
  }
  PlainTensors(const PlainTensors&) = delete;
  PlainTensors& operator=(const PlainTensors&) = delete;

 private:
  nb::object stack_;
};

/// The only offset, a multiple of `step`, at which `is` holds of all of them; nothing when there are none or several.
template <class Is>
std::optional<std::size_t> only_offset(const std::vector<Known>& all, std::size_t step, Is is) {
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at < max_bytes; at += step) {
    bool fits = true;
    for (const Known& known : all) fits = fits && is(known, at);
    if (!fits) continue;
    if (found) return std::nullopt;
    found = at;
  }
  return found;
}

}  // namespace

TorchLayout TorchLayout::find(nb::handle torch, std::size_t impl_offset) {
  TorchLayout layout;
  layout.in_python_ = impl_offset;
  try {
    const PlainTensors plain;
    const auto make = [&](const char* dtype, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t first) {
      const nb::object flat =
          torch.attr("empty")(a * b * c + first, nb::arg("dtype") = torch.attr(dtype), nb::arg("device") = "cpu");
      return Known(flat.attr("as_strided")(nb::make_tuple(a, b, c), nb::make_tuple(b * c, c, 1), first));
    };
    const std::vector<Known> all{make("float32", 7, 13, 29, 101), make("float16", 11, 5, 31, 211), make("int64", 3, 37, 9, 307),
                                 make("uint8", 17, 4, 23, 401)};
    const std::int64_t shapes[][4] = {{7, 13, 29, 101}, {11, 5, 31, 211}, {3, 37, 9, 307}, {17, 4, 23, 401}};
    const std::uint16_t types[] = {6, 5, 4, 0};  // c10::ScalarType
    const auto index_of = [&](const Known& known) { return static_cast<std::size_t>(&known - all.data()); };

    const auto sizes = only_offset(all, 8, [&](const Known& known, std::size_t at) {
      const auto& [a, b, c, first] = shapes[index_of(known)];
      return known.impl.has(at, std::array<std::int64_t, 4>{3, a, b, c}) &&
             known.impl.has(at + 8 * (1 + max_rank), std::array<std::int64_t, 3>{b * c, c, 1});
    });
    const auto first =
        only_offset(all, 8, [&](const Known& known, std::size_t at) { return known.impl.has(at, shapes[index_of(known)][3]); });
    const auto storage =
        only_offset(all, 8, [&](const Known& known, std::size_t at) { return known.impl.has(at, known.storage.begin); });
    const auto keys = only_offset(all, 8, [&](const Known& known, std::size_t at) {
      const nb::object set = nb::module_::import_("torch").attr("_C").attr("_dispatch_keys")(known.tensor);
      return known.impl.has(at, nb::cast<std::uint64_t>(set.attr("raw_repr")()));
    });
    // The type is a number of two bytes; behind it stands the device: kind, number and that there is one.
    const auto type = only_offset(all, 2, [&](const Known& known, std::size_t at) {
      return known.impl.has(at, types[index_of(known)]) && known.impl.has(at + 2, std::array<std::int8_t, 3>{0, -1, 1});
    });
    // The owner of the memory may have the memory's address, and stands behind it.
    std::optional<std::size_t> data;
    for (std::size_t at = 0; !data && at < max_bytes; at += 8) {
      const auto is_data = [&](const Known& known) { return known.storage.has(at, number(known.held.attr("data_ptr")())); };
      if (std::all_of(all.begin(), all.end(), is_data)) data = at;
    }
    if (!sizes || !first || !storage || !keys || !type || !data) return layout;
    layout.sizes_ = *sizes;
    layout.first_ = *first;
    layout.storage_ = *storage;
    layout.keys_ = *keys;
    layout.type_ = *type;
    layout.device_ = *type + 2;
    layout.data_ = *data;
    layout.cpu_keys_ = at<std::uint64_t>(all[0].impl.begin, *keys);
    static constexpr std::pair<std::string_view, std::size_t> read[] = {{"uint8", 0},   {"int8", 1},    {"int16", 2},
                                                                        {"int32", 3},   {"int64", 4},   {"float16", 5},
                                                                        {"float32", 6}, {"float64", 7}, {"bfloat16", 15}};
    for (const auto& [name, of] : read)
      if (const auto element = launch::element_type_from_name(name)) layout.types_[of] = *element;
    layout.available_ = true;
  } catch (nb::python_error&) {  // another torch: it is asked
  } catch (const nb::cast_error&) {
  }
  return layout;
}

void TorchLayout::meet_gpu(nb::handle torch, PyObject* tensor) const noexcept {
  if (!available_ || gpu_keys_.load(std::memory_order_relaxed) != 0) return;
  try {
    const PlainTensors plain;
    const nb::object fresh = torch.attr("empty")(1, nb::arg("device") = nb::handle(tensor).attr("device"));
    const auto* const impl = reinterpret_cast<const char*>(number(fresh.attr("_cdata")));
    const auto ordinal = nb::cast<int>(fresh.attr("get_device")());
    constexpr std::int8_t cuda = 1;  // c10::DeviceType
    if (at<std::int8_t>(impl, device_) == cuda && at<std::int8_t>(impl, device_ + 1) == ordinal)
      gpu_keys_.store(at<std::uint64_t>(impl, keys_), std::memory_order_relaxed);
  } catch (nb::python_error&) {
  } catch (const nb::cast_error&) {
  }
}

}  // namespace ptx::python
