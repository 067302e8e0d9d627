#include "ptx/vgpu/timeline/timeline.hpp"

#include <utility>

#include "ptx/vgpu/timeline/model.hpp"

namespace ptx::vgpu {

using timeline::Meeting;
using timeline::Moment;

namespace {

// All have come: the next ones come to what follows.
void complete(Meeting& meeting) { meeting.complete = std::exchange(meeting.gathered, {}); }

constexpr std::size_t kept_phases = 4;

}  // namespace

Timeline::Timeline(const TimelineOptions& options) : model_(std::make_unique<Model>(options)) {}
Timeline::~Timeline() = default;

std::string Timeline::trace() const { return model_->trace(); }
Profile Timeline::profile() const { return model_->profile(); }

void Timeline::begin_launch(const Launch& launch) { model_->begin_launch(launch); }
void Timeline::end_launch(const Launch&) { model_->end_launch(); }
void Timeline::begin_cluster(Cluster& cluster) { model_->begin_cluster(cluster); }
void Timeline::end_block(Cta& cta) { model_->end_block(cta); }

bool Timeline::before(Warp& warp, const Step& step, Mask mask) {
  model_->before(warp, step, mask);
  return true;
}
void Timeline::after(Warp& warp, const Step& step, Mask mask, bool again) {
  if (again)
    model_->again(warp, step, mask);
  else
    model_->count_copies(warp);
}

void Timeline::come_to_barrier(Warp& warp, std::uint32_t barrier) {
  model_->block(*warp.cta).barriers[barrier].gathered.join(Model::now(model_->warp(warp)));
}
void Timeline::complete_barrier(Cta& cta, std::uint32_t barrier) { complete(model_->block(cta).barriers[barrier]); }
void Timeline::leave_barrier(Warp& warp, std::uint32_t barrier) {
  model_->wait(warp, model_->block(*warp.cta).barriers[barrier].complete, cat("wait at barrier ", barrier));
}

void Timeline::come_to_cluster(Warp& warp) {
  model_->clusters.at(warp.cta->cluster).barrier.gathered.join(Model::now(model_->warp(warp)));
}
void Timeline::complete_cluster(Cluster& cluster) { complete(model_->clusters.at(&cluster).barrier); }
void Timeline::leave_cluster(Warp& warp) {
  model_->wait(warp, model_->clusters.at(warp.cta->cluster).barrier.complete, "wait at the cluster's barrier");
}

void Timeline::arrive(const mbarrier::Operator& by, Cta& block, std::uint64_t address) {
  model_->block(block).mbarriers[address].gathered.join(model_->teller(by.warp));
}
void Timeline::complete_phase(const mbarrier::Operator&, Cta& block, std::uint64_t address, std::uint64_t phase) {
  timeline::Phases& phases = model_->block(block).mbarriers[address];
  Moment done = std::exchange(phases.gathered, {});
  if (!phases.complete.empty()) done.join({phases.complete.rbegin()->second.time, timeline::none});
  if (!phases.complete.empty() && phases.complete.rbegin()->first >= phase) phases.complete.clear();  // initialised again
  phases.complete[phase] = done;
  if (phases.complete.size() > kept_phases) phases.complete.erase(phases.complete.begin());
}
void Timeline::ask_for_phase(const mbarrier::Operator& by, std::uint64_t address, std::uint64_t phase, bool is_complete) {
  timeline::WarpTime& time = model_->warp(by.warp);
  if (!is_complete) {
    time.polls = true;
    time.polled = 0;
    return;
  }
  const auto& phases = model_->block(*by.warp.cta).mbarriers[address].complete;
  const auto done = phases.find(phase);
  time.polls = false;
  if (done != phases.end()) model_->wait(by.warp, done->second, model_->say_mbarrier(address, phase));
}

std::uint64_t Timeline::begin_operation(Warp& warp, const Step& step, int lane, const async::Operation& operation) {
  return model_->begin_operation(warp, step, lane, operation);
}
void Timeline::perform(const async::Operation& operation) { model_->performs = operation.number; }
void Timeline::performed(const async::Operation& operation, std::uint64_t bytes) {
  model_->performs.reset();
  model_->add_bytes(operation.number, bytes);
}
void Timeline::close_groups(Warp& warp, async::Group group) { model_->warp(warp).copies[group].close(); }
void Timeline::wait_for_groups(Warp& warp, async::Group group, std::uint32_t left) {
  model_->wait(warp, model_->warp(warp).copies[group].done(left),
               group == async::Group::bulk ? "wait for bulk copies" : "wait for copies");
}
void Timeline::multiply(Warp& warp, const Step&, const TensorProduct& product) { model_->multiply(warp, product); }

}  // namespace ptx::vgpu
