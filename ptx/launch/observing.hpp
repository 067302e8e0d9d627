// Who observes the runs of a whole process: a timeline or a session looks at every launch that a function makes, whichever door
// it takes.
#pragma once

#include <mutex>

#include "ptx/vgpu/vgpu.hpp"

namespace ptx::launch {

/// What runs tell that are not given an observer of their own; null: nobody. Of the whole process. Gives what it was before.
vgpu::Observer* set_default_observer(vgpu::Observer* observer);
/// Says who goes on in runs that nobody observes; null: nobody. Of the whole process.
void set_default_exploration(vgpu::Exploration* exploration);

/// While it lives, the observer steps the runs of this thread: it may stop one for as long as it likes, and minds Ctrl-C itself.
/// Also those of other threads, as XLA's, where no other one that lives does.
class Stepping {
 public:
  explicit Stepping(vgpu::Observer& observer);
  Stepping(const Stepping&) = delete;
  Stepping& operator=(const Stepping&) = delete;
  ~Stepping();

 private:
  vgpu::Observer* before_;  // of this thread
  bool everywhere_;
};

/// While it lives, who steps this thread's runs, or else the default observer is told of this run alone, and the default
/// exploration of its orders. Both defaults follow one run at a time: a run beside one that is observed is not.
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
