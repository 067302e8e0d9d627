// A kernel being traced: its builder, made the thread's current one while the body runs.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "python/binding/base/author.hpp"
// The untyped half of the room: the typed C++ layer behind its front door takes seconds to compile, and Python uses none of it.
#include "ptx/write/builder.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/idiom/warp.hpp"
#include "ptx/write/module_builder.hpp"
#include "ptx/write/operators.hpp"
#include "python/binding/base/traced_module.hpp"

namespace ptx::python {

class Trace {
 public:
  explicit Trace(write::KernelHeader header);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Makes this trace the thread's current one; traces nest.
  void enter();
  /// Gives the thread back to the trace around this one.
  void exit();
  /// The module that it is written into; nullptr for a kernel that is a module by itself. `owner` keeps it.
  void write_into(write::ModuleBuilder* module, nanobind::object owner) {
    module_ = module;
    module_owner_ = std::move(owner);
  }
  /// The function alone, unchecked: for write::ModuleBuilder. The trace is spent.
  Expected<ir::Module> finish_function();
  /// The checked module with its text; the trace is spent.
  Expected<TracedModule> finish();

  /// The trace of this thread, or nullptr.
  static Trace* active();
  /// The trace of this thread; outside one, raises `no_active_trace` for `what` ("reg.scalar").
  static Trace& require(const char* what);

  [[nodiscard]] write::Builder& builder() { return builder_; }
  /// Tells this trace's registers from those of another one; never 0.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// The author's line.
  [[nodiscard]] SourceLocation where() { return lines_.authors_line(); }
  [[nodiscard]] bool spent() const { return spent_; }

  /// A construct that has to end, such as the loop of `range_`: what it is called. Gives its depth.
  std::size_t open(const char* what, SourceLocation where);
  /// Ends the construct of that depth; raises when one inside it was left without an end.
  void close(std::size_t depth);
  /// Forgets it and those inside it: an exception goes through them.
  void abandon(std::size_t depth) { opened_.resize(depth); }

  /// A construct was made that does nothing until it is entered. Gives its number.
  std::uint64_t made(const char* what, SourceLocation where);
  void entered(std::uint64_t number);

  SourceLocation defined;  ///< the kernel's own line: of errors that belong to no line of its body

  /// The register of a tensor's TMA descriptor: the same object each time.
  nanobind::object& tma_desc(const std::string& tensor) { return tma_descs_[tensor]; }

  /// A module's variable is named by its object, not by a text.
  void names_variable(std::string_view name) { variables_.emplace(name); }

  /// An instruction that the table refused and that was written all the same (checks.hpp).
  struct Issue {
    std::string statement;
    Diagnostic why;
  };
  std::vector<Issue> issues;

  /// Begins a part of the body that is one thing to those who look at its nodes: a call of an intrinsic, or (no name) an
  /// expression. Parts lie in one another.
  void begin_group(std::string name, std::string arguments);
  void end_group();
  /// What was written so far as a text of its own: the declarations, `//\x01body`, and the body, in which `//\x01begin <n>` and
  /// `//\x01end` stand around the groups. Blocks that are open are closed at its end.
  [[nodiscard]] std::string draft() const;
  struct Group {
    std::string name, arguments;
    std::size_t begin = 0, end = 0;  ///< items of the body, not counting those that tma_desc put in front
    bool open = true;
  };
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  Expected<TracedModule> checked();
  /// What of the constructs was left without an end, or never begun.
  [[nodiscard]] Expected<void> all_ended() const;
  [[nodiscard]] std::size_t written() const { return builder_.size() - builder_.tma_tensors().size(); }

  write::Builder builder_;
  std::string name_;
  write::ModuleBuilder* module_ = nullptr;
  nanobind::object module_owner_;
  LineCache lines_;
  std::map<std::string, nanobind::object> tma_descs_;
  std::set<std::string, std::less<>> variables_;
  std::optional<write::Tracing> tracing_;
  Trace* outer_ = nullptr;
  std::uint64_t id_;
  struct Opened {
    const char* what;
    SourceLocation where;
  };
  std::vector<Opened> opened_;
  std::map<std::uint64_t, Opened> made_;  // and not entered
  std::uint64_t next_made_ = 0;
  std::vector<Group> groups_;
  bool spent_ = false;
};

}  // namespace ptx::python
