#include "ptx/launch/tensor.hpp"

namespace ptx::launch {
namespace {

struct Entry {
  ElementType type;
  std::string_view name;
};
// dlpack.h, DLDataTypeCode: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 7 on: 8, 6 and 4 bit floats.
constexpr Entry entries[] = {
    {{0, 8}, "int8"},
    {{0, 16}, "int16"},
    {{0, 32}, "int32"},
    {{0, 64}, "int64"},
    {{1, 8}, "uint8"},
    {{1, 16}, "uint16"},
    {{1, 32}, "uint32"},
    {{1, 64}, "uint64"},
    {{2, 16}, "float16"},
    {{2, 32}, "float32"},
    {{2, 64}, "float64"},
    {{4, 16}, "bfloat16"},
    {{5, 64}, "complex64"},
    {{5, 128}, "complex128"},
    {{6, 8}, "bool"},
    {{7, 8}, "float8_e3m4"},
    {{8, 8}, "float8_e4m3"},
    {{9, 8}, "float8_e4m3b11fnuz"},
    {{10, 8}, "float8_e4m3fn"},
    {{11, 8}, "float8_e4m3fnuz"},
    {{12, 8}, "float8_e5m2"},
    {{13, 8}, "float8_e5m2fnuz"},
    {{14, 8}, "float8_e8m0fnu"},
};

}  // namespace

std::string_view numpy_name(ElementType type) {
  for (const Entry& entry : entries) {
    if (entry.type == type) return entry.name;
  }
  return {};
}

std::optional<ElementType> element_type_from_name(std::string_view numpy_name) {
  for (const Entry& entry : entries) {
    if (entry.name == numpy_name) return entry.type;
  }
  return std::nullopt;
}

std::string to_string(DeviceId device) {
  return device.kind == DeviceId::Kind::cpu ? std::string("cpu") : cat("cuda:", device.ordinal);
}

bool is_contiguous(const TensorView& tensor) {
  if (tensor.strides == nullptr || tensor.elements() == 0) return true;
  std::int64_t expected = 1;
  for (std::int32_t i = tensor.rank; i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected = multiply_dims(expected, tensor.shape[i]);
  }
  return true;
}

std::string describe(const TensorView& tensor) {
  const std::string_view known = numpy_name(tensor.dtype);
  std::string text =
      known.empty() ? cat("a type of ", tensor.dtype.bits, " bits and ", tensor.dtype.lanes, " lanes") : std::string(known);
  text += '[';
  for (std::int32_t i = 0; i < tensor.rank; ++i) text += cat(i == 0 ? "" : ", ", tensor.shape[i]);
  return text + ']';
}

std::string spell_shape(std::span<const std::int64_t> numbers) {
  std::string text = "(";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += cat(i == 0 ? "" : ", ", numbers[i]);
  return text + (numbers.size() == 1 ? ",)" : ")");
}

}  // namespace ptx::launch
