// Asynchronous operations: what an instruction begins and what completes later (manual: "Asynchronous Operations"). An
// instruction describes the operation as a value and hands it over here; nothing else moves its bytes or tells its mbarrier.
//
// The manual leaves open when an operation happens, from its beginning until somebody has to see it complete. Without being asked
// otherwise it is performed when it begins, one of the right times, which needs no queue: groups have nothing to wait for, and an
// mbarrier is told at once. Options::completion may have it wait in the cluster's queue (queue.hpp), which shows who forgets to
// wait: an Operation owns all that it needs, but for the memory it moves.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/async/reduction.hpp"
#include "ptx/vgpu/memory/memory.hpp"

namespace ptx::vgpu::races {
struct Issue;
}

namespace ptx::vgpu::async {

/// A place in a state space, as a lane sees it.
struct Location {
  Space space{};
  std::uint64_t address = 0;
};

/// Bytes that follow each other.
struct Copy {
  Location to, from;
  std::uint32_t bytes = 0;
  std::uint32_t read = 0;                ///< as many are read; zeros follow
  std::uint32_t alignment = 16;          ///< of both addresses
  std::uint16_t written = 0xFFFF;        ///< of each 16 bytes those whose bits are set
  std::optional<Reduction> reduction{};  ///< instead of replacing what is there
};

/// What a lane has in registers.
struct Store {
  Location to;
  std::array<std::byte, 16> data{};
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 1;
  std::optional<Reduction> reduction{};
};

/// How a tensor copy walks through its tensor.
enum class BoxMode : std::uint8_t {
  tile,
  rows,    ///< .tile::gather4, .tile::scatter4: a column and four rows
  im2col,  ///< pixels
  // pixels along w alone; `offsets` are the number of pixels of the halo, and by how much the box is shifted
  im2col_w,
  im2col_w_128,  ///< 128 of them, whatever the map says
};
/// A box of a tensor, or the pixels of an im2col map, between global and shared memory.
struct TensorCopy {
  layout::DecodedTensorMap tensor;
  BoxMode mode{};
  bool loads = true;
  Location shared;
  std::array<std::int32_t, layout::TensorMap::max_rank> coordinates{};  ///< the innermost first
  std::array<std::uint16_t, 3> offsets{};                               ///< .im2col
  std::optional<ReductionOp> reduction{};
  bool takes_packed = false;  ///< the target copies elements of 4 and 6 bits this way
};

/// An arrival at the operation's mbarrier, once what its thread has copied so far is there.
struct Arrive {};

/// What a thread waits for, where no mbarrier tells it.
enum class Group : std::uint8_t {
  none,
  copies,  ///< cp.async.wait_group
  bulk,    ///< cp.async.bulk.wait_group
};

struct Operation {
  std::variant<Copy, Store, TensorCopy, Arrive> what;
  std::optional<Location> mbarrier{};  ///< which is told how many bytes have come: in the block that they come to
  bool pairs = false;                  ///< .cta_group::2: or in the block whose rank differs in the last bit
  Group group = Group::none;
  std::uint64_t number = 0;  ///< of who observes the run: Observer::begin_operation
};

/// The rank of the block in whose shared memory an operation stores; nothing: it stores elsewhere. Of an address that lies
/// nowhere any number.
std::optional<std::uint64_t> rank_stored_to(const Operation& operation);
/// Begins an operation of a lane. False: a fault was recorded.
bool begin(Warp& warp, const Step& step, int lane, const Operation& operation);

/// Performs it. False: a fault was recorded. `issue`: where checks are on.
bool perform(Warp& warp, const Step& step, int lane, const Operation& operation, const races::Issue* issue);

// -- for the operations: what they move, or nothing when a fault was recorded
std::optional<std::uint64_t> perform(Warp& warp, const Step& step, int lane, const Copy& copy);
std::optional<std::uint64_t> perform(Warp& warp, const Step& step, int lane, const Store& store);
std::optional<std::uint64_t> perform(Warp& warp, const Step& step, int lane, const TensorCopy& copy);

/// Whether all of these bytes have been written; false: a fault was recorded. `from` is the place of the bytes at the location.
bool check_written(Warp& warp, const Step& step, int lane, const Location& location, const Place& from, std::uint64_t bytes);
/// Hands on which bytes are written; where marks are null all are. What was not is an undefined value at its new place.
void copy_marks(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes);

}  // namespace ptx::vgpu::async
