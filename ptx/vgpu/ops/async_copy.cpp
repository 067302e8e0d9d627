// Asynchronous copies of bytes (rows: ptx/isa/table/async_copy.hpp): what an instruction begins is described as a value and
// handed to the engine (ptx/vgpu/async/engine.hpp). Copies of tensors: tensor_copy.cpp.
#include <cstring>

#include "ptx/vgpu/async/queue.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/ops/reductions.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

template <class Slot>
Slot at(const Warp& warp, std::uint32_t slot, int lane) {
  return warp.slot<Slot>(slot)[lane];
}

// Begins what `make(lane)` describes for each lane, one after the other.
template <class Make>
Outcome begin_each(Warp& warp, const Step& step, Mask mask, Make make) {
  for (Mask left = mask; left != 0; left &= left - 1)
    if (const int lane = lowest_lane(left); !async::begin(warp, step, lane, make(lane))) return Outcome::fault;
  return Outcome::next;
}

// Where checks are on and all lanes' copies are performed as they begin, checks look at them together.
template <class CopyOf>
std::optional<Outcome> copy_at_once(Warp& warp, const Step& step, Mask mask, CopyOf copy_of) {
  if (warp.races == nullptr || warp.observer != nullptr || warp.cta->cluster->queue != nullptr) return std::nullopt;
  const auto issue = warp.races->begin_copies(warp, step, mask);
  if (!issue) return std::nullopt;
  ++warp.cta->changes;
  races::Performing performing(warp, &*issue);
  bool all = true;
  for (Mask left = mask; all && left != 0; left &= left - 1) {
    warp.races->collect_for(lowest_lane(left));
    all = async::perform(warp, step, lowest_lane(left), copy_of(lowest_lane(left))).has_value();
  }
  warp.races->look_at_collected(warp, step);
  return all ? Outcome::next : Outcome::fault;
}

// x[0] = to, x[1] = from, x[2] = bytes, x[3] = bytes to read, or no_slot, x[4], x[5] = the predicate to read nothing
Outcome copy_few(Warp& warp, const Step& step, Mask mask) {
  const Mask ignored = warp.pred(step.x[4]) ^ step.x[5];
  for (Mask left = step.x[3] == no_slot ? 0 : mask & ~ignored; left != 0; left &= left - 1)
    if (const int lane = lowest_lane(left); at<std::uint32_t>(warp, step.x[3], lane) > step.x[2])
      return warp.fail(step, lane, Kind::bad_descriptor,
                       cat("is to read ", at<std::uint32_t>(warp, step.x[3], lane), " bytes, more than the ", step.x[2],
                           " that it copies: what then happens is undefined"));
  const auto copy_of = [&](int lane) {
    async::Copy copy;
    copy.to = {step.space, at<std::uint64_t>(warp, step.x[0], lane)};
    copy.from = {Space::global, at<std::uint64_t>(warp, step.x[1], lane)};
    copy.bytes = copy.alignment = copy.read = step.x[2];
    if (step.x[3] != no_slot) copy.read = at<std::uint32_t>(warp, step.x[3], lane);
    if (has_lane(ignored, lane)) copy.read = 0;
    return copy;
  };
  if (const auto outcome = copy_at_once(warp, step, mask, copy_of)) return *outcome;
  return begin_each(warp, step, mask, [&](int lane) { return async::Operation{copy_of(lane), {}, false, async::Group::copies}; });
}

// x[0] = to, x[1] = from, x[2] = bytes, x[3] = mbarrier, x[4] = mask of bytes, x[5] = mask of blocks (or no_slot, all three),
// x[6], x[7] = spaces of to and from, imm = reduction
constexpr std::uint32_t granule = 16;
Outcome copy_bulk(Warp& warp, const Step& step, Mask mask) {
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    async::Copy copy;
    copy.to = {static_cast<Space>(step.x[6]), at<std::uint64_t>(warp, step.x[0], lane)};
    copy.from = {static_cast<Space>(step.x[7]), at<std::uint64_t>(warp, step.x[1], lane)};
    copy.bytes = copy.read = at<std::uint32_t>(warp, step.x[2], lane);
    if (copy.bytes % granule != 0)
      return warp.fail(step, lane, Kind::misaligned, cat("copies ", copy.bytes, " bytes, which is not a multiple of ", granule));
    if (step.x[4] != no_slot) copy.written = static_cast<std::uint16_t>(at<std::uint32_t>(warp, step.x[4], lane));
    copy.reduction = reduction_in(step.imm);
    const auto into = [&](std::uint64_t to, std::uint64_t mbarrier) {
      copy.to.address = to;
      async::Operation operation{copy, {}};
      if (step.x[3] != no_slot)
        operation.mbarrier = {Space::cluster, mbarrier};
      else
        operation.group = async::Group::bulk;
      return operation;
    };
    const std::uint64_t mbarrier = step.x[3] != no_slot ? at<std::uint64_t>(warp, step.x[3], lane) : 0;
    const bool begun =
        step.x[5] == no_slot
            ? async::begin(warp, step, lane, into(copy.to.address, mbarrier))
            : begin_multicast(warp, step, lane, {at<std::uint32_t>(warp, step.x[5], lane), copy.to.address, mbarrier}, into);
    if (!begun) return Outcome::fault;
  }
  return Outcome::next;
}

Handler bulk(Decoding& in, std::int64_t reduction, Space to) {
  if (in.has("ignore_oob")) return in.refuse("the executor copies all bytes: it does not know what .ignore_oob leaves behind");
  in.step.x[0] = in.read_full_address("dstMem");
  in.step.x[1] = in.read_full_address("srcMem");
  in.step.x[2] = in.read("size", Type::u32);
  in.step.x[3] = in.given("mbar") ? in.read_full_address("mbar") : no_slot;
  in.step.x[4] = in.given("byteMask") ? in.read("byteMask", Type::u16) : no_slot;
  in.step.x[5] = in.given("ctaMask") ? in.read("ctaMask", Type::u16) : no_slot;
  in.step.x[6] = static_cast<std::uint32_t>(to);
  in.step.x[7] = static_cast<std::uint32_t>(in.space("srcMem"));
  in.step.imm = reduction;
  return &copy_bulk;
}

// x[0] = to, x[1] = mbarrier, or no_slot, x[2] = bytes of a value, x[3] = bytes of all, x[4] = space of both, imm = reduction;
// operands = the values
Outcome store_registers(Warp& warp, const Step& step, Mask mask) {
  const auto slots = operands_of(warp.cta->launch->code, step);
  return begin_each(warp, step, mask, [&](int lane) {
    async::Store store;
    store.to = {static_cast<Space>(step.x[4]), at<std::uint64_t>(warp, step.x[0], lane)};
    store.bytes = store.alignment = step.x[3];
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint64_t value =
          step.x[2] == 8 ? at<std::uint64_t>(warp, slots[i], lane) : std::uint64_t{at<std::uint32_t>(warp, slots[i], lane)};
      std::memcpy(&store.data[i * step.x[2]], &value, step.x[2]);
    }
    store.reduction = reduction_in(step.imm);
    async::Operation operation{store, {}};
    if (step.x[1] != no_slot) operation.mbarrier = {store.to.space, at<std::uint64_t>(warp, step.x[1], lane)};
    return operation;
  });
}

Handler store(Decoding& in, Type type, std::int64_t reduction, Space to) {
  std::vector<std::uint32_t> slots = in.read_all("b", type);
  if (type == Type::b128) slots.push_back(slots[0] + lane_count * sizeof(std::uint64_t));  // two words of 64 bits
  const std::uint32_t bytes = type == Type::b128 ? 8 : static_cast<std::uint32_t>(isa::bits(type)) / 8;
  in.step.x[0] = in.read_full_address("a");
  in.step.x[1] = in.given("mbar") ? in.read_full_address("mbar") : no_slot;
  in.step.x[2] = bytes;
  in.step.x[3] = bytes * static_cast<std::uint32_t>(slots.size());
  in.step.x[4] = static_cast<std::uint32_t>(to);
  in.step.imm = reduction;
  in.add_operands(slots);
  return &store_registers;
}

// x[0] = to, x[1] = bytes, 64 bits
Outcome fill(Warp& warp, const Step& step, Mask mask) {
  constexpr std::uint32_t words = 8;
  constexpr std::uint64_t most = 1u << 24;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto bytes = at<std::uint64_t>(warp, step.x[1], lane);
    if (bytes % words != 0 || bytes > most)
      return warp.fail(step, lane, Kind::misaligned,
                       cat("fills ", bytes, " bytes; what fits is a multiple of ", words, " up to ", most));
    async::Copy copy;
    copy.to = {step.space, at<std::uint64_t>(warp, step.x[0], lane)};
    copy.bytes = static_cast<std::uint32_t>(bytes);
    copy.alignment = words;
    if (!async::begin(warp, step, lane, {copy, {}})) return Outcome::fault;
  }
  return Outcome::next;
}

// Where the row has but one type it may say so by itself.
Type stored_type(const Decoding& in) { return in.has("type") ? in.type("type") : Type::b128; }
Type reduced_type(const Decoding& in) { return in.has("type") ? in.type("type") : in.wrote("u32") ? Type::u32 : Type::b32; }
std::int64_t reduction_of(const Decoding& in) { return packed({reduction_op(in.chosen("op")), reduced_type(in)}); }

// There are no caches.
Outcome nothing(Warp&, const Step&, Mask) { return Outcome::next; }

// x[0] = which operations, x[1] = waits, x[2] = closes a group first, x[3] = groups that may be left, x[4] = waits for what they
// read alone
Outcome close_or_wait(Warp& warp, const Step& step, Mask mask) {
  const auto group = static_cast<async::Group>(step.x[0]);
  const bool closes = step.x[2] != 0, waits = step.x[1] != 0;
  if (warp.races != nullptr && closes) warp.races->close_groups(warp, mask, group);
  if (warp.observer != nullptr && closes) warp.observer->close_groups(warp, group);
  // Without a queue they were performed when they began.
  async::Queue* const queue = warp.cta->cluster->queue.get();
  for (Mask left = mask; queue != nullptr && left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    if (closes) queue->close_group(warp, lane, group);
    if (waits && !queue->wait_for_groups(warp, lane, group, step.x[3])) return Outcome::fault;
  }
  if (warp.races != nullptr && waits) warp.races->wait_for_groups(warp, mask, group, step.x[3], step.x[4] != 0);
  if (warp.observer != nullptr && waits) warp.observer->wait_for_groups(warp, group, step.x[3]);
  return Outcome::next;
}

}  // namespace

std::int64_t packed(const async::Reduction& reduction) {
  return 1 | static_cast<std::int64_t>(reduction.op) << 8 | static_cast<std::int64_t>(reduction.type) << 16;
}
std::optional<async::Reduction> reduction_in(std::int64_t packed) {
  if (packed == no_reduction) return std::nullopt;
  return async::Reduction{static_cast<async::ReductionOp>(packed >> 8 & 0xFF), static_cast<Type>(packed >> 16 & 0xFF)};
}

async::ReductionOp reduction_op(std::string_view word) {
  using enum async::ReductionOp;
  constexpr std::pair<std::string_view, async::ReductionOp> ops[] = {
      {"add", add}, {"min", min}, {"max", max}, {"inc", inc}, {"dec", dec}, {"and", bit_and}, {"or", bit_or}, {"xor", bit_xor}};
  return std::find_if(std::begin(ops), std::end(ops), [&](const auto& op) { return op.first == word; })->second;
}

bool check_multicast(Warp& warp, const Step& step, int lane, std::uint32_t blocks) {
  const std::size_t all = warp.cta->cluster->blocks.size();
  blocks &= 0xFFFF;
  if (blocks >> all == 0) return true;
  warp.fail(step, lane, Rule::C_01,
            cat("copies to the blocks in mask 0x", hex(blocks), "; the cluster has ",
                all == 1 ? std::string("block 0 alone") : cat("blocks 0 to ", all - 1)));
  return false;
}

namespace op {

Handler cp_async(Decoding& in) {
  in.step.x[0] = in.read_full_address("dst");
  in.step.x[1] = in.read_full_address("src");
  in.step.x[2] = static_cast<std::uint32_t>(in.immediate("size").value_or(0));
  in.step.x[3] = in.given("src_size") ? in.read("src_size", Type::u32) : no_slot;
  in.step.x[4] = always_offset;
  in.step.x[5] = all_lanes;
  if (in.given("ignore_src")) {
    const auto ignored = in.read_pred("ignore_src");
    in.step.x[4] = ignored.offset;
    in.step.x[5] = ignored.flip;
  }
  in.step.space = in.space("dst");
  return &copy_few;
}

Handler cp_async_bulk(Decoding& in) { return bulk(in, no_reduction, in.space("dstMem")); }
Handler multimem_cp_async_bulk(Decoding& in) { return bulk(in, no_reduction, Space::multimem); }
Handler cp_reduce_async_bulk(Decoding& in) { return bulk(in, reduction_of(in), in.space("dstMem")); }
Handler multimem_cp_reduce_async_bulk(Decoding& in) { return bulk(in, reduction_of(in), Space::multimem); }

Handler st_async(Decoding& in) { return store(in, stored_type(in), no_reduction, in.space("a")); }
Handler multimem_st_async(Decoding& in) { return store(in, stored_type(in), no_reduction, Space::multimem); }
Handler red_async(Decoding& in) { return store(in, reduced_type(in), reduction_of(in), in.space("a")); }
Handler multimem_red_async(Decoding& in) { return store(in, reduced_type(in), reduction_of(in), Space::multimem); }

Handler st_bulk(Decoding& in) {
  in.step.x[0] = in.read_full_address("a");
  in.step.x[1] = in.read("size", Type::u64);
  in.step.space = in.space("a");
  return &fill;
}

// Groups of operations, and waits for them.
Handler async_group(Decoding& in) {
  const bool all = in.wrote("wait_all");
  in.step.x[0] = static_cast<std::uint32_t>(in.wrote("bulk") ? async::Group::bulk : async::Group::copies);
  in.step.x[1] = all || in.wrote("wait_group") ? 1 : 0;
  in.step.x[2] = all || in.wrote("commit_group") ? 1 : 0;
  in.step.x[3] = all || !in.given("n") ? 0 : static_cast<std::uint32_t>(in.immediate("n").value_or(0));
  in.step.x[4] = in.wrote("read") ? 1 : 0;
  return &close_or_wait;
}
Handler cp_async_bulk_prefetch(Decoding&) { return &nothing; }

}  // namespace op
}  // namespace ptx::vgpu
