// A run as a timeline: what each warp does and waits for, what each asynchronous engine moves and multiplies meanwhile, and what
// lets whom go on. Time is that of a simple model (cost.hpp: assumptions), in which each warp and each engine has its clock and a
// wait ends when what it waits for has happened: so the picture does not depend on the order in which the executor happens to run
// warps. It claims order, not speed.
//     vgpu::Timeline timeline;
//     options.observer = &timeline;
//     program->run(config, params, regions, options);
//     write(timeline.trace());   // JSON of Chrome's trace events: ui.perfetto.dev, chrome://tracing
//     print(timeline.profile().table());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ptx/vgpu/machine/observer.hpp"
#include "ptx/vgpu/timeline/profile.hpp"

namespace ptx::vgpu {

struct TimelineOptions {
  /// Slices that are kept; those that come later are counted, and the trace says how many.
  std::size_t most_slices = 200'000;
};

class Timeline final : public Observer {
 public:
  explicit Timeline(const TimelineOptions& options = {});
  ~Timeline() override;
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// The trace of all launches until now, one behind the other: a process for each block; in it a row for each warp, and for each
  /// engine. A slice's arguments are its instructions: PTX line, author's line, how many; of copies the bytes, of products the
  /// shape. Arrows go from what completes a phase, or a group, to who waits for it. A microsecond stands for a cycle.
  [[nodiscard]] std::string trace() const;
  [[nodiscard]] Profile profile() const;

  void begin_launch(const Launch& launch) override;
  void end_launch(const Launch& launch) override;
  void begin_cluster(Cluster& cluster) override;
  void end_block(Cta& cta) override;
  bool before(Warp& warp, const Step& step, Mask mask) override;
  void after(Warp& warp, const Step& step, Mask mask, bool again) override;
  void come_to_barrier(Warp& warp, std::uint32_t barrier) override;
  void complete_barrier(Cta& cta, std::uint32_t barrier) override;
  void leave_barrier(Warp& warp, std::uint32_t barrier) override;
  void come_to_cluster(Warp& warp) override;
  void complete_cluster(Cluster& cluster) override;
  void leave_cluster(Warp& warp) override;
  void arrive(const mbarrier::Operator& by, Cta& block, std::uint64_t address) override;
  void complete_phase(const mbarrier::Operator& by, Cta& block, std::uint64_t address, std::uint64_t phase) override;
  void ask_for_phase(const mbarrier::Operator& by, std::uint64_t address, std::uint64_t phase, bool complete) override;
  std::uint64_t begin_operation(Warp& warp, const Step& step, int lane, const async::Operation& operation) override;
  void perform(const async::Operation& operation) override;
  void performed(const async::Operation& operation, std::uint64_t bytes) override;
  void close_groups(Warp& warp, async::Group group) override;
  void wait_for_groups(Warp& warp, async::Group group, std::uint32_t left) override;
  void multiply(Warp& warp, const Step& step, const TensorProduct& product) override;

 private:
  class Model;
  std::unique_ptr<Model> model_;
};

}  // namespace ptx::vgpu
