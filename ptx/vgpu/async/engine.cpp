#include "ptx/vgpu/async/engine.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ptx/vgpu/async/queue.hpp"
#include "ptx/vgpu/machine/machine.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu::async {

namespace {

// Where an operation's bytes go, or come from, in shared memory.
const Location& place_of(const Copy& copy) { return copy.to; }
const Location& place_of(const Store& store) { return store.to; }
const Location& place_of(const TensorCopy& copy) { return copy.shared; }

// The rank of the block in whose shared memory a location lies; of one that lies nowhere any number.
std::uint64_t rank_at(const Location& location) {
  return rank_of(location.space == Space::generic ? location.address - shared_window : location.address);
}

// The rank of the block that its bytes come to; an arrival brings none.
std::optional<std::uint64_t> rank_brought_to(const Operation& operation) {
  return std::visit(
      [](const auto& what) -> std::optional<std::uint64_t> {
        if constexpr (std::is_same_v<std::decay_t<decltype(what)>, Arrive>)
          return std::nullopt;
        else
          return rank_at(place_of(what));
      },
      operation.what);
}

// That the mbarrier is one that the operation may tell. False: a fault was recorded.
bool check_told(Warp& warp, const Step& step, int lane, const Operation& operation) {
  const auto to = rank_brought_to(operation);
  if (!operation.mbarrier || !to) return true;
  const auto told = rank_at(*operation.mbarrier);
  const std::uint64_t apart = *to ^ told;
  if (apart <= (operation.pairs ? 1u : 0u)) return true;
  warp.fail(step, lane, Rule::M_07,
            cat("brings bytes to block ", *to, " of the cluster and tells an mbarrier of block ", told,
                operation.pairs ? ": it has to be one of that block or of the other one of its pair"
                                : ": it has to be one of the block that they come to"));
  return false;
}

}  // namespace

std::optional<std::uint64_t> rank_stored_to(const Operation& operation) {
  const TensorCopy* const tensor = std::get_if<TensorCopy>(&operation.what);
  if (tensor != nullptr && !tensor->loads) return std::nullopt;
  return std::visit(
      [](const auto& what) -> std::optional<std::uint64_t> {
        if constexpr (std::is_same_v<std::decay_t<decltype(what)>, Arrive>)
          return std::nullopt;
        else
          return outlives_block(place_of(what).space, place_of(what).address) ? std::nullopt
                                                                              : std::optional(rank_at(place_of(what)));
      },
      operation.what);
}

bool begin(Warp& warp, const Step& step, int lane, const Operation& operation) {
  ++warp.cta->changes;
  if (!check_told(warp, step, lane, operation)) return false;
  std::optional<races::Issue> issue;
  if (warp.races != nullptr) issue = warp.races->begin(warp, step, lane, operation);
  const auto hand_over = [&](const Operation& what) {
    Queue* const queue = warp.cta->cluster->queue.get();
    if (queue == nullptr) return perform(warp, step, lane, what, issue ? &*issue : nullptr);
    return queue->push(warp, step, lane, what, issue ? std::make_shared<const races::Issue>(std::move(*issue)) : nullptr);
  };
  if (warp.observer == nullptr) return hand_over(operation);
  Operation numbered = operation;
  numbered.number = warp.observer->begin_operation(warp, step, lane, operation);
  return hand_over(numbered);
}

namespace {

bool perform_it(Warp& warp, const Step& step, int lane, const Operation& operation, const races::Issue* issue,
                std::uint64_t& bytes) {
  if (std::holds_alternative<Arrive>(operation.what)) {
    const auto& [space, address] = *operation.mbarrier;
    mbarrier::Arrival one;
    one.of_copies = true;
    return mbarrier::arrive({warp, step, lane, space, address}, one).has_value();
  }
  races::Performing performing(warp, issue);
  const auto moved = std::visit(
      [&](const auto& what) -> std::optional<std::uint64_t> {
        if constexpr (std::is_same_v<std::decay_t<decltype(what)>, Arrive>)
          return std::nullopt;  // never: it is dealt with above
        else
          return perform(warp, step, lane, what);
      },
      operation.what);
  performing.end();
  if (!moved) return false;
  bytes = *moved;
  if (!operation.mbarrier) return true;
  const auto& [space, address] = *operation.mbarrier;
  return mbarrier::complete({warp, step, lane, space, address}, *moved);
}

}  // namespace

bool perform(Warp& warp, const Step& step, int lane, const Operation& operation, const races::Issue* issue) {
  std::uint64_t bytes = 0;
  if (warp.observer == nullptr) return perform_it(warp, step, lane, operation, issue, bytes);
  warp.observer->perform(operation);
  const bool went_well = perform_it(warp, step, lane, operation, issue, bytes);
  warp.observer->performed(operation, bytes);
  return went_well;
}

bool check_written(Warp& warp, const Step& step, int lane, const Location& location, const Place& from, std::uint64_t bytes) {
  if (from.written == nullptr) return true;
  if (std::all_of(from.written, from.written + bytes, [](std::uint8_t mark) { return mark == written_mark; })) return true;
  warp.fail(step, lane, Kind::uninitialised, say_unwritten(warp, location.space, location.address, {from.written, bytes}));
  return false;
}

void copy_marks(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
  if (to == nullptr) return;
  std::uint8_t all = written_mark;
  for (std::uint64_t i = 0; from != nullptr && i < bytes; ++i) all &= from[i];
  if (all == written_mark)
    std::memset(to, written_mark, bytes);
  else
    ++marks_taken_back,
        std::transform(from, from + bytes, to, [](std::uint8_t mark) { return mark == written_mark ? mark : undefined_mark; });
}

std::optional<std::uint64_t> perform(Warp& warp, const Step& step, int lane, const Store& store) {
  const Replicas places = find_replicas(warp, step, lane, store.to.space, true, store.to.address, store.bytes, store.alignment);
  if (places.empty()) return std::nullopt;
  for (const Place& to : places.places()) {
    if (store.reduction) {
      if (!check_written(warp, step, lane, store.to, to, store.bytes)) return std::nullopt;
      reduce(*store.reduction, to.data, store.data.data(), store.bytes);
    } else {
      std::memcpy(to.data, store.data.data(), store.bytes);
    }
    copy_marks(to.written, nullptr, store.bytes);
  }
  return store.bytes;
}

namespace {

// What a copy leaves at its place, or at one of them.
void leave(const Copy& copy, const Place& to, const Place& from) {
  if (copy.reduction) {
    reduce(*copy.reduction, to.data, from.data, copy.bytes);
    if (from.written != nullptr && to.written != nullptr)
      for (std::uint32_t i = 0; i < copy.bytes; ++i)
        if (from.written[i] != written_mark) to.written[i] = undefined_mark, ++marks_taken_back;
  } else if (copy.written != 0xFFFF) {
    for (std::uint32_t i = 0; i < copy.bytes; ++i) {
      if ((copy.written >> (i % 16) & 1) == 0) continue;
      to.data[i] = from.data[i];
      copy_marks(to.written == nullptr ? nullptr : to.written + i, from.written == nullptr ? nullptr : from.written + i, 1);
    }
  } else {
    if (copy.read != 0) std::memmove(to.data, from.data, copy.read);  // a block may copy within its shared memory
    std::memset(to.data + copy.read, 0, copy.bytes - copy.read);
    copy_marks(to.written, from.written, copy.read);
    copy_marks(to.written == nullptr ? nullptr : to.written + copy.read, nullptr, copy.bytes - copy.read);
  }
}

}  // namespace

std::optional<std::uint64_t> perform(Warp& warp, const Step& step, int lane, const Copy& copy) {
  if (copy.bytes == 0) return 0;
  const Replicas places = find_replicas(warp, step, lane, copy.to.space, true, copy.to.address, copy.bytes, copy.alignment);
  if (places.empty()) return std::nullopt;
  Place from;
  if (copy.read != 0) {
    const auto found = find_range(warp, step, lane, copy.from.space, false, copy.from.address, copy.read, copy.alignment);
    if (!found) return std::nullopt;
    from = *found;
  }
  // Others than the block must not see what nothing has written.
  const bool seen = outlives_block(copy.to.space, copy.to.address);
  if (seen && copy.read != 0 && !check_written(warp, step, lane, copy.from, from, copy.read)) return std::nullopt;
  for (const Place& to : places.places()) {
    if (copy.reduction && seen && !check_written(warp, step, lane, copy.to, to, copy.bytes)) return std::nullopt;
    leave(copy, to, from);
  }
  return copy.bytes;
}

}  // namespace ptx::vgpu::async
