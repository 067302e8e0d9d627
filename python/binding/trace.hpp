// A kernel being traced: its builder, made the thread's current one while the body runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "author.hpp"
// The untyped half of the room: the typed C++ layer behind its front door takes seconds to compile, and Python uses none of it.
#include "ptx/write/builder.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/idiom/warp.hpp"
#include "ptx/write/operators.hpp"
#include "traced_module.hpp"

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
  [[nodiscard]] Where where() { return lines_.authors_line(); }
  [[nodiscard]] bool spent() const { return spent_; }

  /// A construct that has to end, such as the loop of `range_`: what it is called. Gives its depth.
  std::size_t open(const char* what, Where where);
  /// Ends the construct of that depth; raises when one inside it was left without an end.
  void close(std::size_t depth);
  /// Forgets it and those inside it: an exception goes through them.
  void abandon(std::size_t depth) { opened_.resize(depth); }

  /// Numbers the shared allocations of this trace.
  std::uint32_t next_smem() { return smem_count_++; }

  Where defined;  ///< the kernel's own line: of errors that belong to no line of its body

  // What the kernel says of its shared memory.
  std::string extern_smem;    ///< name of the `.extern .shared` array, if it has one
  bool dynamic_smem = false;  ///< its allocations would be parts of one dynamic array

 private:
  Expected<TracedModule> checked();

  write::Builder builder_;
  std::string name_;
  LineCache lines_;
  std::optional<write::Tracing> tracing_;
  Trace* outer_ = nullptr;
  std::uint64_t id_;
  std::uint32_t smem_count_ = 0;
  struct Opened {
    const char* what;
    Where where;
  };
  std::vector<Opened> opened_;
  bool spent_ = false;
};

}  // namespace ptx::python
