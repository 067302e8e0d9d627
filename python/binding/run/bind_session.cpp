// `Timeline` and `Session`: what observes runs of the executor, for pyptx.executor.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/launch/observing.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

/// Bound as `pyptx._ptx.Timeline`.
struct TimelineHandle {
  std::shared_ptr<vgpu::Timeline> timeline;
  vgpu::Observer* before = nullptr;  ///< who observed when this one began
};

nb::str text_of(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}
// File and line of the author's, or None.
nb::object place_of(const SourceLocation& where) {
  return where.known() ? nb::object(nb::make_tuple(text_of(where.file), where.line)) : nb::object(nb::none());
}

nb::list rows_of(const std::vector<vgpu::ProfileRow>& rows) {
  nb::list all;
  for (const vgpu::ProfileRow& row : rows)
    all.append(nb::make_tuple(text_of(row.kernel), text_of(row.instruction), row.ptx_line, place_of(row.where), row.executions,
                              row.lanes, row.cycles, row.stalls, row.wavefronts, row.needed_wavefronts, row.sectors,
                              row.needed_sectors, row.copied_bytes));
  return all;
}

/// Bound as `pyptx._ptx.Session`.
struct SessionHandle {
  std::shared_ptr<vgpu::Session> session;
  explicit SessionHandle(std::shared_ptr<vgpu::Session> made) : session(std::move(made)) {}
  SessionHandle(SessionHandle&&) = default;
  SessionHandle& operator=(SessionHandle&&) = default;
  ~SessionHandle() { close(); }
  /// The run's thread needs the interpreter to come to its end.
  void close() {
    if (session == nullptr) return;
    const nb::gil_scoped_release others;
    session.reset();
  }
};

vgpu::Session& open(const SessionHandle& self) {
  if (self.session == nullptr) raise(Kind::bad_setting, "the session is closed", authors_line());
  return *self.session;
}

SessionHandle make_session(nb::object run) {
  const auto call = std::shared_ptr<nb::object>(new nb::object(std::move(run)), [](nb::object* held) {
    const nb::gil_scoped_acquire here;
    delete held;
  });
  const auto repeat = [call](vgpu::Observer& observer) {
    const nb::gil_scoped_acquire here;
    const launch::Stepping stepping(observer);
    try {
      (*call)();
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("a run that is stepped");  // never: the function keeps what is raised
    }
  };
  const auto goes_on = [] {
    const nb::gil_scoped_acquire here;
    if (PyErr_CheckSignals() == 0) return true;
    PyErr_Clear();  // Ctrl-C stops the run where it is, and no more
    return false;
  };
  return SessionHandle(std::make_shared<vgpu::Session>(repeat, goes_on));
}

nb::tuple tuple_of(const vgpu::Stop& stop) {
  return nb::make_tuple(std::string(name(stop.why)), stop.breakpoint, stop.position, text_of(stop.kernel),
                        nb::make_tuple(stop.block[0], stop.block[1], stop.block[2]), stop.warp, stop.lanes, stop.ptx_line,
                        text_of(stop.instruction), place_of(stop.where),
                        stop.diagnostic ? error_of(*stop.diagnostic) : nb::object(nb::none()), text_of(stop.changed));
}

template <class Go>
nb::tuple go(const SessionHandle& self, Go go) {
  vgpu::Session& session = open(self);
  const vgpu::Stop stop = [&] {
    const nb::gil_scoped_release others;
    return go(session);
  }();
  return tuple_of(stop);
}

using BlockIndex = std::array<std::uint32_t, 3>;

std::size_t break_at(const SessionHandle& self, std::string file, std::uint32_t line, std::uint32_t ptx_line,
                     std::optional<BlockIndex> block, std::optional<std::uint32_t> warp,
                     std::optional<std::string_view> condition) {
  vgpu::Breakpoint point{.file = std::move(file), .line = line, .ptx_line = ptx_line, .block = block, .warp = warp};
  if (condition) point.condition = unwrap_here(vgpu::Condition::read(*condition));
  return open(self).break_at(std::move(point));
}

std::size_t watch(const SessionHandle& self, bool shared, std::string name, std::uint64_t address, std::uint64_t bytes,
                  BlockIndex block) {
  return open(self).watch({.is_shared = shared, .name = std::move(name), .address = address, .bytes = bytes, .block = block});
}

nb::list warps(const SessionHandle& self) {
  nb::list all;
  for (const vgpu::WarpView& view : open(self).warps())
    all.append(nb::make_tuple(nb::make_tuple(view.block[0], view.block[1], view.block[2]), view.warp, view.lanes, view.state,
                              text_of(view.waits), view.ptx_line, text_of(view.instruction), place_of(view.where), view.focused));
  return all;
}

nb::list registers(const SessionHandle& self) {
  nb::list all;
  for (const vgpu::RegisterView& view : open(self).registers()) {
    nb::list values;
    for (std::size_t lane = 0; lane < view.low.size(); ++lane) {
      nb::object value = nb::int_(view.low[lane]);
      if (view.high[lane] != 0) value = value + (nb::int_(view.high[lane]) << nb::int_(64));
      values.append(value);
    }
    all.append(nb::make_tuple(text_of(view.name), std::string(isa::name(view.type)), view.bits, values, view.undefined));
  }
  return all;
}

nb::object shared(const SessionHandle& self, std::uint64_t address, std::uint64_t bytes, std::string_view swizzle) {
  using enum layout::Swizzle;
  std::vector<std::string> words;
  std::optional<layout::Swizzle> chosen;
  for (const layout::Swizzle one : {none, b32, b64, b128, b128_atom32, b128_atom64}) {
    words.emplace_back(layout::tensor_map_swizzle_name(one));
    if (words.back() == swizzle) chosen = one;
  }
  if (!chosen) raise(Kind::bad_setting, cat("`swizzle` is `", swizzle, "`; what fits is ", list_choices(words)), authors_line());
  const auto read = open(self).shared(address, bytes, *chosen);
  if (!read) return nb::none();
  std::vector<char> written(read->written.begin(), read->written.end());
  return nb::make_tuple(nb::bytes(read->data.data(), read->data.size()), nb::bytes(written.data(), written.size()));
}

nb::list mbarriers(const SessionHandle& self) {
  nb::list all;
  for (const vgpu::MbarrierView& view : open(self).mbarriers())
    all.append(nb::make_tuple(nb::make_tuple(view.block[0], view.block[1], view.block[2]), text_of(view.name), view.address,
                              view.phase, view.expected, view.pending, view.bytes, view.waiting));
  return all;
}

nb::bytes tensor_memory(const SessionHandle& self, std::uint32_t first, std::uint32_t columns) {
  const auto cells = open(self).tensor_memory(first, columns);
  return nb::bytes(cells.data(), cells.size() * sizeof(std::uint32_t) * 128);
}

constexpr const char* stop_type =
    "tuple[str, int, int, str, tuple[int, int, int], int, int, int, str, tuple[str, int] | None, typing.Any, str]";

void bind_timeline(nb::module_& m) {
  Class<TimelineHandle>(m, "Timeline", "What observed runs did, in the time of a model.")
      .function("make(most_slices: int) -> Timeline", "One that keeps so many slices.",
                [](std::size_t most) {
                  return TimelineHandle{std::make_shared<vgpu::Timeline>(vgpu::TimelineOptions{.most_slices = most})};
                })
      .function("observe(self, on: bool) -> None",
                "Whether it observes the runs of the whole process, in place of who did before.",
                [](TimelineHandle& self, bool on) {
                  if (on)
                    self.before = launch::set_default_observer(self.timeline.get());
                  else
                    launch::set_default_observer(self.before);
                })
      .function("trace(self) -> str", "JSON of trace events.",
                [](const TimelineHandle& self) { return text_of(self.timeline->trace()); })
      .function("rows(self, by_line: bool) -> list[tuple[typing.Any, ...]]",
                "Kernel, instruction, PTX line, the author's line, executions, lanes, cycles, stalls, wavefronts and the least, "
                "sectors and the least, bytes copied; of each instruction, or of each line, the dearest first.",
                [](const TimelineHandle& self, bool by_line) {
                  const vgpu::Profile profile = self.timeline->profile();
                  return rows_of(by_line ? profile.by_line() : profile.rows);
                })
      .function("cycles(self) -> int", "Of the model, from the first instruction to the last.",
                [](const TimelineHandle& self) { return self.timeline->profile().cycles; })
      .function("table(self, most: int) -> str", "The profile as a table of text.",
                [](const TimelineHandle& self, std::size_t most) { return text_of(self.timeline->profile().table(most)); });
}

/// Bound as `pyptx._ptx.Exploration`.
struct ExplorationHandle {
  std::shared_ptr<vgpu::Exploration> exploration;
};

void bind_exploration(nb::module_& m) {
  Class<ExplorationHandle>(m, "Exploration", "All orders in which a kernel's threads can go on, run after run.")
      .function("make(most: int) -> Exploration", "Of so many runs at most; 0: of all.",
                [](std::uint64_t most) { return ExplorationHandle{std::make_shared<vgpu::Exploration>(most)}; })
      .function("begin_run(self) -> bool",
                "The launches from now on, of the whole process, are its next run; false: there is none.",
                [](const ExplorationHandle& self) {
                  const bool begins = self.exploration->begin_run();
                  if (begins) launch::set_default_exploration(self.exploration.get());
                  return begins;
                })
      .function("end_run(self) -> None", "And no more.",
                [](const ExplorationHandle& self) {
                  launch::set_default_exploration(nullptr);
                  self.exploration->end_run();
                })
      .function("redundant(self) -> int", "Runs that gave nothing new.",
                [](const ExplorationHandle& self) { return self.exploration->redundant(); })
      .function("exhausted(self) -> bool", "Whether all orders were run.",
                [](const ExplorationHandle& self) { return self.exploration->exhausted(); })
      .function("diverged(self) -> bool", "Whether a run did not repeat what the one before it did.",
                [](const ExplorationHandle& self) { return self.exploration->diverged(); });
}

}  // namespace

void bind_session(nb::module_& m) {
  bind_timeline(m);
  bind_exploration(m);
  const std::string gives = cat(" -> ", stop_type);
  const auto with = [&](std::string_view head) { return cat(head, gives); };
  Class<SessionHandle>(m, "Session", "A run that is stepped.")
      .function("make(run: typing.Callable[[], object]) -> Session",
                "Of what `run` launches, which is called from the start for each step back, by a thread of its own.",
                make_session)
      .function("close(self) -> None", "Ends the run.", [](SessionHandle& self) { self.close(); })
      .function(
          "break_at(self, file: str, line: int, ptx_line: int, block: tuple[int, int, int] | None, warp: int | None, condition: "
          "str | None) -> int",
          "Stops there, where the condition holds in a lane; the breakpoint's number.", break_at)
      .function("watch(self, shared: bool, name: str, address: int, bytes: int, block: tuple[int, int, int]) -> int",
                "Stops behind what changes these bytes, in shared memory of the block or in global memory; the watch's number.",
                watch)
      .function("remove(self, number: int) -> bool", "Removes a breakpoint; whether there was one.",
                [](const SessionHandle& self, std::size_t number) { return open(self).remove_breakpoint(number); })
      .function("break_on_findings(self, stops: bool, rule: str) -> None",
                "Whether what checks find stops the run; of one rule alone where it is not empty.",
                [](const SessionHandle& self, bool stops, std::string rule) {
                  if (!rule.empty() && !vgpu::rule_from_id(rule))
                    raise(Kind::argument_kind, cat("there is no rule `", rule, '`'), authors_line(),
                          "`pyptx.executor.rules()` lists them");
                  open(self).break_on_findings(stops, std::move(rule));
                })
      .function(with("run(self)"), "Goes on.",
                [](const SessionHandle& self) { return go(self, [](vgpu::Session& s) { return s.run(); }); })
      .function(with("step(self, instructions: int)"), "Of the focused warp.",
                [](const SessionHandle& self, std::uint64_t n) { return go(self, [n](vgpu::Session& s) { return s.step(n); }); })
      .function(with("step_block(self)"), "One of any warp of the block.",
                [](const SessionHandle& self) { return go(self, [](vgpu::Session& s) { return s.step_block(); }); })
      .function(with("back(self, instructions: int)"), "Of the focused warp.",
                [](const SessionHandle& self, std::uint64_t n) { return go(self, [n](vgpu::Session& s) { return s.back(n); }); })
      .function(with("back_to_event(self)"), "To before what completed something.",
                [](const SessionHandle& self) { return go(self, [](vgpu::Session& s) { return s.back_to_event(); }); })
      .function(
          with("go_to(self, position: int)"), "To before an instruction of the run.",
          [](const SessionHandle& self, std::uint64_t at) { return go(self, [at](vgpu::Session& s) { return s.go_to(at); }); })
      .function("focus(self, block: tuple[int, int, int], warp: int) -> bool", "Whether there is one.",
                [](const SessionHandle& self, BlockIndex block, std::uint32_t warp) { return open(self).focus(block, warp); })
      .function("warps(self) -> list[tuple[typing.Any, ...]]",
                "Block, warp, lanes, state, what it waits for, PTX line, instruction, the author's line, whether it is focused.",
                warps)
      .function("registers(self) -> list[tuple[str, str, int, list[int], int]]",
                "Of the focused warp: name, type, bits, the lanes' bits, and the lanes in which it is undefined.", registers)
      .function("shared_variables(self) -> list[tuple[str, int, int]]", "Name, address and bytes; all of it is called ''.",
                [](const SessionHandle& self) {
                  nb::list all;
                  for (const vgpu::SharedView& view : open(self).shared_variables())
                    all.append(nb::make_tuple(text_of(view.name), view.address, view.bytes));
                  return all;
                })
      .function("shared(self, address: int, bytes: int, swizzle: str) -> tuple[bytes, bytes] | None",
                "Bytes of shared memory as they lie without the swizzle, and whether each was written. None: not all are there.",
                shared)
      .function(
          "mbarriers(self) -> list[tuple[typing.Any, ...]]",
          "Block, name, address, phase, arrivals that a phase expects and that this one lacks, bytes that it lacks, who waits.",
          mbarriers)
      .function("tensor_memory(self, first: int, columns: int) -> bytes", "Words, column by column, 128 lanes each.",
                tensor_memory);
}

}  // namespace ptx::python
