// Warp-wide exchange (rows: ptx/isa/table/warp.hpp).
#include <array>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/memory/undefined.hpp"
#include "ptx/vgpu/ops/collective.hpp"

namespace ptx::vgpu {
namespace {

// ---- shfl.sync: x = d, p, a, b, c; imm = mode

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

void give_value(Warp& warp, const Step& step, Mask mask, Exchange& exchange) {
  const auto* a = warp.slot<std::uint32_t>(step.x[2]);
  for (int l = 0; l < lane_count; ++l)
    if (has_lane(mask, l)) exchange.value[static_cast<std::size_t>(l)] = a[l];
}

// The lane that a lane reads from, and whether it is in range (manual: "shfl.sync", the pseudocode).
struct Source {
  int lane;
  bool in_range;
};
Source source_lane(Shuffle mode, int lane, std::uint32_t b, std::uint32_t c) {
  const int offset = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31), segment = static_cast<int>(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int j = lane;
  bool in_range = false;
  switch (mode) {
    case Shuffle::up:
      j = lane - offset, in_range = j >= most;
      break;
    case Shuffle::down:
      j = lane + offset, in_range = j <= most;
      break;
    case Shuffle::bfly:
      j = lane ^ offset, in_range = j <= most;
      break;
    case Shuffle::idx:
      j = least | (offset & ~segment), in_range = j <= most;
      break;
  }
  return {in_range ? j : lane, in_range};
}

bool take_shuffled(Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
  const auto mode = static_cast<Shuffle>(step.imm);
  const auto* b = warp.slot<std::uint32_t>(step.x[3]);
  const auto* c = warp.slot<std::uint32_t>(step.x[4]);
  std::array<std::uint32_t, lane_count> result{};
  std::array<std::uint32_t, lane_count> undefined{};
  Mask in_range = 0;
  for (int l = 0; l < lane_count; ++l) {
    if (!has_lane(mask, l)) continue;
    const Source source = source_lane(mode, l, b[l], c[l]);
    // "If the source lane is inactive, the value is undefined."
    const bool absent = !has_lane(exchange.members, source.lane);
    if (absent && warp.cta->launch->options.check_initialised) note_absent(warp, step, l, source.lane, exchange.members);
    if (absent)
      undefined[static_cast<std::size_t>(l)] = ~std::uint32_t{0};
    else if (has_lane(exchange.undefined, source.lane))
      undefined[static_cast<std::size_t>(l)] = exchange.undefined_bits[static_cast<std::size_t>(source.lane)];
    result[static_cast<std::size_t>(l)] = exchange.value[static_cast<std::size_t>(source.lane)];
    in_range |= static_cast<Mask>(source.in_range) << l;
  }
  write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int l) { return result[static_cast<std::size_t>(l)]; });
  Mask& p = warp.pred(step.x[1]);
  p = (p & ~mask) | in_range;
  if (warp.traced) pass_shuffled(warp, step, mask, undefined);
  return true;
}
constexpr Collective shuffle = {give_value, take_shuffled, true};

// A full warp with constant b and c, the usual butterfly: no lane can be missing. x[5] holds each lane's source, x[6] is which
// are in range.
struct UniformShuffle {
  [[gnu::always_inline]] static Outcome run(Warp& warp, const Step& step, Mask mask) {
    if (mask != all_lanes || warp.traced) return meet<shuffle>(warp, step, mask);
    const auto* a = warp.slot<std::uint32_t>(step.x[2]);
    const auto& from = *reinterpret_cast<const std::array<std::uint32_t, lane_count>*>(warp.slot<std::uint32_t>(step.x[5]));
    std::array<std::uint32_t, lane_count> result;
    for (std::size_t l = 0; l < lane_count; ++l) result[l] = a[from[l]];
    auto* d = warp.slot<std::uint32_t>(step.x[0]);
    for (std::size_t l = 0; l < lane_count; ++l) d[l] = result[l];
    warp.pred(step.x[1]) = static_cast<Mask>(step.x[6]);
    return Outcome::next;
  }
};

// ---- vote.sync: x = d, a, the flip of a

void give_pred(Warp& warp, const Step& step, Mask mask, Exchange& exchange) {
  exchange.pred |= (warp.pred(step.x[1]) ^ step.x[2]) & mask;
}
template <class F>
bool take_vote(Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
  Mask& d = warp.pred(step.x[0]);
  d = (d & ~mask) | (F{}(exchange.pred, exchange.members) ? mask : 0);
  return true;
}
constexpr auto all_of = [](Mask pred, Mask members) { return pred == members; };
constexpr auto any_of = [](Mask pred, Mask) { return pred != 0; };
constexpr auto uniform = [](Mask pred, Mask members) { return pred == 0 || pred == members; };
constexpr Collective vote_all = {give_pred, take_vote<decltype(all_of)>, false, SettledBy::one_false};
constexpr Collective vote_any = {give_pred, take_vote<decltype(any_of)>, false, SettledBy::one_true};
constexpr Collective vote_uni = {give_pred, take_vote<decltype(uniform)>};
constexpr Collective ballot = {give_pred, [](Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
                                 write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int) { return exchange.pred; });
                                 return true;
                               }};

// ---- redux.sync: x = d, -, a

template <class T, class F>
constexpr Collective reduction = {
    give_value, [](Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
      auto result = static_cast<T>(exchange.value[static_cast<std::size_t>(lowest_lane(exchange.members))]);
      for (Mask left = exchange.members & (exchange.members - 1); left != 0; left &= left - 1)
        result = F{}(result, static_cast<T>(exchange.value[static_cast<std::size_t>(lowest_lane(left))]));
      write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int) { return static_cast<std::uint32_t>(result); });
      return true;
    }};
template <class T, class F>
Handler reduce(Decoding& in, F) {
  const Type type = in.has("type") ? in.type("type") : Type::b32;
  in.step.x[0] = in.write("d", type);
  in.step.x[2] = in.read("a", type);
  return collective<reduction<T, F>>(in);
}

// ---- elect.sync: x = d, p

constexpr Collective election = {[](Warp&, const Step&, Mask, Exchange&) {},
                                 [](Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
                                   const int leader = lowest_lane(exchange.members);
                                   write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask,
                                               [=](int) { return static_cast<std::uint32_t>(leader); });
                                   Mask& p = warp.pred(step.x[1]);
                                   p = (p & ~mask) | (mask & Mask{1} << leader);
                                   return true;
                                 }};

// ---- redux.sync of f32: x = d, -, a; imm: flags. Numbers in their order, -0 below +0, are integers in theirs.

constexpr std::int64_t greatest_flag = 1, size_flag = 2, nan_flag = 4;

constexpr Collective float_reduction = {give_value, [](Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
                                          const bool greatest = (step.imm & greatest_flag) != 0;
                                          std::uint32_t result = num::nan32;
                                          bool found = false, found_nan = false;
                                          const auto rank = [](std::uint32_t bits) {
                                            return static_cast<std::int32_t>(bits ^ ((bits >> 31) != 0 ? 0x7FFF'FFFFu : 0u));
                                          };
                                          for (Mask left = exchange.members; left != 0; left &= left - 1) {
                                            std::uint32_t bits = exchange.value[static_cast<std::size_t>(lowest_lane(left))];
                                            if ((step.imm & size_flag) != 0) bits &= 0x7FFF'FFFFu;
                                            if ((bits & 0x7FFF'FFFFu) > 0x7F80'0000u) {
                                              found_nan = true;
                                              continue;
                                            }
                                            if (!found || (greatest ? rank(bits) > rank(result) : rank(bits) < rank(result)))
                                              result = bits;
                                            found = true;
                                          }
                                          if (found_nan && (step.imm & nan_flag) != 0) result = num::nan32;
                                          write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int) { return result; });
                                          return true;
                                        }};

// ---- match.sync: x = d, p, a

template <class T>
void give_to_match(Warp& warp, const Step& step, Mask mask, Exchange& exchange) {
  const auto* a = warp.slot<T>(step.x[2]);
  for (std::size_t l = 0; l < lane_count; ++l) {
    if (!has_lane(mask, static_cast<int>(l))) continue;
    exchange.value[l] = static_cast<std::uint32_t>(a[l]);
    exchange.high[l] = static_cast<std::uint32_t>(std::uint64_t{a[l]} >> 32);
  }
}
// The members whose value is a lane's.
Mask matching(const Exchange& exchange, std::size_t lane) {
  Mask same = 0;
  for (Mask left = exchange.members; left != 0; left &= left - 1) {
    const auto l = static_cast<std::size_t>(lowest_lane(left));
    if (exchange.value[l] == exchange.value[lane] && exchange.high[l] == exchange.high[lane]) same |= Mask{1} << l;
  }
  return same;
}
template <class T>
constexpr Collective match_any_value = {give_to_match<T>, [](Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
                                          auto* d = warp.slot<std::uint32_t>(step.x[0]);
                                          for (Mask left = mask; left != 0; left &= left - 1) {
                                            const auto l = static_cast<std::size_t>(lowest_lane(left));
                                            d[l] = matching(exchange, l);
                                          }
                                          return true;
                                        }};
template <class T>
constexpr Collective match_all_values = {
    give_to_match<T>, [](Warp& warp, const Step& step, Mask mask, const Exchange& exchange) {
      const bool same = matching(exchange, static_cast<std::size_t>(lowest_lane(exchange.members))) == exchange.members;
      write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [&](int) { return same ? exchange.members : 0; });
      Mask& p = warp.pred(step.x[1]);
      p = (p & ~mask) | (same ? mask : 0);
      return true;
    }};

// ---- without .sync: among the lanes that are together here

template <const Collective& what>
Outcome exchange_together(Warp& warp, const Step& step, Mask mask) {
  Exchange exchange;
  exchange.members = mask;
  const bool was_traced = warp.traced;
  give(warp, step, mask, what, exchange);
  if (!take(warp, step, mask, what, exchange)) return Outcome::fault;
  return warp.traced == was_traced ? Outcome::next : go_on_behind(warp, step);
}
template <const Collective& what>
Handler together(Decoding& in) {
  in.step.collective = &what;
  return &exchange_together<what>;
}

void read_shuffle(Decoding& in) {
  const std::string_view mode = in.chosen("mode");
  const Shuffle shuffle_mode = mode == "up"     ? Shuffle::up
                               : mode == "down" ? Shuffle::down
                               : mode == "bfly" ? Shuffle::bfly
                                                : Shuffle::idx;
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.write_pred("p");
  in.step.x[2] = in.read("a", Type::b32);
  in.step.x[3] = in.read("b", Type::b32);
  in.step.x[4] = in.read("c", Type::b32);
  in.step.imm = static_cast<std::int64_t>(shuffle_mode);
}

}  // namespace

namespace op {

Handler shfl_sync(Decoding& in) {
  read_shuffle(in);
  const auto shuffle_mode = static_cast<Shuffle>(in.step.imm);
  const Handler general = collective<shuffle>(in);
  const auto b = in.immediate("b"), c = in.immediate("c"), members = in.immediate("membermask");
  if (!b || !c || !members || static_cast<Mask>(*members) != all_lanes) return general;
  std::array<std::uint32_t, lane_count> from{};
  for (int l = 0; l < lane_count; ++l) {
    const Source source = source_lane(shuffle_mode, l, static_cast<std::uint32_t>(*b), static_cast<std::uint32_t>(*c));
    from[static_cast<std::size_t>(l)] = static_cast<std::uint32_t>(source.lane);
    in.step.x[6] |= static_cast<Mask>(source.in_range) << l;
  }
  in.step.x[5] = in.lane_constant(from);
  return Compiled<UniformShuffle>::handler();
}

Handler vote_sync(Decoding& in) {
  const Decoding::Pred a = in.read_pred("a");
  in.step.x = {in.write_pred("d"), a.offset, a.flip};
  const std::string_view mode = in.chosen("mode");
  return mode == "all" ? collective<vote_all>(in) : mode == "any" ? collective<vote_any>(in) : collective<vote_uni>(in);
}

Handler vote_ballot(Decoding& in) {
  const Decoding::Pred a = in.read_pred("a");
  in.step.x = {in.write("d", Type::b32), a.offset, a.flip};
  return collective<ballot>(in);
}

Handler redux_sync(Decoding& in) {
  const std::string_view what = in.chosen("op");
  using U = std::uint32_t;
  using S = std::int32_t;
  if (what == "add") return reduce<U>(in, [](U a, U b) { return a + b; });
  if (what == "and") return reduce<U>(in, [](U a, U b) { return a & b; });
  if (what == "or") return reduce<U>(in, [](U a, U b) { return a | b; });
  if (what == "xor") return reduce<U>(in, [](U a, U b) { return a ^ b; });
  const bool with_sign = in.type("type") == Type::s32;
  if (what == "min")
    return with_sign ? reduce<S>(in, [](S a, S b) { return b < a ? b : a; })
                     : reduce<U>(in, [](U a, U b) { return b < a ? b : a; });
  return with_sign ? reduce<S>(in, [](S a, S b) { return a < b ? b : a; })
                   : reduce<U>(in, [](U a, U b) { return a < b ? b : a; });
}

Handler redux_sync_f32(Decoding& in) {
  in.step.x[0] = in.write("d", Type::f32);
  in.step.x[2] = in.read("a", Type::f32);
  in.step.imm =
      (in.chosen("op") == "max" ? greatest_flag : 0) | (in.wrote("abs") ? size_flag : 0) | (in.wrote("NaN") ? nan_flag : 0);
  return collective<float_reduction>(in);
}

Handler match_any(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[0] = in.write("d", Type::u32);
  in.step.x[2] = in.read("a", type);
  return isa::bits(type) == 64 ? collective<match_any_value<std::uint64_t>>(in) : collective<match_any_value<std::uint32_t>>(in);
}

Handler match_all(Decoding& in) {
  const Type type = in.type("type");
  in.step.x[0] = in.write("d", Type::u32);
  in.step.x[1] = in.write_pred("p");
  in.step.x[2] = in.read("a", type);
  return isa::bits(type) == 64 ? collective<match_all_values<std::uint64_t>>(in)
                               : collective<match_all_values<std::uint32_t>>(in);
}

Handler shfl(Decoding& in) {
  read_shuffle(in);
  return together<shuffle>(in);
}

Handler vote(Decoding& in) {
  const Decoding::Pred a = in.read_pred("a");
  in.step.x = {in.write_pred("d"), a.offset, a.flip};
  const std::string_view mode = in.chosen("mode");
  return mode == "all" ? together<vote_all>(in) : mode == "any" ? together<vote_any>(in) : together<vote_uni>(in);
}

Handler vote_ballot_together(Decoding& in) {
  const Decoding::Pred a = in.read_pred("a");
  in.step.x = {in.write("d", Type::b32), a.offset, a.flip};
  return together<ballot>(in);
}

Handler activemask(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  return [](Warp& warp, const Step& step, Mask mask) {
    write_lanes(warp.slot<std::uint32_t>(step.x[0]), mask, [=](int) { return mask; });
    return Outcome::next;
  };
}

Handler elect_sync(Decoding& in) {
  in.step.x[0] = in.write("d", Type::b32);
  in.step.x[1] = in.write_pred("p");
  return collective<election>(in);
}

}  // namespace op
}  // namespace ptx::vgpu
