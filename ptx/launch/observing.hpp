// Who observes the runs of a whole process: a timeline or a session looks at every launch that a function makes, whichever door
// it takes.
#pragma once

#include <mutex>

#include "ptx/vgpu/vgpu.hpp"

namespace ptx::launch {

/// What runs tell that are not given an observer of their own; null: nobody. With `steps` it may stop a run for as long as it
/// likes and minds Ctrl-C itself. Of the whole process.
void set_default_observer(vgpu::Observer* observer, bool steps = false);
/// Says who goes on in runs that nobody observes; null: nobody. Of the whole process.
void set_default_exploration(vgpu::Exploration* exploration);

/// While it lives, the default observer is told of this run alone, and the default exploration of its orders. Both follow one run
/// at a time: a run beside one that is observed is not.
class Observed {
 public:
  Observed();
  [[nodiscard]] vgpu::Observer* observer() const { return observer_; }
  [[nodiscard]] bool steps() const { return steps_; }
  [[nodiscard]] vgpu::Exploration* exploration() const { return exploration_; }

 private:
  std::unique_lock<std::mutex> alone_;
  vgpu::Observer* observer_ = nullptr;
  bool steps_ = false;
  vgpu::Exploration* exploration_ = nullptr;
};

}  // namespace ptx::launch
