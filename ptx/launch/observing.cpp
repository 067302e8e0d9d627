#include "ptx/launch/observing.hpp"

#include <atomic>
#include <utility>

namespace ptx::launch {
namespace {

std::atomic<vgpu::Observer*> default_observer{nullptr}, default_stepper{nullptr};
thread_local vgpu::Observer* own_stepper = nullptr;
std::atomic<vgpu::Exploration*> default_exploration{nullptr};
std::mutex one_run;

}  // namespace

vgpu::Observer* set_default_observer(vgpu::Observer* observer) { return default_observer.exchange(observer); }

void set_default_exploration(vgpu::Exploration* exploration) { default_exploration = exploration; }

Stepping::Stepping(vgpu::Observer& observer) : before_(std::exchange(own_stepper, &observer)) {
  vgpu::Observer* nobody = nullptr;
  everywhere_ = default_stepper.compare_exchange_strong(nobody, &observer);
}
Stepping::~Stepping() {
  own_stepper = before_;
  if (everywhere_) default_stepper = nullptr;
}

Observed::Observed() {
  if (own_stepper != nullptr) {  // whose runs follow each other
    observer_ = own_stepper;
    steps_ = true;
    return;
  }
  if (default_stepper.load() == nullptr && default_observer.load() == nullptr && default_exploration.load() == nullptr) return;
  alone_ = std::unique_lock(one_run, std::try_to_lock);
  if (!alone_.owns_lock()) return;
  observer_ = default_stepper.load();
  steps_ = observer_ != nullptr;
  if (observer_ == nullptr) observer_ = default_observer.load();
  if (observer_ == nullptr) exploration_ = default_exploration.load();
}

}  // namespace ptx::launch
