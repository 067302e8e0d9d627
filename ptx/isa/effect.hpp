// What an instruction does besides computing: facts of its row, for the checker, the executor, the race rules and the ports. A
// row says each of them once, as a column (row.hpp); what also depends on the modifiers chosen is asked of effects.hpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptx::isa {

/// What has no further facts.
enum class Effect : std::uint8_t {
  pure,       ///< nothing
  control,    ///< changes the flow of control
  volatile_,  ///< has an effect that no operand names (clock, trap, prefetch)
};

/// The way on which memory is accessed (manual: "Proxies"): accesses on different ways are ordered by a fence of the proxy alone.
enum class Proxy : std::uint8_t {
  generic,
  alias,  ///< through several addresses of one place
  async,
  tensormap,  ///< of the map, by a copy that reads it
  texture,    ///< textures and surfaces
  fabric,
};

/// What happens later: an asynchronous instruction completes by it, and others wait for it.
enum class Event : std::uint8_t {
  none,
  untold,  ///< nobody learns of it
  // groups of operations of one thread
  copy_group,
  bulk_group,
  wgmma_group,
  // operations in tensor memory
  tensor_load,
  tensor_store,
  tensor_operation,  ///< mma, cp, shift: tcgen05.commit has an mbarrier track them
  fabric,
  // between threads
  mbarrier,  ///< its phase
  barrier,   ///< all have come
  lanes,     ///< the member lanes have come
  registers,
  tensor_memory,
  grid,  ///< the one ahead has ended
};

/// How an instruction orders memory or threads.
enum class Sync : std::uint8_t {
  none,
  access,          ///< an access that takes part in the order: it has .sem, or is atomic
  fence,           ///< orders the accesses of its thread
  proxy_fence,     ///< orders accesses on two ways: Effects::proxy, and the generic one
  register_fence,  ///< orders registers, and what wgmma does with them
  tensor_fence,    ///< orders operations in tensor memory
  barrier,         ///< threads come together
  exchange,        ///< lanes come together, and see each other's values
  mbarrier,        ///< an operation on one
  group,           ///< waits for operations of its own thread
  pool,            ///< takes from what the CTA's threads share, or gives back
  grid,            ///< orders grids
};

/// Among whom.
enum class Scope : std::uint8_t { none, thread, warp, warpgroup, cta, cluster, gpu, system };

/// Who executes it together.
enum class Converged : std::uint8_t { none, warp, warpgroup };

struct Effects {
  std::string_view reads, writes;  ///< operands that say which memory, with spaces between them
  std::string_view signals;        ///< the mbarrier that is told when it completes
  Proxy proxy = Proxy::generic;
  Event completes = Event::none;  ///< by what an asynchronous instruction completes
  Event commits = Event::none;    ///< closes a group of such, or has them tracked
  Event waits = Event::none;      ///< may block its thread until then
  Sync sync = Sync::none;
  Scope scope = Scope::none;                ///< where no modifier says another
  Converged converged = Converged::none;    ///< where .aligned can be left out: when it is there
  bool control = false, volatile_ = false;  ///< Effect

  [[nodiscard]] constexpr bool is_async() const { return completes != Event::none; }
  [[nodiscard]] constexpr bool is_pure() const { return *this == Effects{}; }
  /// Of memory that the operand names.
  [[nodiscard]] constexpr bool reads_at(std::string_view operand) const { return has_word(reads, operand); }
  [[nodiscard]] constexpr bool writes_at(std::string_view operand) const { return has_word(writes, operand); }
  friend constexpr bool operator==(const Effects&, const Effects&) = default;

 private:
  static constexpr bool has_word(std::string_view words, std::string_view word) {
    while (!words.empty()) {
      const std::size_t end = words.find(' ');
      if (words.substr(0, end) == word) return true;
      words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
    }
    return false;
  }
};

}  // namespace ptx::isa
