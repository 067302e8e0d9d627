// C++ helpers for barriers, fences and clusters, the twins of Python's `ptx.mbarrier`, `fence`, `cluster`, `bar`, `pipeline`:
// `k.mbarrier.wait(full[0], phase)`. What those of several instructions write is said in idiom/mbarrier.hpp and idiom/sync.hpp.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "ptx/write/door/door.hpp"
#include "ptx/write/idiom/mbarrier.hpp"
#include "ptx/write/idiom/sync.hpp"

namespace ptx {

/// One barrier of a BarrierArray: `b[i]`, or `b.at(stage)`, whose address was computed where `at` was called.
class BarrierSlot : public write::SharedHandle {
 public:
  explicit BarrierSlot(const SharedHandle& piece) : SharedHandle(piece) {}

  void init(const write::Source& count, const write::Pred& guard = {}) const;
  void wait(const write::Source& phase, const write::Pred& guard = {}) const;
  Reg<Type::b64> arrive(const write::Pred& guard = {},
                        SourceLocation at = SourceLocation::current()) const;  // NOLINT(modernize-use-nodiscard)
  Reg<Type::b64> arrive_expect_tx(const write::Source& bytes,
                                  const write::Pred& guard = {}) const;  // NOLINT(modernize-use-nodiscard)
  void arrive_remote(const write::Source& cta, const write::Source& count = 1, const write::Pred& guard = {}) const;
  /// Its address in a register.
  [[nodiscard]] Reg<Type::u32> addr_reg(SourceLocation at = SourceLocation::current()) const;
};

/// Barriers 8 bytes apart at an address of the author's.
class BarrierArray : public write::SharedHandle {
 public:
  BarrierArray(const SharedHandle& first, std::int64_t count) : SharedHandle(first), count_(count) {}
  [[nodiscard]] std::int64_t count() const { return count_; }
  BarrierSlot operator[](write::Index index) const;
  /// The barrier whose number is in a register: see idiom::mbarrier_address.
  [[nodiscard]] BarrierSlot at(const write::Source& stage) const;
  void init_all(const write::Source& count, const write::Pred& guard = {}) const;
  /// An arrival at each of another block's barriers.
  void arrive_remote_all(const write::Source& cta, const write::Source& count = 1, const write::Pred& guard = {}) const;

 private:
  std::int64_t count_;
};

/// A ring of stages: idiom::Pipeline.
class PipelineState {
 public:
  PipelineState(write::Builder& builder, const write::idiom::Pipeline& pipeline)
      : n_stages(pipeline.stages), cursor(builder, pipeline.cursor), phase(builder, pipeline.phase) {}
  /// Goes on to the next stage: its number, and the phase of the barriers that guard it.
  std::pair<Reg<Type::u32>, Reg<Type::u32>> advance(SourceLocation at = SourceLocation::current());

  std::int64_t n_stages;
  Reg<Type::u32> cursor, phase;
};

namespace write {

class Mbarrier : public Door {
 public:
  using Door::Door;

  /// `mbarrier.init.shared::cta.b64 [m], count;`
  void init(const PlaceArg& m, const Source& count, const Pred& guard = {});
  /// `mbarrier.inval.shared.b64 [m];`
  void inval(const PlaceArg& m, const Pred& guard = {});
  /// `mbarrier.arrive.shared.b64 state, [m];` into a fresh register.
  ptx::Reg<Type::b64> arrive(const PlaceArg& m, const Pred& guard = {});
  /// `mbarrier.arrive.expect_tx.shared::cta.b64 state, [m], bytes;` into a fresh register.
  ptx::Reg<Type::b64> arrive_expect_tx(const PlaceArg& m, const Source& bytes, const Pred& guard = {});
  /// `mbarrier.expect_tx.shared.b64 [m], bytes;`
  void expect_tx(const PlaceArg& m, const Source& bytes, const Pred& guard = {});
  struct TryWait {
    bool parity = true;
    Pred pred = {};
  };
  ptx::Reg<Type::pred> try_wait(const PlaceArg& m, const Source& phase, const TryWait& options);
  ptx::Reg<Type::pred> try_wait(const PlaceArg& m, const Source& phase) { return try_wait(m, phase, TryWait{}); }
  /// Waits until the phase of that parity is complete; a `pred` that is false does not wait.
  void wait(const PlaceArg& m, const Source& phase, const Pred& guard = {});
  /// Barriers at `base` + byte_offset + 8 i.
  BarrierArray array(const PlaceArg& base, std::int64_t byte_offset, std::int64_t count);
};

class Fence : public Door {
 public:
  using Door::Door;
  void proxy_async(const Pred& guard = {}, SourceLocation at = SourceLocation::current());
  void proxy_async_shared_cta(const Pred& guard = {}, SourceLocation at = SourceLocation::current());
  void mbarrier_init(const Pred& guard = {}, SourceLocation at = SourceLocation::current());
  void proxy_async_generic_acquire_shared_cluster(const Pred& guard = {}, SourceLocation at = SourceLocation::current());
};

/// Blocks of a cluster, a bit for each: a number, as the calls for each are chosen when the kernel is written.
struct BlockMask {
  std::int64_t bits = 0;
  BlockMask() = default;
  template <Number I>
  BlockMask(I number) : bits(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor)
};

class Cluster : public Door {
 public:
  using Door::Door;
  struct Options {
    bool aligned = false;
    Pred pred = {};
  };
  void arrive(Options options, SourceLocation at = SourceLocation::current());
  void arrive(SourceLocation at = SourceLocation::current()) { arrive({}, at); }
  void wait(Options options, SourceLocation at = SourceLocation::current());
  void wait(SourceLocation at = SourceLocation::current()) { wait({}, at); }
  /// Arrives and waits.
  void sync(Options options, SourceLocation at = SourceLocation::current());
  void sync(SourceLocation at = SourceLocation::current()) { sync({}, at); }
  /// Whether this is block `n` of its cluster.
  ptx::Reg<Type::pred> rank(const Source& n);
  /// The address of the same place in block `cta` of the cluster.
  ptx::Reg<Type::b32> map_shared_u32(const PlaceArg& address, const Source& cta, const Pred& guard = {});
  /// An arrival at the barrier at the same place of block `cta`.
  void arrive_remote(const PlaceArg& address, const Source& cta, const Source& count = 1, const Pred& guard = {});
  /// One of those for each block whose bit of `mask` is set.
  void arrive_multicast(const PlaceArg& address, const BlockMask& mask, const Source& count = 1, const Pred& guard = {});
};

class Bar : public Door {
 public:
  using Door::Door;
  /// Waits until all threads of the block have come to barrier `n`, or `count` of them.
  void sync(const Source& n, const std::optional<Source>& count = {}, const Pred& guard = {});
  void sync(SourceLocation at = SourceLocation::current()) { sync(Source(0, at)); }
};

/// A barrier of the block by its number.
class NamedBarrier : public Door {
 public:
  NamedBarrier(Builder& builder, const Source& id, const std::optional<Source>& count) : Door(builder), id_(id), count_(count) {}
  void sync(const Pred& guard = {}, SourceLocation at = SourceLocation::current());

 private:
  Source id_;
  std::optional<Source> count_;
};

// What the members below do with a builder.
idiom::Pipeline make_pipeline(Builder& builder, std::int64_t stages, const std::optional<Reg>& cursor,
                              const std::optional<Reg>& phase, SourceLocation at);
void set_registers(Builder& builder, std::int64_t n, bool inc, const Pred& guard, SourceLocation at);
void set_registers_inc(Builder& builder, std::int64_t n, const Pred& guard, SourceLocation at);
void set_registers_dec(Builder& builder, std::int64_t n, const Pred& guard, SourceLocation at);
void elect(Builder& builder, const Source& dst, const Source& chosen, const Source& mask, const Pred& guard);

/// The members of ptx::Kernel, which is K, that are no group.
template <class K>
class Sync {
 public:
  struct BarrierOptions {
    std::optional<Source> count = {};  ///< threads; nothing: all
  };
  NamedBarrier named_barrier(const Source& id, const BarrierOptions& options) { return {builder(), id, options.count}; }
  NamedBarrier named_barrier(const Source& id) { return {builder(), id, std::nullopt}; }
  struct PipelineOptions {
    std::optional<ptx::Reg<Type::u32>> cursor = {}, phase = {};
  };
  PipelineState pipeline(std::int64_t stages, const PipelineOptions& options, SourceLocation at = SourceLocation::current()) {
    const auto given = [](const std::optional<ptx::Reg<Type::u32>>& reg) {
      return reg ? std::optional(reg->untyped()) : std::nullopt;
    };
    return {builder(), write::make_pipeline(builder(), stages, given(options.cursor), given(options.phase), at)};
  }
  PipelineState pipeline(std::int64_t stages, SourceLocation at = SourceLocation::current()) { return pipeline(stages, {}, at); }
  void setmaxnreg(std::int64_t n, bool inc = true, const Pred& guard = {}, SourceLocation at = SourceLocation::current()) {
    write::set_registers(builder(), n, inc, guard, at);
  }
  void setmaxnreg_inc(std::int64_t n, const Pred& guard = {}, SourceLocation at = SourceLocation::current()) {
    write::set_registers_inc(builder(), n, guard, at);
  }
  void setmaxnreg_dec(std::int64_t n, const Pred& guard = {}, SourceLocation at = SourceLocation::current()) {
    write::set_registers_dec(builder(), n, guard, at);
  }
  /// `dst` is the lane that is chosen among those of `mask`, `chosen` is true there alone.
  void elect_sync(const ptx::Reg<Type::b32>& dst, const ptx::Reg<Type::pred>& chosen, const Source& mask,
                  const Pred& guard = {}) {
    write::elect(builder(), dst, chosen, mask, guard);
  }
  void elect_sync(const ptx::Reg<Type::u32>& dst, const ptx::Reg<Type::pred>& chosen, const Source& mask,
                  const Pred& guard = {}) {
    write::elect(builder(), dst, chosen, mask, guard);
  }

 private:
  Builder& builder() { return static_cast<K*>(this)->builder(); }
};

}  // namespace write
}  // namespace ptx
