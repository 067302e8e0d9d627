// Launching: `Image`, the registry, `Plan`, XLA's handlers, the machine's GPUs and NVIDIA's tools.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/ffi/ffi.hpp"
#include "python/binding/authoring/handles.hpp"
#include "python/binding/authoring/operands.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/base/traced_module.hpp"
#include "python/binding/bindings.hpp"
#include "python/binding/launch/call_libraries.hpp"
#include "python/binding/launch/image_handle.hpp"
#include "python/binding/launch/tensor_map_handle.hpp"
#include "python/binding/launch/tensors.hpp"
#include "python/binding/launch/torch_ops.hpp"
#include "python/binding/torch/torch_bridge.hpp"

namespace ptx::python {

ImageHandle ImageHandle::registered(std::shared_ptr<const launch::KernelImage> image) {
  auto kept = unwrap(launch::Registry::process().add(std::move(image)));
  const auto bytes = [](const auto& data) { return nb::bytes(reinterpret_cast<const char*>(data.data()), data.size()); };
  return {.image = kept, .key = bytes(kept->key()), .meta = bytes(kept->meta()), .ptx = bytes(kept->text())};
}

namespace {

// -- images
// ---------------------------------------------------------------------------------------------------------------------------

/// A Python number for a parameter of `type`; what it cannot hold, and anything else, raises for `what`.
launch::Scalar scalar_of(nb::handle number, Type type, const std::string& what) {
  if (PyFloat_Check(number.ptr())) return PyFloat_AS_DOUBLE(number.ptr());
  if (PyIndex_Check(number.ptr())) {
    const nb::object integer = nb::steal(PyNumber_Index(number.ptr()));
    if (integer.is_valid() && !isa::is_float(type)) {
      if (const auto value = integer_of(integer); value && value->fits(type)) return value->integer;
      raise(Kind::immediate_range, cat(what, " is ", nb::str(integer).c_str(), ", which a `.", isa::name(type), "` cannot hold"),
            authors_line());
    }
    PyErr_Clear();  // an array of one float has `__index__` too, and refuses
  }
  const double value = PyFloat_AsDouble(number.ptr());  // numpy's floats, and anything else with __float__
  if (value != -1.0 || PyErr_Occurred() == nullptr) return value;
  const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  if (!too_large && PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
  PyErr_Clear();
  if (too_large)
    raise(Kind::immediate_range, cat(what, " is an integer too large for a `.", isa::name(type), '`'), authors_line());
  raise(Kind::argument_kind, cat(what, " is ", a_type(number), "; what fits is a number"), authors_line());
}

/// The values of scalar parameters as a launch takes them: their bits, by the parameters' types; None for one without a value.
nb::tuple pack_scalars(std::string_view kernel, const std::vector<std::pair<std::string, std::string>>& params,
                       const nb::dict& values) {
  nb::list packed;
  for (const auto& [dtype, name] : params) {
    if (!values.contains(name.c_str())) {
      packed.append(nb::none());
      continue;
    }
    const nb::object value = values[name.c_str()];
    const auto type = isa::type_from_name(dtype);
    const std::string what = cat("parameter `", name, "` of kernel `", kernel, '`');
    auto bits = type ? launch::pack_scalar(*type, scalar_of(value, *type, what))
                     : Expected<std::uint64_t>(Unexpected{
                           {.kind = Kind::launch_config, .message = cat("a `", dtype, "` parameter cannot take a scalar")}});
    if (!bits) {
      Diagnostic error = std::move(bits).error();
      error.message = cat(what, ": ", error.message);
      error.where = authors_line();
      raise(error);
    }
    packed.append(*bits);
  }
  return nb::tuple(packed);
}

using Maps = std::vector<std::pair<std::uint32_t, TensorMapHandle>>;
using Aliases = std::map<std::uint32_t, std::uint32_t>;  // input: output

std::vector<launch::Descriptor> descriptors_of(const Maps& maps) {
  std::vector<launch::Descriptor> all;
  for (const auto& [arg, handle] : maps) all.push_back({.arg = arg, .map = handle.map});
  return all;
}
std::vector<launch::Alias> aliases_of(const Aliases& aliases) {
  std::vector<launch::Alias> all;
  for (const auto& [input, output] : aliases) all.push_back({.input = input, .output = output});
  return all;
}

LaunchAttributes attributes_named(const std::map<std::string, bool>& given) {
  LaunchAttributes attributes;
  for (const auto& [name, value] : given) {
    const auto row =
        std::find_if(launch_attributes.begin(), launch_attributes.end(), [&](const auto& each) { return each.name == name; });
    if (row == launch_attributes.end())
      raise(Kind::launch_config, cat("there is no launch attribute `", name, '`'), authors_line());
    attributes.*row->value = value;
  }
  return attributes;
}

ImageHandle image_of_module(const TracedModule& traced, launch::Dims grid, launch::Dims block, launch::Dims cluster,
                            std::uint32_t smem, std::uint32_t inputs, std::uint32_t outputs,
                            const nb::typed<nb::sequence, nb::float_>& scalars, const std::vector<Tile>& tiles,
                            const tile::Env& sizes, const Maps& maps, const Aliases& aliases,
                            std::vector<std::uint32_t> inputs_apart, const std::map<std::string, bool>& attributes) {
  const ir::Module& module = traced.accepted.module();
  const ir::Function* entry = module.find(traced.entry);
  if (entry == nullptr) raise(Kind::unknown_kernel, cat("the module has no kernel `", traced.entry, '`'), authors_line());
  std::vector<launch::Scalar> values;
  for (const nb::handle scalar : scalars) {
    const std::size_t at = std::size_t{inputs} + outputs + values.size();
    const Type type = at < entry->params.size() ? entry->params[at].type : Type::b64;  // too many: refused below
    values.push_back(scalar_of(scalar, type, cat("scalar ", values.size(), " of kernel `", traced.entry, '`')));
  }
  const launch::Geometry geometry{grid, block, cluster, smem, attributes_named(attributes)};
  auto spec = unwrap_here(
      launch::LaunchSpec::make(module, *entry, geometry, inputs, outputs, values, tiles, sizes, descriptors_of(maps)));
  if (!aliases.empty()) spec = unwrap_here(spec.with_aliases(aliases_of(aliases)));
  if (!inputs_apart.empty()) spec = unwrap_here(spec.with_inputs_apart(std::move(inputs_apart)));
  const auto before = traced.image.lock();
  auto image = unwrap_here(before != nullptr ? before->with_launch(std::move(spec))
                                             : launch::KernelImage::make(traced.accepted, traced.listing, std::move(spec)));
  traced.image = image;
  return ImageHandle::registered(std::move(image));
}

ImageHandle image_of_text(std::string text, std::string entry, launch::Dims grid, launch::Dims block, launch::Dims cluster,
                          std::uint32_t smem, std::uint32_t inputs, std::uint32_t outputs,
                          const std::vector<std::pair<std::uint64_t, std::uint32_t>>& scalars, const Maps& descriptors) {
  std::vector<launch::Param> params;
  for (const auto& [bits, bytes] : scalars) {
    params.push_back({.kind = launch::Param::Kind::scalar, .size_bytes = bytes, .align_bytes = bytes, .bits = bits});
  }
  const auto spec = unwrap_here(launch::LaunchSpec::make(std::move(entry), {grid, block, cluster, smem}, inputs, outputs,
                                                         std::move(params), descriptors_of(descriptors)));
  return ImageHandle::registered(unwrap_here(launch::KernelImage::from_text(std::move(text), spec.serialise())));
}

/// One tensor of a launch on tensors that exist.
launch::TensorView view_of(std::vector<Import>& imports, nb::handle object, StreamOf stream, const std::string& which) {
  const Origin origin = origin_of(object);
  auto import = Import::of(object, origin, stream);
  if (!import) {
    Diagnostic error = import.error();
    error.message = cat(which, error.kind == Kind::argument_kind ? " " : ": ", error.message);
    unwrap_here(Expected<void>(Unexpected{std::move(error)}));
  }
  imports.push_back(std::move(*import));
  return imports.back().view();
}

/// Runs the image on `inputs`, writing `outputs`. Types and shapes are the caller's to check: an image knows addresses alone.
void launch_image(const ImageHandle& handle, const nb::sequence& inputs, const nb::sequence& outputs) {
  const launch::KernelImage& image = *handle.image;
  const std::string& kernel = image.spec().entry;
  const std::size_t input_count = nb::len(inputs), output_count = nb::len(outputs);
  if (input_count != image.spec().inputs || output_count != image.spec().outputs) {
    raise(Kind::argument_count,
          cat("kernel `", kernel, "` takes ", image.spec().inputs, " inputs and ", image.spec().outputs,
              " outputs; the launch has ", input_count, " and ", output_count),
          authors_line());
  }
  std::vector<Import> imports;
  imports.reserve(input_count + output_count);
  std::vector<void*> pointers;
  std::vector<std::size_t> bytes;
  launch::DeviceId device;
  const auto is_torch = [](nb::handle object) { return origin_of(object) == Origin::torch; };
  bool from_torch = false;
  for (const nb::sequence& tensors : {inputs, outputs})
    for (const nb::handle tensor : tensors) from_torch = from_torch || is_torch(tensor);
  const StreamOf stream_of = from_torch ? StreamOf::torch : StreamOf::nobody;
  const auto add = [&](nb::handle object, const std::string& which, bool written) {
    const launch::TensorView view = view_of(imports, object, stream_of, which);
    if (pointers.empty()) device = view.device;
    if (view.device != device)
      raise(Kind::argument_device, cat(which, " is on ", to_string(view.device), "; the first tensor is on ", to_string(device)),
            authors_line());
    if (!is_contiguous(view)) raise(Kind::argument_layout, cat(which, " is not contiguous in row-major order"), authors_line());
    if (written && view.read_only) raise(Kind::argument_memory, cat(which, " is read-only"), authors_line());
    pointers.push_back(view.data);
    bytes.push_back(view.bytes());
  };
  for (std::size_t i = 0; i < input_count; ++i) add(inputs[i], cat("input ", i, " of kernel `", kernel, '`'), false);
  for (std::size_t i = 0; i < output_count; ++i) add(outputs[i], cat("output ", i, " of kernel `", kernel, '`'), true);
  GivenTensors library;
  library.library = stream_of;
  unwrap_here(launch::run_apart(image, device, pointers, bytes, {}, false, library));
}

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> tuple_of(const launch::Dims& dims) { return {dims[0], dims[1], dims[2]}; }

void save_image(const ImageHandle& handle, const std::string& path, std::optional<std::vector<std::string>> targets,
                std::vector<Tile> tiles, const std::vector<std::string>& scalar_types) {
  launch::SaveOptions options{.targets = std::move(targets), .tiles = std::move(tiles)};
  for (const std::string& word : scalar_types) {
    const auto type = isa::type_from_name(word);
    if (!type) raise(Kind::argument_kind, cat("a scalar's type is `", word, "`; what fits is one such as `f32`"), authors_line());
    options.scalar_types.push_back(*type);
  }
  cuda::set_tool_roots(tool_roots());
  auto saved = [&] {
    const nb::gil_scoped_release unlocked;
    return launch::save(path, *handle.image, options);
  }();
  unwrap_here(show_warnings(unwrap_here(std::move(saved))));
}

// How it is made.
void bind_image_makers(Class<ImageHandle>& type) {
  type.def(nb::new_(&image_of_module), nb::arg("module"), nb::arg("grid") = launch::Dims{1, 1, 1},
           nb::arg("block") = launch::Dims{1, 1, 1}, nb::arg("cluster") = launch::Dims{1, 1, 1}, nb::arg("smem") = 0,
           nb::arg("inputs") = 0, nb::arg("outputs") = 0, nb::arg("scalars") = nb::tuple(),
           nb::arg("tiles") = std::vector<Tile>{}, nb::arg("sizes") = tile::Env{}, nb::arg("maps") = Maps{},
           nb::arg("aliases") = Aliases{}, nb::arg("inputs_apart") = std::vector<std::uint32_t>{},
           nb::arg("attributes") = std::map<std::string, bool>{},
           "Of a traced module; `inputs` and `outputs` count its tensors, `scalars` are the values of the parameters after them. "
           "Parameters after those are TMA descriptors of tensors: those of `maps`, by the tensor's number, or made of the "
           "tensors' `tiles` and the `sizes` of their dimensions. `aliases` says which output is written where an input lies, "
           "`inputs_apart` which inputs no output may be; "
           "`attributes` are some of `launch_attributes`.")
      .function(
          "from_text(ptx: str, entry: str, grid: Sequence[int] = [1, 1, 1], block: Sequence[int] = [1, 1, 1], cluster: "
          "Sequence[int] = [1, 1, 1], smem: int = 0, inputs: int = 0, outputs: int = 0, scalars: Sequence[tuple[int, int]] = [], "
          "descriptors: Sequence[tuple[int, TensorMap]] = []) -> Image",
          "Of PTX text only: it runs on GPUs. `scalars` are (bits, bytes), `descriptors` (number of a tensor, its map): the "
          "entry's last parameters.",
          image_of_text)
      .function("from_record(ptx: str, meta: bytes) -> Image",
                "Of a text and a launch record: the `ptx` and `meta` of an image, of this process or another.",
                [](std::string text, const nb::bytes& meta) {
                  return ImageHandle::registered(
                      unwrap_here(launch::KernelImage::from_text(std::move(text), std::string_view(meta.c_str(), meta.size()))));
                })
      .function("scalars_in_memory(self, which: Sequence[int]) -> Image | None",
                "The kernel that reads these of its scalar parameters, counted from 0, from memory: their addresses are inputs "
                "after the others. None when it does more with one than to load it.",
                [](const ImageHandle& self, const std::vector<std::size_t>& which) -> std::optional<ImageHandle> {
                  auto made = unwrap_here(launch::with_scalars_in_memory(*self.image, which));
                  return made ? std::optional(ImageHandle::registered(std::move(*made))) : std::nullopt;
                });
}

// What it is.
void bind_image_values(Class<ImageHandle>& type) {
  type.value("key -> bytes", "sha256 of text and launch record.", [](const ImageHandle& self) { return self.key; })
      .value("handle -> int", "63 bits of the key: the same in every process.",
             [](const ImageHandle& self) { return self.image->handle(); })
      .value("ptx -> str", "The text.", [](const ImageHandle& self) { return self.image->text(); })
      .value("ptx_bytes -> bytes", "The text as bytes, one object.", [](const ImageHandle& self) { return self.ptx; })
      .value("meta -> bytes", "The launch record, one object.", [](const ImageHandle& self) { return self.meta; })
      .value("entry -> str", "The kernel's name.", [](const ImageHandle& self) { return self.image->spec().entry; })
      .value("grid -> tuple[int, int, int]", "Blocks.",
             [](const ImageHandle& self) { return tuple_of(self.image->spec().geometry.grid); })
      .value("block -> tuple[int, int, int]", "Threads of a block.",
             [](const ImageHandle& self) { return tuple_of(self.image->spec().geometry.block); })
      .value("cluster -> tuple[int, int, int]", "Blocks of a cluster.",
             [](const ImageHandle& self) { return tuple_of(self.image->spec().geometry.cluster); })
      .value("smem -> int", "Dynamic shared memory of a block, bytes.",
             [](const ImageHandle& self) { return self.image->spec().geometry.dynamic_smem_bytes; })
      .value("inputs -> int", "How many tensors it reads.", [](const ImageHandle& self) { return self.image->spec().inputs; })
      .value("outputs -> int", "How many tensors it writes.", [](const ImageHandle& self) { return self.image->spec().outputs; })
      .value("aliases -> dict[int, int]", "Inputs that are changed: the number of each, and of the output that is written there.",
             [](const ImageHandle& self) {
               Aliases all;
               for (const launch::Alias& alias : self.image->spec().aliases) all.emplace(alias.input, alias.output);
               return all;
             })
      .value("descriptors -> list[tuple[int, TensorMap]]",
             "The TMA descriptors that a launch passes: number of the tensor, inputs first, and its map.",
             [](const ImageHandle& self) {
               std::vector<std::pair<std::uint32_t, TensorMapHandle>> all;
               const launch::LaunchSpec& spec = self.image->spec();
               for (const launch::Param& param : spec.params)
                 if (param.is_descriptor()) all.emplace_back(param.arg, TensorMapHandle{spec.tensor_maps[param.bits]});
               return all;
             })
      .value("has_module -> bool", "Whether it was traced here; the executor reads the text of one that was not.",
             [](const ImageHandle& self) { return self.image->has_module(); });
}

// What may be done with it.
void bind_image_uses(Class<ImageHandle>& type) {
  type.function("variable(self, name: str) -> tuple[int, int]",
                "Where a .global or .const variable of its module lies in the executor's memory, and its bytes: there launches "
                "read and leave it.",
                [](const ImageHandle& self, std::string_view name) {
                  const std::span<std::byte> bytes = unwrap_here(self.image->variable(name));
                  return std::pair(reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size());
                })
      .function("prepare(self, device: int = 0) -> None", "Loads it on a GPU, as is needed before a capture into a CUDA graph.",
                [](const ImageHandle& self, int device) {
                  PythonLibrary library;
                  unwrap_here(launch::prepare(*self.image, device, library));
                })
      .function(
          "show_load_warnings(self) -> None",
          "Gives what ptxas said while loading it, as `PtxWarning`s: each once, for loads that were not Python's, as XLA's.",
          [](const ImageHandle& self) { unwrap_here(show_warnings(self.image->take_load_warnings())); })
      .function(
          "save(self, path: str, targets: Sequence[str] | None = None, tiles: Sequence[Tile] = [], scalar_types: Sequence[str] = "
          "[]) "
          "-> None",
          "Writes it to a file for `load` and for C++'s `ptx::load`, with machine code for `targets`, such as `sm_90a`: None is "
          "its own, an empty list none. `tiles` of the tensors, inputs first, and `scalar_types` (`f32`) let the loaded kernel "
          "check sizes and take other scalars; they may be left out.",
          save_image)
      .function("launch(self, inputs: typing.Sequence[typing.Any], outputs: typing.Sequence[typing.Any]) -> None",
                "Runs it on contiguous tensors of one device, writing the outputs. Shapes and types are not checked.",
                launch_image)
      .dunder("__repr__(self) -> str", [](const ImageHandle& self) {
        const launch::LaunchSpec& spec = self.image->spec();
        return cat("<image of kernel ", spec.entry, ", grid ", launch::to_string(spec.geometry.grid), ", block ",
                   launch::to_string(spec.geometry.block), ", handle ", self.image->handle(), '>');
      });
}

// Launch attributes: what is known of each, by name; for type checkers a class of them as keywords; and each image's own.
void bind_launch_attributes(nb::module_& m, Class<ImageHandle>& type) {
  nb::dict attributes, keywords;
  for (const LaunchAttribute& row : launch_attributes) {
    const std::string name(row.name);
    attributes[name.c_str()] = nb::make_tuple(std::string(row.says), std::string(row.guide));
    keywords[name.c_str()] = false;
    type.def_prop_ro(
        name.c_str(), [value = row.value](const ImageHandle& self) { return self.image->spec().geometry.attributes.*value; },
        cat("Whether ", row.says, '.').c_str());
  }
  m.attr("launch_attributes") = attributes;
  keywords["__module__"] = m.attr("__name__");
  keywords["__nb_signature__"] = "class LaunchAttributes(typing.TypedDict, total=False)";
  m.attr("LaunchAttributes") = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))("LaunchAttributes", nb::tuple(), keywords);
}

void bind_image(nb::module_& m) {
  Class<ImageHandle> type(m, "Image",
                          "A kernel that can be launched: text, geometry and parameters, named by the hash of them all.");
  bind_image_makers(type);
  bind_image_values(type);
  bind_image_uses(type);
  bind_launch_attributes(m, type);
  function(m, "load(path: str) -> Image",
           "The image in a file that `Image.save` wrote. ValueError for another file, RuntimeError for one that cannot be read.",
           [](const std::string& path) { return ImageHandle::registered(unwrap_here(launch::load_saved(path)).image); });
  function(m, "pack_scalars(kernel: str, params: Sequence[tuple[str, str]], values: dict[str, Any]) -> tuple[int | None, ...]",
           "The bits of a kernel's scalar parameters, of these (type, name), as a Plan takes them; None for one without a value.",
           pack_scalars);
  function(m, "find_image(handle: int) -> Image | None", "The image of this process with that handle.",
           [](std::int64_t handle) -> std::optional<ImageHandle> {
             auto image = launch::Registry::process().share(handle);
             if (image == nullptr) return std::nullopt;
             return ImageHandle::registered(std::move(image));
           });
  function(m, "content_handle(ptx: str, entry: str, grid: Sequence[int], block: Sequence[int], smem: int) -> int",
           "63 bits of a hash of a text and how it is launched.",
           [](std::string_view text, std::string entry, launch::Dims grid, launch::Dims block, std::uint32_t smem) {
             const auto spec = unwrap_here(
                 launch::LaunchSpec::make(std::move(entry), {.grid = grid, .block = block, .dynamic_smem_bytes = smem}, 0, 0));
             return launch::KernelImage::handle_of(Sha256().add(text).add(spec.serialise()).finish());
           });
  function(m, "collect_retired() -> int",
           "Takes the code of kernels that nobody holds any more off the GPUs, as the next load of a kernel does; how many there "
           "were.",
           [] {
             const nb::gil_scoped_release unlocked;
             return cuda::collect_retired();
           });
  function(m, "reads_torch_tensors() -> bool",
           "Whether plain torch tensors are read where they lie, without asking torch: what it takes was found in this torch.",
           [] {
             const TorchBridge* torch = TorchBridge::find();
             return torch != nullptr && torch->reads_tensors();
           });
  function(m, "registry_size() -> int", "How many images this process holds.", [] { return launch::Registry::process().size(); });
}

// -- the machine
// ----------------------------------------------------------------------------------------------------------------------

/// What ptxas gets of a traced module. Its wheels are sought below what sys.path is now.
launch::CompilerText compiler_text(const TracedModule& traced) {
  cuda::set_tool_roots(tool_roots());
  return launch::CompilerText::of(traced.accepted);
}

nb::dict resources(const TracedModule& traced) {
  const launch::Resources used = unwrap_here(launch::resources(compiler_text(traced), traced.entry));
  nb::dict found;
  found["registers"] = used.registers;
  found["barriers"] = used.barriers;
  found["stack_frame"] = used.stack_frame;
  found["spill_stores"] = used.spill_stores;
  found["spill_loads"] = used.spill_loads;
  found["smem"] = used.smem;
  return found;
}

/// A kernel loaded from text, for callers that keep a CUfunction themselves.
struct LoadedText {
  launch::DeviceCode code;
};

std::pair<std::uintptr_t, LoadedText> load_text(std::string text, std::string entry, std::uint32_t smem, int ordinal) {
  const cuda::Device& device = *unwrap_here(cuda::device(ordinal));
  cuda::set_tool_roots(tool_roots());
  LoadedText loaded;
  auto kernel = [&] {
    const nb::gil_scoped_release unlocked;
    return loaded.code.on(device, {.entry = std::move(entry), .dynamic_smem_bytes = smem},
                          [&] { return launch::CompilerText{.text = std::move(text)}; });
  }();
  const cuda::api::Function function = unwrap_here(unwrap_here(std::move(kernel))->prepare(device));
  unwrap_here(show_warnings(loaded.code.take_warnings()));
  return {reinterpret_cast<std::uintptr_t>(function), std::move(loaded)};
}

void bind_machine(nb::module_& m) {
  function(m, "sass(module: Module) -> str", "The module assembled by ptxas and disassembled by nvdisasm or cuobjdump.",
           [](const TracedModule& traced) { return unwrap_here(launch::sass(compiler_text(traced))); });
  function(m, "found_ptxas() -> list[tuple[str, str]]",
           "The path of every ptxas that is found, the newest first, and what its `--version` prints.", [] {
             nb::list found;
             for (cuda::FoundTool& tool : cuda::newest_first(unwrap_here(cuda::find_tools(cuda::Tool::ptxas, tool_roots())),
                                                             cuda::DiskCache::from_environment()))
               found.append(nb::make_tuple(tool.path, tool.version.value_or("")));
             return found;
           });
  function(m, "ptxas_version(path: str) -> str", "What the `--version` of a tool prints.",
           [](const std::string& path) { return unwrap_here(cuda::version_of(path)); });
  function(m, "resources(module: Module) -> dict[str, int]",
           "What ptxas says of the module's kernel: registers, barriers, and bytes of stack, spills and static shared memory.",
           resources);
  function(m, "assemble(module: Module) -> tuple[bytes, str]", "The module's cubin, and all that ptxas printed.",
           [](const TracedModule& traced) {
             const cuda::Cubin cubin = unwrap_here(launch::assemble(compiler_text(traced)));
             return nb::make_tuple(nb::bytes(cubin.bytes.data(), cubin.bytes.size()), cubin.log);
           });
  function(m, "why_no_gpu() -> str | None", "Why this process cannot use a GPU; None when it can.",
           []() -> std::optional<std::string> {
             const auto count = cuda::device_count();
             if (!count) return count.error().message;
             return *count > 0 ? std::nullopt : std::optional<std::string>("the CUDA driver shows no GPU to this process");
           });
  function(m, "device_count() -> int", "How many GPUs this process can use.", [] {
    const auto count = cuda::device_count();
    return count ? *count : 0;
  });
  function(m, "device_name(device: int = 0) -> str", "A GPU's name.",
           [](int device) { return unwrap_here(cuda::device(device))->name(); });
  function(m, "detect_arch(device: int = 0) -> str",
           "The target with every feature of a GPU, such as `sm_90a`. RuntimeError when it is not there.",
           [](int device) { return cuda::target_name(*unwrap_here(cuda::device(device))); });
  Class<LoadedText>(m, "LoadedText", "A kernel loaded on a GPU from text.");  // NOLINT(bugprone-unused-raii)
  function(m, "load_text(ptx: str, entry: str, smem: int = 0, device: int = 0) -> tuple[int, LoadedText]",
           "The CUfunction of a kernel, as an int, and what keeps it.", load_text);
  m.def(
      "xla_handler",
      [](std::string_view platform) {
        void* handler = platform == "cpu" ? reinterpret_cast<void*>(ffi::pyptx_xla_launch_cpu)
                                          : reinterpret_cast<void*>(ffi::pyptx_xla_launch_cuda);
        return nb::capsule(handler, "xla._CUSTOM_CALL_TARGET");
      },
      // Left to itself the stub names the capsule's type, which in 3.11 is that of a package which users may lack.
      nb::arg("platform"), nb::sig("def xla_handler(platform: str) -> object"),
      "XLA's entry into the launcher, for `jax.ffi.register_ffi_target` on \"cpu\" or \"CUDA\".");
  function(m, "numpy_name(dtype: PtxType) -> str", "What numpy calls a PTX type, or an empty string.",
           [](nb::handle dtype) { return tile::numpy_name(type_argument(dtype, "numpy_name")); });
  m.attr("xla_target") = ffi::xla_target;
  m.attr("launch_abi") = launch::abi_version;
}

}  // namespace

void bind_launch(nb::module_& m) {
  cuda::set_tool_roots(tool_roots());
  add_tensor_map_types(m);
  bind_image(m);
  add_plan_type(m);
  add_kernel_type(m);
  bind_torch_ops(m);
  bind_machine(m);
}

}  // namespace ptx::python

/// The name under which the launcher's entry for CUDA is known to programs that load it themselves.
extern "C" __attribute__((visibility("default"))) void* PyptxLaunch(void* call_frame) noexcept {
  return ptx::ffi::pyptx_xla_launch_cuda(call_frame);
}
