#include "ptx/launch/observing.hpp"

#include <atomic>

namespace ptx::launch {
namespace {

std::atomic<vgpu::Observer*> default_observer{nullptr};
std::mutex one_run;

}  // namespace

void set_default_observer(vgpu::Observer* observer) { default_observer = observer; }

Observed::Observed() {
  if (default_observer.load() == nullptr) return;
  alone_ = std::unique_lock(one_run, std::try_to_lock);
  if (alone_.owns_lock()) observer_ = default_observer.load();
}

}  // namespace ptx::launch
