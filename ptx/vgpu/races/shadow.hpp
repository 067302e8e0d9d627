// What has been done to memory: the last store to each byte, and the loads behind it. A line of 128 bytes is kept as a few pieces
// of 4 bytes each that one instruction has accessed alike, as most are; where that does not do, 4 bytes at a time, byte by byte.
// Eight lines that a copy has filled and tensor cores read are a sheet, of which that is said at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/races/clock.hpp"

namespace ptx::vgpu::races {

/// An access that was made.
struct Access {
  Agent agent;                          ///< by whose clock it is known to have happened; agent.cluster 0: there was none
  std::uint32_t clock = 0;              ///< the agent's
  std::uint32_t item = 0;               ///< the instruction
  Mask lanes = 0;                       ///< that made it
  std::uint16_t warp = 0;               ///< that executed the instruction, counted through the blocks of its cluster
  std::uint8_t bytes = 0;               ///< a bit for each of the 4 bytes
  isa::Scope scope = isa::Scope::none;  ///< of a strong one
  std::uint8_t width = 0;               ///< of a strong one: bytes that a lane accesses as one; 0: not told
  bool is_store : 1 = false;
  bool through_async_proxy : 1 = false;
  bool strong : 1 = false;
  bool updates : 1 = false;             ///< and an atomic operation
  bool of_what_is_there : 1 = false;    ///< a store of the value that is there already
  bool of_parts : 1 = false;            ///< each of its lanes accessed some of the bytes
  bool by_all : 1 = false;              ///< all lanes of the warp together: whose register gets which bytes is not told
  bool is_volatile : 1 = false;         ///< ld.volatile, st.volatile
  bool of_shared : 1 = false;           ///< of an asynchronous one: its bytes are in shared memory
  bool of_mbarrier : 1 = false;         ///< by an instruction on mbarriers: a store initialises one, or
  bool invalidates : 1 = false;         ///< ends it
  bool of_operation : 1 = false;        ///< and by an asynchronous operation that will be told to it
  bool by_read_only_cache : 1 = false;  ///< ld.global.nc, ldu
  bool of_tensor_map : 1 = false;       ///< by a tensor copy, of the map: through the proxy of tensor maps
};

/// Whether what was done before to these bytes counts no more.
inline bool is_last_word(const Access& access) { return access.is_store && !access.of_what_is_there; }

/// Whether two strong accesses are of different sizes, so that the memory model says nothing of them (manual: "Data-races",
/// mixed-size; atomic operations alone remain atomic). Volatile ones are of programs that are older than that.
inline bool are_mixed(const Access& a, const Access& b) {
  return a.strong && b.strong && a.width != 0 && b.width != 0 && a.width != b.width && !(a.updates && b.updates) &&
         !a.is_volatile && !b.is_volatile;
}

/// Whether two accesses are one instruction's, executed once.
inline bool same_instruction(const Access& a, const Access& b) {
  return a.agent == b.agent && a.clock == b.clock && a.item == b.item && a.is_store == b.is_store &&
         a.of_what_is_there == b.of_what_is_there;
}

/// Four bytes of memory.
struct Granule {
  Access store, load;
  std::uint32_t more = 0;  ///< further accesses: which list of its Shadow; 0: none
};

/// Things by numbers from 1, which are used again, with what they hold then.
template <class T>
class Numbered {
 public:
  T& operator[](std::uint32_t which) { return all_[which - 1]; }
  std::uint32_t take() {
    if (free_.empty()) {
      all_.emplace_back();
      return static_cast<std::uint32_t>(all_.size());
    }
    const std::uint32_t which = free_.back();
    free_.pop_back();
    return which;
  }
  void give_back(std::uint32_t which) { free_.push_back(which); }

 private:
  std::vector<T> all_;
  std::vector<std::uint32_t> free_;
};

constexpr std::size_t granule_bytes = 4, line_granules = 32, line_bytes = granule_bytes * line_granules;

/// How an access is spread over lanes: each made it to bytes of its own, one behind the other, or exchanged as by a swizzle.
struct Spread {
  std::int32_t first_lane = 0;  ///< the lane of the line's first granule, were the lanes to begin there
  std::uint8_t shift = 0;       ///< a lane has 2^shift granules
  std::uint8_t flip = 0;        ///< of the number of such a group of granules these bits are the other way round
  bool by_lane = false;         ///< otherwise all of them made all of it
  [[nodiscard]] Mask lanes_of(std::size_t granule) const {
    return Mask{1} << (first_lane + static_cast<std::int32_t>((granule >> shift) ^ flip));
  }
  friend bool operator==(const Spread&, const Spread&) = default;
};

/// Granules of a line that one instruction has accessed as a whole.
struct Piece {
  Access access;            ///< all of its lanes; each granule's whole
  std::uint32_t where = 0;  ///< a bit for each granule
  Spread spread;
  /// Of one of these granules.
  [[nodiscard]] Access of_granule(std::size_t granule) const {
    Access one = access;
    one.bytes = (1u << granule_bytes) - 1;
    if (spread.by_lane) one.lanes = spread.lanes_of(granule);
    return one;
  }
};

struct Line {
  static constexpr std::size_t most_pieces = 64;
  std::vector<Piece> pieces;
  std::uint32_t granules = 0;        ///< which of its Shadow's; 0: the pieces say all
  std::uint32_t newest_cluster = 0;  ///< of those that have accessed it
};

/// Of 1024 bytes, what the patterns of swizzles repeat in: the granules of each line.
constexpr std::size_t sheet_lines = 8, sheet_bytes = sheet_lines * line_bytes;
using SheetPart = std::array<std::uint32_t, sheet_lines>;
inline constexpr SheetPart whole_sheet = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
inline bool overlap(const SheetPart& a, const SheetPart& b) {
  std::uint32_t both = 0;
  for (std::size_t i = 0; i < sheet_lines; ++i) both |= a[i] & b[i];
  return both != 0;
}

/// What an operation reads of a sheet, counted from where its pattern begins.
struct PartOfSheet {
  std::uint32_t sheet = 0;
  SheetPart where{};
};

/// Where its pieces are not empty they say all that was done to its lines, by operations alone, and the lines are empty.
struct Sheet {
  static constexpr std::size_t most_pieces = 16;
  struct Piece {
    Access access;
    SheetPart where{};
  };
  std::vector<Piece> pieces;
  std::uint32_t newest_cluster = 0;
  std::uint32_t blanket = 0;  ///< of its Shadow's, which says all instead, and the sheet is empty; 0: none
};

/// Sheets one behind the other which one operation has stored, and operations read: a box of a tensor. What it says is all that
/// was done to them since.
struct Blanket {
  static constexpr std::size_t most_readers = 24;
  /// What an operation has read: the parts behind `pattern` that lie in these sheets.
  struct Reader {
    Access access;
    const std::byte* pattern = nullptr;
    const std::vector<PartOfSheet>* parts = nullptr;
  };
  const std::byte* begin = nullptr;
  std::size_t sheets = 0;
  std::uint32_t newest_cluster = 0;
  Access stored;
  std::vector<Reader> readers;
  [[nodiscard]] const std::byte* end() const { return begin + sheets * sheet_bytes; }
};

/// The lines of a run's memory, by the host's addresses. Their room is kept by the thread for its next run, with what the last
/// one left in it: whoever asks for a line knows it for old by the number of its newest cluster (Detector::line_at).
class Shadow {
 public:
  Shadow() = default;
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  static constexpr std::size_t page_bytes = 4096;
  struct Page {
    std::array<Line, page_bytes / line_bytes> lines;
    std::array<Sheet, page_bytes / sheet_bytes> sheets;
  };
  /// The page with this byte.
  Page& page_of(const std::byte* address) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(address) / page_bytes;
    const Near& near = near_[number % near_.size()];
    return near.number == number && near.page != nullptr ? *near.page : find_page(number);
  }

  using Granules = std::array<Granule, line_granules>;
  Granules& granules(std::uint32_t which) { return *granules_[which]; }
  std::uint32_t take_granules();
  /// With their lists.
  void give_back_granules(std::uint32_t which);

  Numbered<Blanket> blankets;
  Numbered<std::vector<Access>> lists;  ///< accesses that a granule has no room for; empty when they are given back

 private:
  static constexpr std::size_t most_spare_pages = 1024;
  static std::vector<std::unique_ptr<Page>>& spare_pages();

  Page& find_page(std::uintptr_t number);

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  struct Near {
    std::uintptr_t number = 0;
    Page* page = nullptr;
  };
  std::array<Near, 64> near_{};  // those that were asked for last
  Numbered<std::unique_ptr<Granules>> granules_;
};

}  // namespace ptx::vgpu::races
