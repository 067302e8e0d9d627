#include "ptx/launch/signature.hpp"

#include <map>

#include "ptx/layout/layout.hpp"

namespace ptx::launch {
namespace {

// The names decide; a type that has none in PTX fits the untyped bits of its width.
bool dtype_fits(Type wanted, ElementType given) {
  if (tile::dtype_matches(wanted, numpy_name(given))) return true;
  if (given.code == raw_bits) return given.bytes() == static_cast<std::size_t>(tile::element_bytes(wanted));
  return isa::kind(wanted) == isa::TypeKind::bits && given.bytes() * 8 == static_cast<std::size_t>(isa::bits(wanted));
}

std::string wrong_type(Type wanted, ElementType given, std::string_view does) {
  const std::string_view seen = numpy_name(given), name = tile::numpy_name(wanted);
  return cat("the element type is ", seen.empty() ? "unknown" : seen, "; the kernel ", does, ' ',
             name.empty() ? isa::name(wanted) : name);
}

std::string_view plural(std::size_t count) { return count == 1 ? "" : "s"; }

}  // namespace

std::string describe(const Tile& tile) {
  const std::string_view dtype = tile::numpy_name(tile.dtype());
  std::string text = cat(dtype.empty() ? isa::name(tile.dtype()) : dtype, '[');
  for (std::size_t i = 0; i < tile.rank(); ++i) {
    const tile::Dim& dim = tile.shape()[i];
    const auto* size = std::get_if<std::int64_t>(&dim);
    text += cat(i == 0 ? "" : ", ", size != nullptr ? cat(*size) : std::get<std::string>(dim));
  }
  return text + ']';
}

Expected<Signature> Signature::make(std::string kernel, std::vector<Tile> inputs, std::vector<Tile> outputs,
                                    std::vector<std::string> names, tile::Env fixed) {
  if (names.size() != inputs.size() + outputs.size()) {
    return Unexpected{{.kind = Kind::argument_count,
                       .message = cat("kernel `", kernel, "` has ", names.size(), " tensor parameter", plural(names.size()),
                                      "; its specs describe ", inputs.size(), " input", plural(inputs.size()), " and ",
                                      outputs.size(), " output", plural(outputs.size()))}};
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!element_type_from_name(tile::numpy_name(outputs[i].dtype()))) {
      return Unexpected{
          {.kind = Kind::bad_tile,
           .message = cat("output `", names[inputs.size() + i], "` of kernel `", kernel, "` is ", outputs[i].to_string(),
                          ", and no tensor has elements of type `", isa::name(outputs[i].dtype()), '`')}};
    }
  }
  Signature signature;
  signature.kernel_ = std::move(kernel);
  signature.inputs_ = std::move(inputs);
  signature.outputs_ = std::move(outputs);
  signature.names_ = std::move(names);
  signature.fixed_ = std::move(fixed);
  return signature;
}

std::string Signature::argument(std::size_t index) const {
  return cat("argument ", index, " (`", names_[index], "`) of kernel `", kernel_, '`');
}

std::string Signature::output(std::size_t index) const {
  return cat("output ", index, " (`", names_[inputs_.size() + index], "`) of kernel `", kernel_, '`');
}

Expected<void> Signature::check_output(std::size_t index, const Output& wanted, const TensorView& given,
                                       std::span<const TensorView> inputs, DeviceId device) const {
  const auto refuse = [&](Kind kind, std::string_view reason) {
    TensorView like{.dtype = wanted.dtype, .rank = static_cast<std::int32_t>(wanted.shape.size()), .shape = wanted.shape.data()};
    return Unexpected{Diagnostic{.kind = kind, .message = cat(output(index), ": ", reason)}
                          .note(cat("this call writes: ", describe(like)))
                          .note(cat("given: ", describe(given)))};
  };
  if (!dtype_fits(outputs_[index].dtype(), given.dtype))
    return refuse(Kind::argument_dtype, wrong_type(outputs_[index].dtype(), given.dtype, "writes"));
  const auto rank = static_cast<std::size_t>(given.rank);
  if (rank != wanted.shape.size())
    return refuse(Kind::argument_rank, cat("the tensor has ", rank, " dimensions; the kernel writes ", wanted.shape.size()));
  if (!std::equal(wanted.shape.begin(), wanted.shape.end(), given.shape))
    return refuse(Kind::argument_dim, "the tensor has another shape");
  if (wanted.bytes == 0) return {};
  if (given.data == nullptr) return refuse(Kind::argument_memory, "the tensor has no memory");
  if (!is_contiguous(given))
    return refuse(Kind::argument_layout,
                  cat("strides are ", spell_shape({given.strides, rank}), " elements; the kernel writes row-major"));
  if (given.read_only) return refuse(Kind::argument_memory, "the tensor is read-only");
  if (given.device != device)
    return refuse(Kind::argument_device,
                  cat("the tensor is on ", to_string(given.device), ", the call runs on ", to_string(device)));
  const auto align = static_cast<std::uintptr_t>(tile::element_bytes(outputs_[index].dtype()));
  if (const auto addr = reinterpret_cast<std::uintptr_t>(given.data); addr % align != 0)
    return refuse(Kind::argument_alignment, cat("the data pointer 0x", hex(addr), " is not a multiple of ", align, " bytes"));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t bytes = inputs[i].bytes();
    const bool is_it = given.data == inputs[i].data && bytes == wanted.bytes;
    if (!is_it && !lie_apart(given.data, wanted.bytes, inputs[i].data, bytes))
      return refuse(Kind::argument_memory, cat("the tensor overlaps ", argument(i), " without being it"));
  }
  return {};
}

Expected<void> Signature::check_apart(std::span<const Output> outputs, std::span<void* const> written) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (lie_apart(written[i], outputs[i].bytes, written[j], outputs[j].bytes)) continue;
      return Unexpected{{.kind = Kind::argument_memory, .message = cat(output(i), " shares memory with output ", j)}};
    }
  }
  return {};
}

bool lie_apart(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto *const first = static_cast<const std::byte*>(a), *const second = static_cast<const std::byte*>(b);
  return first + a_bytes <= second || second + b_bytes <= first;
}

Expected<void> check_apart(std::string_view kernel, std::size_t inputs, std::span<void* const> pointers,
                           std::span<const std::size_t> bytes, std::span<const std::uint32_t> inputs_apart) {
  for (std::size_t i = inputs; i < pointers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool may_be = j < inputs && std::find(inputs_apart.begin(), inputs_apart.end(), j) == inputs_apart.end();
      if (may_be && pointers[i] == pointers[j] && bytes[i] == bytes[j]) continue;
      if (lie_apart(pointers[i], bytes[i], pointers[j], bytes[j])) continue;
      return Unexpected{{.kind = Kind::argument_memory,
                         .message = cat("output ", i - inputs, " of kernel `", kernel, "` overlaps ",
                                        j < inputs ? cat("input ", j) : cat("output ", j - inputs), " in memory")}};
    }
  }
  return {};
}

Expected<void> Signature::check_alias(const Alias& alias, const TensorView& input, const Output& wanted) const {
  if (input.bytes() == wanted.bytes) return {};
  return Unexpected{Diagnostic{.kind = Kind::argument_dim,
                               .message = cat(output(alias.output), " is written where ", argument(alias.input), " lies, and is ",
                                              wanted.bytes, " bytes; the argument is ", input.bytes())}};
}

Diagnostic Signature::changed_read_only(std::size_t index) const {
  return Diagnostic{.kind = Kind::argument_memory, .message = cat(argument(index), ": the kernel writes it, and it is read-only")}
      .note(cat("takes: ", describe(inputs_[index])));
}

Diagnostic Signature::misfit(Kind kind, std::size_t index, std::string_view reason, const TensorView& tensor) const {
  return Diagnostic{.kind = kind, .message = cat(argument(index), ": ", reason)}
      .note(cat("takes: ", describe(inputs_[index])))
      .note(cat("given: ", describe(tensor)));
}

Expected<void> Signature::check_dtype(std::size_t index, const TensorView& tensor) const {
  const bool input = index < inputs_.size();
  const Tile& tile = input ? inputs_[index] : outputs_[index - inputs_.size()];
  if (dtype_fits(tile.dtype(), tensor.dtype)) return {};
  if (input) return Unexpected{misfit(Kind::argument_dtype, index, wrong_type(tile.dtype(), tensor.dtype, "takes"), tensor)};
  return Unexpected{
      Diagnostic{.kind = Kind::argument_dtype,
                 .message = cat(output(index - inputs_.size()), ": ", wrong_type(tile.dtype(), tensor.dtype, "writes"))}
          .note(cat("the kernel writes: ", describe(tile)))
          .note(cat("given: ", describe(tensor)))};
}

Diagnostic Signature::not_a_tensor(std::size_t index, std::string_view what) const {
  Diagnostic error{.kind = Kind::argument_kind, .message = cat(argument(index), " is ", what, "; it takes a tensor")};
  if (index < inputs_.size()) error.note(cat("takes: ", describe(inputs_[index])));
  error.hint("a numpy array, a torch tensor, a JAX array or anything with `__dlpack__` is a tensor");
  return error;
}

Expected<void> Signature::check_count(std::size_t tensors) const {
  if (tensors == inputs_.size()) return {};
  std::string wanted;
  for (std::size_t i = 0; i < inputs_.size(); ++i) wanted += cat(i == 0 ? "" : ", ", '`', names_[i], '`');
  Diagnostic error{.kind = Kind::argument_count,
                   .message = cat("kernel `", kernel_, "` takes ", inputs_.size(), " tensor", plural(inputs_.size()),
                                  wanted.empty() ? std::string() : cat(" (", wanted, ')'), "; the call has ", tensors)};
  if (tensors == names_.size() && !outputs_.empty()) error.hint("outputs are returned, not passed");
  return Unexpected{std::move(error)};
}

Expected<void> Signature::check_tensor(std::size_t index, const TensorView& tensor) const {
  if (tensor.elements() != 0 && tensor.data == nullptr) {
    return Unexpected{misfit(Kind::argument_memory, index, "the tensor has no memory", tensor)};
  }
  if (!is_contiguous(tensor)) {
    const auto rank = static_cast<std::size_t>(tensor.rank);
    const std::string strides = spell_shape({tensor.strides, rank});
    const std::string needed = spell_shape(layout::row_major_strides({tensor.shape, rank}));
    return Unexpected{misfit(Kind::argument_layout, index,
                             cat("strides are ", strides, " elements; the kernel takes row-major ", needed), tensor)
                          .hint("call `.contiguous()` on a torch tensor, `numpy.ascontiguousarray` on a numpy array")};
  }
  const auto align = static_cast<std::uintptr_t>(tile::element_bytes(inputs_[index].dtype()));
  if (const auto addr = reinterpret_cast<std::uintptr_t>(tensor.data); addr % align != 0) {
    return Unexpected{misfit(Kind::argument_alignment, index,
                             cat("the data pointer 0x", hex(addr), " is not a multiple of ", align, " bytes"), tensor)};
  }
  return {};
}

Expected<Bound> Signature::bind(std::span<const TensorView> tensors, Scope scope) const {
  if (auto ok = check_count(tensors.size()); !ok) return Unexpected{std::move(ok).error()};
  Bound bound{.env = fixed_};
  std::map<std::string, std::size_t, std::less<>> origin;  // which argument bound a dimension
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& tensor = tensors[i];
    const Tile& tile = inputs_[i];
    if (auto ok = check_dtype(i, tensor); !ok) return Unexpected{std::move(ok).error()};
    auto sizes = tile.extract({tensor.shape, static_cast<std::size_t>(tensor.rank)});
    if (!sizes) return Unexpected{misfit(sizes.error().kind, i, sizes.error().message, tensor)};
    for (const auto& [dim, size] : *sizes) {
      const auto [known, added] = bound.env.emplace(dim, size);
      if (added) {
        origin.emplace(dim, i);
      } else if (known->second != size) {
        const auto from = origin.find(dim);
        return Unexpected{misfit(Kind::dim_conflict, i,
                                 cat("conflicting sizes of dimension `", dim, "`: ", size, " here, ", known->second, " from ",
                                     from == origin.end() ? std::string("the call")
                                                          : cat("argument ", from->second, " (`", names_[from->second], "`)")),
                                 tensor)};
      }
    }
    if (scope == Scope::shapes) continue;
    if (auto ok = check_tensor(i, tensor); !ok) return Unexpected{std::move(ok).error()};
    if (tensor.device != tensors[0].device) {
      return Unexpected{Diagnostic{
          .kind = Kind::argument_device,
          .message =
              cat("the tensors of one call to kernel `", kernel_, "` are on different devices: argument 0 (`", names_[0],
                  "`) on ", to_string(tensors[0].device), ", argument ", i, " (`", names_[i], "`) on ", to_string(tensor.device))}
                            .hint("move them to one device, as with `.to(…)`")};
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Tile& tile = outputs_[i];
    auto shape = tile.resolve(bound.env);
    if (!shape) {
      return Unexpected{Diagnostic{
          .kind = shape.error().kind,
          .message = cat("output `", names_[inputs_.size() + i], "` of kernel `", kernel_, "`: ", shape.error().message)}
                            .note(cat("output: ", describe(tile)))
                            .hint("no input has this dimension; give its size by name at the call")};
    }
    Output output{.shape = std::move(*shape), .dtype = *element_type_from_name(tile::numpy_name(tile.dtype()))};
    output.strides = layout::row_major_strides(output.shape);
    output.bytes = output.dtype.bytes();
    for (const std::int64_t size : output.shape) output.bytes = multiply_sizes(output.bytes, static_cast<std::uint64_t>(size));
    bound.outputs.push_back(std::move(output));
  }
  return bound;
}

}  // namespace ptx::launch
