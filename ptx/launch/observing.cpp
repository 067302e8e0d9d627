#include "ptx/launch/observing.hpp"

#include <atomic>

namespace ptx::launch {
namespace {

std::atomic<vgpu::Observer*> default_observer{nullptr};
std::atomic<bool> default_steps{false};
std::atomic<vgpu::Exploration*> default_exploration{nullptr};
std::mutex one_run;

}  // namespace

void set_default_observer(vgpu::Observer* observer, bool steps) {
  default_steps = steps;
  default_observer = observer;
}

void set_default_exploration(vgpu::Exploration* exploration) { default_exploration = exploration; }

Observed::Observed() {
  if (default_observer.load() == nullptr && default_exploration.load() == nullptr) return;
  alone_ = std::unique_lock(one_run, std::try_to_lock);
  if (!alone_.owns_lock()) return;
  observer_ = default_observer.load();
  steps_ = observer_ != nullptr && default_steps.load();
  if (observer_ == nullptr) exploration_ = default_exploration.load();
}

}  // namespace ptx::launch
