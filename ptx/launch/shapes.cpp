#include "ptx/launch/shapes.hpp"

#include <algorithm>

namespace ptx::launch {
namespace {

/// What the tile's type is for a tensor; the bits alone for one that no tensor library has.
ElementType element_of(Type type) {
  if (const auto known = element_type_from_name(tile::numpy_name(type))) return *known;
  return {.code = raw_bits, .bits = static_cast<std::uint8_t>(tile::element_bytes(type) * 8)};
}

}  // namespace

TensorShapes::TensorShapes(const std::vector<Tile>& tiles, std::size_t inputs) {
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Tile& tile = tiles[i];
    Tensor& tensor = tensors_.emplace_back();
    tensor.element = element_of(tile.dtype());
    const bool known_to_cpp = tensor.element == ElementType{2, 32} || tensor.element == ElementType{2, 64};
    tensor.takes_bits = !known_to_cpp && (isa::is_float(tile.dtype()) || tensor.element.code == raw_bits);
    tensor.first = dims_.size();
    tensor.rank = tile.rank();
    tensor.text = describe(tile);
    for (const tile::Dim& dim : tile.shape()) {
      if (const auto* size = std::get_if<std::int64_t>(&dim)) {
        dims_.push_back({.size = *size});
        continue;
      }
      const std::string& name = std::get<std::string>(dim);
      auto at = std::find(names_.begin(), names_.end(), name);
      if (at == names_.end()) {
        if (i >= inputs) of_outputs_.push_back(names_.size());
        at = names_.insert(names_.end(), name);
      }
      dims_.push_back({.name = static_cast<std::int32_t>(at - names_.begin())});
    }
  }
}

Expected<void> TensorShapes::take_shape(const Names& names, std::size_t i, const CallMemory& call, std::int64_t elements,
                                        std::span<std::int64_t> shape, std::span<std::int64_t> sizes) const {
  const Shape& said = call[i].shape;
  const std::span<const std::int64_t> given(said.sizes.data(), said.rank);
  if (given.size() != shape.size()) {
    return refuse(Kind::argument_rank,
                  cat(names[i], ": the tensor has ", given.size(), " dimensions; ", tensors_[i].text, " has ", shape.size()));
  }
  std::int64_t product = 1;
  for (std::size_t d = 0; d < given.size(); ++d) {
    if (given[d] < 0) return refuse(Kind::argument_dim, cat(names[i], ": dimension ", d, " is ", given[d]));
    product = multiply_dims(product, given[d]);
    shape[d] = given[d];
    const std::int32_t name = dims_of(tensors_[i])[d].name;
    if (name < 0) continue;
    std::int64_t& size = sizes[static_cast<std::size_t>(name)];
    if (size < 0) size = given[d];
    if (size == given[d]) continue;
    const auto has = [&](std::size_t other) {
      const auto dims = dims_of(tensors_[other]);
      return call[other].shape.rank == dims.size() &&
             std::any_of(dims.begin(), dims.end(), [&](const Dim& dim) { return dim.name == name; });
    };
    std::size_t from = 0;
    while (from < i && !has(from)) ++from;
    return refuse(Kind::dim_conflict, cat(names[i], ": conflicting sizes of dimension `", names_[static_cast<std::size_t>(name)],
                                          "`: ", given[d], " here, ", size, " from ", from < i ? names[from] : "the kernel"));
  }
  if (product == elements) return {};
  return refuse(Kind::argument_dim,
                cat(names[i], " is ", elements, " elements; its shape ", spell_shape(given), " has ", product));
}

Expected<bool> TensorShapes::find_shape(const Names& names, std::size_t i, std::int64_t elements, std::span<std::int64_t> shape,
                                        std::span<std::int64_t> sizes) const {
  const std::span<const Dim> dims = dims_of(tensors_[i]);
  std::int64_t product = 1;
  std::size_t open = dims.size(), opens = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    shape[d] = dims[d].name < 0 ? dims[d].size : sizes[static_cast<std::size_t>(dims[d].name)];
    if (shape[d] >= 0) {
      product = multiply_dims(product, shape[d]);
    } else {
      open = d;
      ++opens;
    }
  }
  if (opens == 0) {
    if (product == elements) return true;
    const std::string with = std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.name >= 0; })
                                 ? cat(", here ", spell_shape(shape), ',')
                                 : std::string();
    return refuse(Kind::argument_dim, cat(names[i], " is ", elements, " elements; ", tensors_[i].text, with, " has ", product));
  }
  if (opens > 1 || product == 0) return false;
  if (elements % product != 0) {
    return refuse(Kind::argument_dim,
                  cat(names[i], " is ", elements, " elements; what fits ", tensors_[i].text, " is a multiple of ", product));
  }
  shape[open] = sizes[static_cast<std::size_t>(dims[open].name)] = elements / product;
  return true;
}

Diagnostic TensorShapes::no_shape(const Names& names, std::size_t i, std::int64_t elements,
                                  std::span<const std::int64_t> sizes) const {
  std::vector<std::string> open;
  for (const Dim& dim : dims_of(tensors_[i])) {
    if (dim.name < 0 || sizes[static_cast<std::size_t>(dim.name)] >= 0) continue;
    const std::string& name = names_[static_cast<std::size_t>(dim.name)];
    if (std::find(open.begin(), open.end(), name) == open.end()) open.push_back(name);
  }
  std::string sought;
  for (const std::string& name : open) sought += cat(sought.empty() ? "" : ", ", '`', name, '`');
  return Diagnostic{
      .kind = Kind::dim_unbound,
      .message = cat(names[i], " is ", elements, " elements without a shape; ", tensors_[i].text, " leaves ", sought, " open")}
      .hint("say its shape, as in `ptx::shaped(x, {16, 512})`");
}

Expected<void> TensorShapes::fit(const Signature& signature, const CallMemory& call, std::span<TensorView> views,
                                 std::span<std::int64_t> shapes, std::span<std::int64_t> sizes) const {
  constexpr std::int32_t no_rank_yet = -1;
  const Names names{signature, call.inputs.size()};
  const auto elements_of = [&](std::size_t i) { return static_cast<std::int64_t>(call[i].bytes / views[i].dtype.bytes()); };
  const auto shape_of = [&](std::size_t i) { return shapes.subspan(tensors_[i].first, tensors_[i].rank); };
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Memory& memory = call[i];
    const Tensor& tensor = tensors_[i];
    TensorView& view = views[i];
    const bool bits = memory.element.code == 1 && memory.element.bits == tensor.element.bits && tensor.takes_bits;
    view = {.data = memory.data, .dtype = memory.element.bits == 0 || bits ? tensor.element : memory.element};
    view.device = call.device;
    const std::int64_t elements = elements_of(i);
    view.rank = 1;
    view.shape = &elements;
    if (auto fits = signature.check_dtype(i, view); !fits) return fits;
    const std::size_t each = view.dtype.bytes();
    if (memory.bytes % each != 0) {
      return refuse(Kind::argument_dim,
                    cat(names[i], " is ", memory.bytes, " bytes, no whole number of elements of ", each, " bytes"));
    }
    view.rank = no_rank_yet;
    view.shape = shape_of(i).data();
    if (memory.shape.rank == 0) continue;
    if (auto taken = take_shape(names, i, call, elements, shape_of(i), sizes); !taken) return taken;
    view.rank = static_cast<std::int32_t>(tensor.rank);
  }
  // The others: what one of them says of the sizes may be what the next needs.
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (views[i].rank != no_rank_yet) continue;
      auto known = find_shape(names, i, elements_of(i), shape_of(i), sizes);
      if (!known) return Unexpected{std::move(known).error()};
      if (!*known) continue;
      views[i].rank = static_cast<std::int32_t>(tensors_[i].rank);
      found = true;
    }
  }
  for (std::size_t i = 0; i < views.size(); ++i)
    if (views[i].rank == no_rank_yet) return Unexpected{no_shape(names, i, elements_of(i), sizes)};
  return {};
}

}  // namespace ptx::launch
