// A trace as Python drives it (`Trace`), what it leaves (`Module`), and the tensors of a kernel's signature (`TensorSpec`).
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <utility>

#include "ptx/text/text.hpp"
#include "python/binding/authoring/handles.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

constexpr std::uint32_t smem_align = 128;  // bytes: what TMA and the swizzles need

using Strings = std::vector<std::pair<std::string, std::string>>;
using Directives = std::vector<std::pair<std::string, std::vector<std::uint32_t>>>;

// ---- parameters -----------------------------------------------------------------------------------------------------

// The number behind `prefix`: 64 for "align64"; nothing when the word is another one.
std::optional<std::uint32_t> number_after(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  word.remove_prefix(prefix.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

std::optional<ir::StateSpace> space_of(std::string_view word) {
  for (const ir::StateSpace space :
       {ir::StateSpace::global, ir::StateSpace::shared, ir::StateSpace::local, ir::StateSpace::const_, ir::StateSpace::param})
    if (ir::name(space) == word) return space;
  return std::nullopt;
}

// "u64.ptr.global.palign16", "b8.align64.array128": the type and then, in any order, what else the declaration says.
Expected<ir::Param> parse_param(std::string_view text, std::string_view name) {
  auto bad = [&](std::string_view why) {
    Diagnostic d;
    d.kind = Kind::bad_declaration;
    d.message = cat("the parameter `", name, "` is declared as `", text, "`: ", why);
    d.hint(
        "a type, then any of `ptr`, a state space, `alignN`, `palignN` (of what the pointer points to) and `arrayN`: "
        "`u64.ptr.global.palign16`");
    return Unexpected{std::move(d)};
  };
  ir::Param param;
  bool first = true;
  for (std::string_view rest = text; !rest.empty() || first;) {
    const std::size_t dot = rest.find('.');
    const std::string_view word = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    if (first) {
      const auto type = isa::type_from_name(word);
      if (!type) return bad(cat('`', word, "` is not a type"));
      param.type = *type;
      first = false;
    } else if (word == "ptr") {
      param.is_ptr = true;
    } else if (const auto space = space_of(word)) {
      param.ptr_space = space;
    } else if (const auto align = number_after(word, "align")) {
      param.align = *align;
    } else if (const auto ptr_align = number_after(word, "palign")) {
      param.ptr_align = *ptr_align;
    } else if (const auto elements = number_after(word, "array")) {
      param.elements = *elements;
    } else {
      return bad(cat('`', word, "` is not a part of a declaration"));
    }
  }
  return param;
}

void check_params(const Strings& params) {
  for (const auto& [type, name] : params) {
    if (auto param = parse_param(type, name); !param) {
      Diagnostic d = std::move(param).error();
      d.where = authors_line();
      raise(d);
    }
  }
}

// ---- the trace ------------------------------------------------------------------------------------------------------

write::KernelHeader header_of(std::string name, std::string_view arch, std::optional<std::pair<int, int>> version,
                              const Directives& directives, SourceLocation where) {
  write::KernelHeader header;
  const auto target = isa::target_from_name(arch);
  if (!target) {
    std::vector<std::string> names;
    for (const isa::TargetInfo& t : isa::detail::target_infos) names.emplace_back(t.name);
    raise(Kind::unknown_target, cat("`", arch, "` is not a target of PTX"), where, did_you_mean(arch, names));
  }
  header.name = std::move(name);
  header.target = *target;
  if (version) header.version = Version{static_cast<std::uint8_t>(version->first), static_cast<std::uint8_t>(version->second)};
  for (const auto& [directive, values] : directives) header.directives.push_back({directive, values});
  return header;
}

// What the signature declares: parameters, and the array that `extern_smem=` names.
Expected<void> declare(Trace& trace, const Strings& params, std::string_view extern_smem) {
  const SourceLocation where = trace.defined;
  for (const auto& [type, name] : params) {
    auto param = parse_param(type, name);
    if (!param) {
      Diagnostic d = std::move(param).error();
      d.where = where;
      return Unexpected{std::move(d)};
    }
    if (auto added = trace.builder().param(*param, name, where); !added) return added;
  }
  if (extern_smem.empty()) return {};
  ir::Variable array;
  array.space = ir::StateSpace::shared;
  array.linkage = ir::Linkage::extern_;
  array.align = smem_align;
  array.unsized = true;
  if (auto added = trace.builder().module_variable(array, extern_smem, where); !added) return Unexpected{added.error()};
  return {};
}

nb::list statements(Trace& trace) {
  nb::list lines;
  const write::Builder& builder = trace.builder();
  for (const ir::Inst& item : builder.function().body) lines.append(text::print(builder.module(), builder.function(), item));
  return lines;
}

nb::list register_declarations(Trace& trace) {
  nb::list lines;
  const ir::Module& module = trace.builder().module();
  for (const ir::RegDecl& decl : trace.builder().function().reg_decls)
    lines.append(
        cat(".reg .", isa::name(decl.type), ' ', module.str(decl.base), decl.count ? cat('<', *decl.count, '>') : std::string()));
  return lines;
}

nb::list variable_declarations(Trace& trace) {
  nb::list names;
  for (const ir::Variable& variable : trace.builder().function().variables)
    names.append(std::string(trace.builder().module().str(variable.name)));
  return names;
}

std::size_t instruction_count(const TracedModule& module) {
  std::size_t count = 0;
  for (const ir::Function& function : module.accepted.module().functions)
    for (const ir::Inst& item : function.body) count += item.kind == ir::ItemKind::inst;
  return count;
}

void bind_module(nb::module_& m) {
  // its dict keeps the nodes, which are made when they are asked for
  Class<TracedModule>(m, "Module", nb::dynamic_attr(), "A traced kernel that passed the checker, with its text.")
      .value("text -> str", "The PTX, the same bytes for the same kernel.",
             [](const TracedModule& t) -> const std::string& { return t.listing->text; })
      .function("text_with_lines(self) -> str",
                "The PTX with the author's lines: `.loc` in front of the instructions, `.file` at the end.",
                [](const TracedModule& t) { return text::list(t.accepted.module(), text::SourceLines::loc).text; })
      .function("nodes(self) -> typing.Any", "The text as nodes of `pyptx.ir`; the same object each time.",
                [](nb::handle self) {
                  const nb::dict kept = self.attr("__dict__");
                  if (!kept.contains("_nodes")) {
                    const nb::object made = nb::module_::import_("pyptx.parser").attr("parse")(self.attr("text"));
                    kept.attr("setdefault")("_nodes", made);  // two threads may have made them; the first is kept for both
                  }
                  return nb::object(kept["_nodes"]);
                })
      .value("entry -> str", "The kernel's name.", [](const TracedModule& t) -> const std::string& { return t.entry; })
      .value("version -> tuple[int, int]", "The PTX version, `(8, 5)`.",
             [](const TracedModule& t) {
               return std::pair<int, int>(t.accepted.module().version.major, t.accepted.module().version.minor);
             })
      .value("target -> str", "`sm_90a`", [](const TracedModule& t) { return isa::name(t.accepted.module().target); })
      .field<&TracedModule::dynamic_smem>("dynamic_smem -> int", "Bytes that its allocations take of the dynamic shared memory.")
      .value("tma_tensors -> tuple[str, ...]",
             "The tensors whose TMA descriptors are the kernel's last parameters, in their order.",
             [](const TracedModule& t) { return nb::tuple(nb::cast(t.tma_tensors)); })
      .value("instructions -> int", "How many instructions the module has.", instruction_count)
      .value("warnings -> list[tuple[str, str, int]]", "What the checker found short of an error: text, file, line.",
             [](const TracedModule& t) {
               nb::list all;
               for (const Diagnostic& d : t.accepted.warnings())
                 if (d.severity == Severity::warning) {
                   const SourceLocation where = text::in_source(d.where);
                   all.append(nb::make_tuple(render(d), where.file, where.line));
                 }
               return all;
             })
      .dunder("__str__(self) -> str", [](const TracedModule& t) -> const std::string& { return t.listing->text; })
      .dunder("__repr__(self) -> str", [](const TracedModule& t) {
        const ir::Module& module = t.accepted.module();
        return cat("<PTX ", to_string(module.version), " for ", isa::name(module.target), ": ", t.entry, ", ",
                   instruction_count(t), " instructions>");
      });
}

// What comes first to the mind of who knows numpy.
[[noreturn]] void no_elements(const TensorSpec& tensor) {
  raise(Kind::bad_operator,
        cat('`', tensor.name, "` is a tensor of the kernel's signature: it has no elements while the body is traced"),
        authors_line(),
        cat("the kernel reads and writes them by their addresses: `(x,) = ptx.global_ptrs(", tensor.name,
            ")`, then `ptx.inst.ld.global_.f32(value, ptx.addr(x + 4 * i))`"));
}

void bind_tensor(nb::module_& m) {
  Class<TensorSpec> tensor(m, "TensorSpec",
                           "A tensor of the kernel's signature, as its body sees it: a name, and what is known of its shape.");
  Class<TmaDescriptorHandle> map(m, "TmaDescriptorHandle", "The name that a tensor's TMA descriptor has in the kernel.");

  const auto descriptor = [](const TensorSpec& of) { return cat(of.name, ir::descriptor_suffix); };
  map.def(
         "__init__",
         [descriptor](TmaDescriptorHandle* self, const nb::object& given) {
           const TensorSpec* spec = as<TensorSpec>(given);
           if (spec == nullptr)
             raise(Kind::argument_kind,
                   cat("`TmaDescriptorHandle` is given ", describe(given), "; what fits is a tensor of a kernel, a `TensorSpec`"),
                   authors_line());
           new (self) TmaDescriptorHandle{given, descriptor(*spec)};
         },
         nb::arg("tensor").none(), nb::sig("def __init__(self, tensor: TensorSpec) -> None"))
      .field<&TmaDescriptorHandle::tensor>("tensor -> TensorSpec")
      .field<&TmaDescriptorHandle::name>("name -> str")
      .dunder("__repr__(self) -> str", [](const TmaDescriptorHandle& h) { return cat("TmaDescriptorHandle(", h.name, ')'); });
  tensor
      .constructor(
          "(name: str, shape: tuple[int, ...] | None = None, dtype: PtxType | None = None, layout: Layout | None = None, "
          "box_bytes: int | None = None)",
          [](TensorSpec* self, std::string name, nb::object shape, nb::object dtype, nb::object layout,
             std::optional<std::uint64_t> box_bytes) {
            new (self) TensorSpec{std::move(name), std::move(shape), std::move(dtype), std::move(layout), box_bytes};
          })
      .field<&TensorSpec::name>("name -> str")
      .field<&TensorSpec::shape>("shape -> tuple[int, ...] | None", "The sizes, once all are known.")
      .field<&TensorSpec::dtype>("dtype -> PtxType | None")
      .field<&TensorSpec::layout>("layout -> Layout | None")
      .field<&TensorSpec::box_bytes>("box_bytes -> int | None", "What one copy by its TMA descriptor takes of shared memory.")
      .def(
          "tma_desc",
          [descriptor](Self<TensorSpec> self) {
            Trace* trace = Trace::active();
            if (trace == nullptr) return nb::cast(TmaDescriptorHandle{nb::borrow(self.object), descriptor(*self)});
            if (self->box_bytes) trace->builder().set_box_bytes(self->name, *self->box_bytes);
            nb::object& reg = trace->tma_desc(self->name);
            if (!reg.is_valid()) reg = make_reg(*trace, unwrap(trace->builder().tma_desc(self->name, trace->where())));
            return reg;
          },
          nb::sig("def tma_desc(self) -> typing.Any"),
          "The address of the tensor's TMA descriptor, in a register that is loaded at the kernel's start; outside a kernel the "
          "name it will have.")
      .def("__getitem__", [](const TensorSpec& t, nb::handle /*key*/) { no_elements(t); })
      .def("__setitem__", [](const TensorSpec& t, nb::handle /*key*/, nb::handle /*value*/) { no_elements(t); })
      .dunder("__repr__(self) -> str",
              [](const TensorSpec& t) { return nb::str("TensorSpec({}, shape={}, dtype={})").format(t.name, t.shape, t.dtype); });
}

// Trace.__init__
void begin_trace(Trace* self, std::string name, std::string_view arch, std::optional<std::pair<int, int>> version,
                 const Strings& params, const Directives& directives, std::optional<std::string_view> extern_smem,
                 bool dynamic_smem, bool tma_by_value, std::optional<std::pair<std::string_view, std::uint32_t>> where,
                 const nb::object& module, bool function, std::uint64_t block_threads) {
  const SourceLocation defined = where ? SourceLocation{intern_file(where->first), where->second} : authors_line();
  write::KernelHeader header = header_of(std::move(name), arch, version, directives, defined);
  auto* parts = module.is_none() ? nullptr : nb::cast<write::ModuleBuilder*>(module);
  if (parts != nullptr) {
    header.target = parts->target();
    header.version = parts->version();
    header.module_names = parts->names();
    if (function) std::erase(header.module_names, header.name);  // its own place
  }
  if (function) {
    header.is_entry = false;
    header.linkage = ir::Linkage::none;
  }
  header.dynamic_shared = dynamic_smem;
  header.tma_by_value = tma_by_value;
  new (self) Trace(std::move(header));
  self->defined = defined;
  self->builder().set_block_threads(block_threads);
  if (parts != nullptr) self->write_into(parts, module);
  const Expected<void> declared = declare(*self, params, extern_smem.value_or(""));
  if (!declared) {
    self->~Trace();
    raise(declared.error());
  }
}

}  // namespace

void bind_trace(nb::module_& m) {
  bind_module(m);
  bind_tensor(m);
  Class<Trace>(m, "Trace", "A kernel being traced: a context in whose body the calls of reg, smem and ptx write.")
      .constructor(
          "(name: str, arch: str = 'sm_90a', version: tuple[int, int] | None = None, params: typing.Sequence[tuple[str, str]] = "
          "(), directives: typing.Sequence[tuple[str, typing.Sequence[int]]] = (), extern_smem: str | None = None, dynamic_smem: "
          "bool = False, tma_by_value: bool = False, where: tuple[str, int] | None = None, module: ModuleBuilder | None = None, "
          "function: bool = False, block_threads: int = 0)",
          begin_trace)
      .dunder("__enter__(self) -> Trace",
              [](nb::handle self) {
                nb::cast<Trace&>(self).enter();
                self.inc_ref();  // the thread holds it until it is left
                return nb::borrow(self);
              })
      .def(
          "__exit__",
          [](nb::handle self, const nb::args&) {
            nb::cast<Trace&>(self).exit();
            self.dec_ref();
          },
          nb::sig("def __exit__(self, *exception: object) -> None"))
      .function("finish(self) -> Module", "Checks what was written; the module, or the first error.",
                [](Trace& self) { return unwrap(self.finish()); })
      .value("shared_bytes -> int", "Bytes of shared memory allocated so far, gaps for alignment included.",
             [](Trace& self) { return self.builder().shared_bytes(); })
      .def("draft", &Trace::draft, "What was written so far as a text of its own, with marks around its groups (trace.hpp).")
      .value("groups -> list[tuple[str, str]]", "Names and arguments of the groups; an expression has no name.",
             [](const Trace& trace) {
               nb::list all;
               for (const Trace::Group& group : trace.groups()) all.append(nb::make_tuple(group.name, group.arguments));
               return all;
             })
      .value("issues -> list[tuple[str, str, str, str]]",
             "What was written although the table refused it: the statement, the kind of error, the message, its severity.",
             [](const Trace& trace) {
               nb::list all;
               for (const Trace::Issue& issue : trace.issues)
                 all.append(nb::make_tuple(issue.statement, name(issue.why.kind), issue.why.message,
                                           std::string(name(issue.why.severity))));
               return all;
             })
      .value("statements -> list[str]", "The lines of the body so far.", statements)
      .value("reg_decls -> list[str]", "The registers so far.", register_declarations)
      .value("var_decls -> list[str]", "The variables of the body so far.", variable_declarations);
  function(m, "check_params(params: Sequence[tuple[str, str]]) -> None",
           "Raises for the first further parameter of a kernel that is declared wrongly.", check_params);
  function(m, "is_tracing() -> bool", "Whether a kernel is being traced on this thread.",
           [] { return Trace::active() != nullptr; });
  function(m, "active_trace() -> Trace", "The trace of this thread; RuntimeError outside one.",
           [] { return nb::cast(Trace::require("get_ctx"), nb::rv_policy::reference); });
}

}  // namespace ptx::python
