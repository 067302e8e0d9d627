// `ExecutorModule`: a PTX text on the executor, for pyptx.executor and pyptx.triton.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/launch/launch.hpp"
#include "python/binding/authoring/handles.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"
#include "python/binding/launch/call_libraries.hpp"

namespace ptx::python {
namespace {

/// Bound as `pyptx._ptx.ExecutorModule`.
struct ExecutorHandle {
  std::shared_ptr<const launch::ExecutorModule> module;
};

/// Sizes of a tensor, and the bits of each element.
using ShapeTuple = std::tuple<std::vector<std::size_t>, std::uint32_t>;
using RegionTuple = std::tuple<std::uintptr_t, std::size_t, std::string, bool, bool, std::optional<std::vector<std::uintptr_t>>,
                               std::optional<ShapeTuple>>;

std::vector<vgpu::Region> regions_of(const std::vector<RegionTuple>& given) {
  std::vector<vgpu::Region> regions;
  regions.reserve(given.size());
  for (const auto& [address, bytes, name, writable, initialised, replicas, tensor] : given) {
    regions.push_back({.data = reinterpret_cast<std::byte*>(address),
                       .bytes = bytes,
                       .writable = writable,
                       .initialised = initialised,
                       .name = name,
                       .multicast = replicas.has_value()});
    if (tensor) std::tie(regions.back().shape, regions.back().element_bits) = *tensor;
    if (!replicas) continue;
    for (const std::uintptr_t replica : *replicas)
      regions.back().further_replicas.push_back(reinterpret_cast<std::byte*>(replica));
  }
  return regions;
}

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

/// The parameter block of values that are bytes, each of its parameter's size.
nb::bytes parameter_block(const ExecutorHandle& self, std::string_view entry, const std::vector<nb::bytes>& values) {
  std::vector<std::span<const std::byte>> spans;
  for (const nb::bytes& value : values) spans.push_back(std::as_bytes(std::span(value.c_str(), value.size())));
  const auto block = unwrap_here(self.module->parameter_block(entry, spans));
  return nb::bytes(block.data(), block.size());
}

/// Hands on what a kernel prints. What the function raises is kept: the run goes on, and ends with it.
class Printer {
 public:
  explicit Printer(nb::object write) : write_(std::move(write)) {}
  void operator()(std::string_view text) {
    const nb::gil_scoped_acquire locked;
    if (failure_) return;
    try {
      const nb::object decoded =
          nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
      if (!decoded.is_valid()) throw nb::python_error();
      write_(decoded);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void raise_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  nb::object write_;
  std::exception_ptr failure_;
};

// ---- what runs are like: one record of Python's, whose names are those of pyptx.executor -----------------------------------

using launch::Arithmetic;

/// Of checks: as PYPTX_RUN_CHECKS says.
constexpr std::string_view of_environment = "environment";

/// A setting that is one of a few words.
struct WordSetting {
  const char* name;
  bool (*set)(Arithmetic& to, std::string_view word);
  std::string_view (*word)(const Arithmetic& of);
  std::span<const std::string_view> (*words)();
};
template <auto field, auto from_name, auto words>
constexpr WordSetting setting(const char* name) {
  constexpr bool may_be_unset = !std::is_enum_v<std::remove_cvref_t<decltype(std::declval<Arithmetic>().*field)>>;
  constexpr auto set = [](Arithmetic& to, std::string_view word) {
    const auto found = from_name(word);
    const bool unset = may_be_unset && word == of_environment;
    if (unset) to.*field = {};
    if (found) to.*field = *found;
    return unset || found.has_value();
  };
  constexpr auto word = [](const Arithmetic& of) {
    if constexpr (may_be_unset)
      return of.*field ? words()[static_cast<std::size_t>(*(of.*field))] : of_environment;
    else
      return words()[static_cast<std::size_t>(of.*field)];
  };
  return {name, set, word, words};
}
constexpr std::array word_settings = {
    setting<&Arithmetic::numerics, vgpu::numerics_from_name, vgpu::words_of_numerics>("numerics"),
    setting<&Arithmetic::approximations, vgpu::approximations_from_name, vgpu::words_of_approximations>("approx"),
    setting<&Arithmetic::completion, vgpu::completion_from_name, vgpu::words_of_completion>("completion"),
    setting<&Arithmetic::checks, vgpu::checks_from_name, vgpu::words_of_checks>("checks"),
    setting<&Arithmetic::threads, vgpu::threads_from_name, vgpu::words_of_threads>("threads")};

std::vector<vgpu::Suppression> suppressions(nb::handle texts) {
  std::vector<vgpu::Suppression> all;
  for (const nb::handle text : texts) {
    auto one = vgpu::Suppression::read(nb::cast<std::string>(text));
    if (!one) raise(Kind::bad_setting, one.error().message, authors_line());
    all.push_back(*std::move(one));
  }
  return all;
}

/// The process's own, but for what is given and not None.
Arithmetic arithmetic_of(const nb::dict& given) {
  Arithmetic made = launch::default_arithmetic();
  for (const auto [key, value] : given) {
    if (value.is_none()) continue;
    const auto name = nb::cast<std::string_view>(key);
    const auto is_named = [&](const WordSetting& setting) { return setting.name == name; };
    const auto setting = std::find_if(word_settings.begin(), word_settings.end(), is_named);
    std::string_view word;
    std::string fits = "a number, 0 at least";
    if (setting != word_settings.end()) {
      if (nb::try_cast(value, word) && setting->set(made, word)) continue;
      fits = list_choices(std::vector<std::string>(setting->words().begin(), setting->words().end()));
    } else if (name == "suppress") {
      made.suppress = suppressions(value);
      continue;
    } else if (name == "stop") {
      if (nb::try_cast(value, made.stop_at_first)) continue;
      fits = "True or False";
    } else if (name == "seed" ? nb::try_cast(value, made.seed) : nb::try_cast(value, made.max_findings)) {
      continue;
    }
    const bool is_value = PyUnicode_Check(value.ptr()) || PyLong_Check(value.ptr());
    raise(is_value ? Kind::bad_setting : Kind::argument_kind,
          cat('`', name, "` is ", word.empty() ? describe(value) : cat('`', word, '`'), "; what fits is ", fits), authors_line());
  }
  return made;
}
nb::dict record_of(const Arithmetic& arithmetic) {
  nb::dict record;
  for (const WordSetting& setting : word_settings) record[setting.name] = setting.word(arithmetic);
  nb::list suppress;
  for (const vgpu::Suppression& one : arithmetic.suppress) suppress.append(one.text);
  record["seed"] = arithmetic.seed;
  record["suppress"] = suppress;
  record["limit"] = arithmetic.max_findings;
  record["stop"] = arithmetic.stop_at_first;
  return record;
}

nb::list errors_of(const Diagnostics& findings) {
  nb::list all;
  for (const Diagnostic& found : findings) all.append(error_of(found));
  return all;
}

/// Blocks, warp instructions, findings; and of these how many were suppressed and left out, and suppressions that fitted nothing.
using RunTuple = std::tuple<std::uint64_t, std::uint64_t, nb::list, std::uint64_t, std::uint64_t, std::vector<std::string>>;
RunTuple run(const ExecutorHandle& self, std::string_view entry, const nb::bytes& parameters,
             const std::vector<RegionTuple>& regions, launch::Dims grid, launch::Dims block, launch::Dims cluster,
             std::size_t shared_memory, unsigned workers, std::uint64_t max_instructions, bool check_initialised,
             const nb::dict& settings, nb::object print) {
  PythonLibrary library;
  launch::Cpu cpu = library.cpu();
  if (workers != 0) cpu.options.workers = workers;
  cpu.options.max_instructions = max_instructions;
  cpu.options.check_initialised = check_initialised;
  arithmetic_of(settings).give_to(cpu.options);
  cpu.findings_are_errors = settings.get("checks", nb::none()).is_none();  // who asks gets them in the report
  Printer printer(std::move(print));
  cpu.options.print = std::ref(printer);
  const vgpu::LaunchConfig config{.grid = grid, .block = block, .dynamic_smem_bytes = shared_memory, .cluster = cluster};
  const std::vector<vgpu::Region> memory = regions_of(regions);
  const auto given = std::as_bytes(std::span(view(parameters)));
  auto report = [&] {
    const nb::gil_scoped_release others;
    return self.module->run(entry, config, given, memory, cpu);
  }();
  printer.raise_failure();
  const vgpu::Report done = unwrap_here(std::move(report));
  return {done.ctas, done.warp_instructions, errors_of(done.findings), done.suppressed, done.left_out, done.unused_suppressions};
}

nb::list unsupported(const ExecutorHandle& self, std::string_view entry) {
  return errors_of(unwrap_here(self.module->find_unsupported(entry)));
}

nb::list fidelity(const ExecutorHandle& self, std::string_view entry, const nb::dict& settings) {
  vgpu::Options options;
  arithmetic_of(settings).give_to(options);
  const auto program = unwrap_here([&] {
    const nb::gil_scoped_release others;
    return self.module->kernel(entry);
  }());
  nb::list all;
  for (const vgpu::FidelityNote& note : program->fidelity(options))
    all.append(nb::make_tuple(std::string(name(note.fidelity)), note.instruction, note.why));
  return all;
}

nb::list parameters(const ExecutorHandle& self, std::string_view entry) {
  nb::list all;
  for (const launch::ExecutorModule::Parameter& p : unwrap_here(self.module->parameters(entry)))
    all.append(nb::make_tuple(p.name, std::string(isa::name(p.type)), p.bytes, p.is_array));
  return all;
}

void bind_program(nb::module_& m) {
  Class<ExecutorHandle>(m, "ExecutorModule", "A PTX text on the executor: read and checked once, each kernel decoded once.")
      .function("read(ptx: str, file: str = '<ptx>') -> ExecutorModule",
                "Reads and checks a text, which findings call `file`. Raises its first error, with line and column.",
                [](std::string ptx, std::string_view file) {
                  auto made = [&] {
                    const nb::gil_scoped_release others;
                    return launch::ExecutorModule::make(std::move(ptx), file);
                  }();
                  return ExecutorHandle{unwrap(std::move(made))};
                })
      .value("ptx -> str", "The text.", [](const ExecutorHandle& self) { return self.module->text(); })
      .value("entries -> list[str]", "The kernels' names, in the order of the text.",
             [](const ExecutorHandle& self) { return self.module->entries(); })
      .value("target -> str", "What it is for: `sm_90a`.",
             [](const ExecutorHandle& self) { return std::string(isa::name(self.module->module().target)); })
      .function("parameters(self, entry: str) -> list[tuple[str, str, int, bool]]",
                "Of a kernel: name, type, bytes, and whether it is an array or a vector.", parameters)
      .function("parameter_block(self, entry: str, values: Sequence[bytes]) -> bytes",
                "The parameters as the driver lays them out; each value has as many bytes as its parameter.", parameter_block)
      .function("decode(self, entry: str) -> None", "Decodes the kernel, as the first launch otherwise does.",
                [](const ExecutorHandle& self, std::string_view entry) {
                  auto decoded = [&] {
                    const nb::gil_scoped_release others;
                    return self.module->kernel(entry);
                  }();
                  unwrap_here(std::move(decoded));
                })
      .function("unsupported(self, entry: str) -> list[Exception]",
                "Everything of the kernel that the executor does not run, as the errors that a launch would raise.", unsupported)
      .function("fidelity(self, entry: str, settings: dict[str, typing.Any]) -> list[tuple[str, str, str]]",
                "What is not known to be a GPU's bit for bit: how far it is, the instruction, and why.", fidelity)
      .function("variable(self, name: str) -> tuple[int, int]", "Address and bytes of a .global or .const variable.",
                [](const ExecutorHandle& self, std::string_view name) {
                  const std::span<std::byte> bytes = unwrap_here(self.module->variable(name));
                  return std::pair(reinterpret_cast<std::uintptr_t>(bytes.data()), bytes.size());
                })
      .function(
          "run(self, entry: str, parameters: bytes, regions: Sequence[tuple[int, int, str, bool, bool, list[int] | None, "
          "tuple[list[int], int] | None]], grid: "
          "tuple[int, int, int], block: tuple[int, int, int], cluster: tuple[int, int, int], shared_memory: int, workers: "
          "int, max_instructions: int, check_initialised: bool, settings: dict[str, typing.Any], print: "
          "typing.Callable[[str], object]) "
          "-> tuple[int, int, list[typing.Any], int, int, list[str]]",
          "Runs a grid to its end; the number of its blocks, of the warp instructions that ran, and, where checks are given, "
          "what they found, how much of that was suppressed and left out, and which suppressions fitted nothing. `parameters` is "
          "the parameter block; a region is (address, bytes, name, whether it may be written, whether it counts as written, of a "
          "multicast region the addresses of its further replicas, and of a tensor its sizes and the bits of an element). "
          "`settings` are those of set_executor_settings.",
          run);
}

void bind_settings(nb::module_& m) {
  function(m, "multimem_address(address: int) -> int",
           "The multimem address that stands for one in the first replica of a multicast region.",
           [](std::uintptr_t address) { return address + vgpu::multimem_window; });
  function(m, "executor_settings() -> dict[str, typing.Any]",
           "What runs are like that are not told: numerics, approx, completion, checks, threads, seed; and of findings which are "
           "suppressed, how many are kept (limit), and whether the first one ends the run (stop).",
           [] { return record_of(launch::default_arithmetic()); });
  function(m, "set_executor_settings(settings: dict[str, typing.Any]) -> None",
           "Changes what is given and not None. Of the whole process.",
           [](const nb::dict& settings) { launch::set_default_arithmetic(arithmetic_of(settings)); });
  function(m, "collect_executor_findings(collect: bool) -> None",
           "Whether what checks find is kept for executor_findings(), and not an error of the launch. Of the whole process.",
           [](bool collect) { launch::collect_findings(collect); });
  function(
      m, "executor_findings() -> tuple[list[typing.Any], int, int, int, list[str]]",
      "What was collected since the last time: findings as errors, the number of runs, how many findings were suppressed and "
      "left out, and the suppressions that fitted nothing.",
      [] {
        const launch::Collected all = launch::take_findings();
        return std::tuple(errors_of(all.findings), all.runs, all.suppressed, all.left_out, all.unused_suppressions);
      });
}

void bind_rules(nb::module_& m) {
  function(m, "executor_rules() -> list[tuple[str, str, str, str, str, str, str]]",
           "The rules: id, kind, severity, what goes wrong, what mends it, the manual's section, the level of checks.", [] {
             nb::list all;
             for (const vgpu::RuleRow& row : vgpu::all_rules())
               all.append(nb::make_tuple(std::string(row.id), std::string(name(row.kind)), std::string(name(row.severity)),
                                         std::string(row.summary), std::string(row.mend), std::string(row.section),
                                         std::string(vgpu::level_of(row.rule))));
             return all;
           });
  function(
      m, "executor_rule_example(rule: str) -> tuple[str, str, str, str]",
      "Of a rule: the kernel that breaks it, the mended one, the words behind `pyptx run` for both, and the whole explanation.",
      [](std::string_view id) {
        const auto rule = vgpu::rule_from_id(id);
        if (!rule) {
          std::vector<std::string> ids;
          for (const vgpu::RuleRow& row : vgpu::all_rules()) ids.emplace_back(row.id);
          raise(Kind::bad_setting, cat("there is no rule `", id, "`; what fits is ", list_choices(ids)), authors_line());
        }
        return std::tuple(vgpu::example(*rule), vgpu::mended_example(*rule), vgpu::example_arguments(*rule),
                          vgpu::explain(*rule));
      });
  function(m, "executor_limits(target: str) -> tuple[int, int]",
           "Shared memory that a block of that target may have, bytes, and the multiprocessors of the executor.",
           [](std::string_view name) {
             const auto target = isa::target_from_name(name);
             if (!target) raise(Kind::unknown_target, cat("there is no target `", name, '`'), authors_line());
             return std::pair(isa::max_shared_bytes(*target), vgpu::multiprocessors);
           });
}

}  // namespace

void bind_executor(nb::module_& m) {
  bind_program(m);
  bind_settings(m);
  bind_rules(m);
}

}  // namespace ptx::python
