// Addresses, caches and the stack (rows: ptx/isa/table/data_movement.hpp).
#include <atomic>

#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/ops/map.hpp"

namespace ptx::vgpu {
namespace {

// .const is read through global addresses.
Space chosen_space(const Decoding& in) {
  const std::string_view word = in.chosen("space");
  return word == "shared::cluster"    ? Space::cluster
         : word.starts_with("shared") ? Space::shared
         : word == "local"            ? Space::local
         : word.starts_with("param")  ? Space::param
                                      : Space::global;
}

// Constants lie among the global addresses: a variable of .const is one that a kernel may not write.
bool is_constant(const Warp& warp, std::uint64_t address) {
  const auto variables = warp.cta->launch->code.instance->regions();
  return std::any_of(variables.begin(), variables.end(), [&](const Region& region) {
    return !region.writable && address - reinterpret_cast<std::uintptr_t>(region.data) < region.bytes;
  });
}

// x[0] = p, x[1] = a; imm = Space, target = 1 for .const
template <class Address>
Outcome is_in_space(Warp& warp, const Step& step, Mask mask) {
  const auto* a = warp.slot<Address>(step.x[1]);
  const auto space = static_cast<Space>(step.imm);
  const Cta& cta = *warp.cta;
  const Mask holds = lanes_where([&](int l) {
    const Space found = space_of(a[l]);
    if (space == Space::global) return found == space && is_constant(warp, a[l]) == (step.target != 0);
    if (found != Space::shared) return found == space;
    const std::uint64_t rank = rank_of(a[l] - shared_window);
    return (space == Space::shared && rank == cta.rank) || (space == Space::cluster && rank < cta.cluster->blocks.size());
  });
  Mask& p = warp.pred(step.x[0]);
  p = (p & ~mask) | (holds & mask);
  return Outcome::next;
}

void read_place(Decoding& in) {
  const auto address = in.read_address("a");
  in.step.x[8] = address.base;
  in.step.imm = address.offset;
  in.step.narrow_address = address.narrow;
  in.step.space = in.space("a");
  in.step.site = in.new_site();
}

// What is discarded holds nothing until it is written again, where that is kept track of; elsewhere it stays what it was.
constexpr std::uint32_t line_bytes = 128;
Outcome discard_line(Warp& warp, const Step& step, Mask mask) {
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  std::array<Place, lane_count> places;
  if (!find_places(warp, step, mask, step.space, true, line_bytes, address.data(), places)) return Outcome::fault;
  ++warp.cta->changes;
  for (Mask left = mask; left != 0; left &= left - 1)
    if (std::uint8_t* const marks = places[static_cast<std::size_t>(lowest_lane(left))].written; marks != nullptr)
      for (std::uint32_t i = 0; i < line_bytes; ++i) std::atomic_ref(marks[i]).store(0, std::memory_order_relaxed);
  return Outcome::next;
}

// What createpolicy makes on a Hopper GPU for all addresses; the bits of fractions and ranges are nobody's but the GPU's.
std::uint64_t policy_bits(std::string_view primary) {
  return primary.ends_with("first")  ? 0x12F0'0000'0000'0000u
         : primary.ends_with("last") ? 0x14F0'0000'0000'0000u
                                     : 0x1000'0000'0000'0000u;
}

// ---- the stack: each thread's grows from lower to higher local addresses. x[0] = the stack pointer, x[1] = the operand

// Nobody has written these bytes of a lane's stack: they are taken, or given back.
void forget(Warp& warp, int lane, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (std::uint8_t* const marks = marks_of(warp, Space::local, lane, from, bytes); marks != nullptr)
    std::fill_n(marks, bytes, std::uint8_t{0});
}

template <class Word>
Outcome save_stack(Warp& warp, const Step& step, Mask mask) {
  const auto* top = warp.slot<std::uint64_t>(step.x[0]);
  write_lanes(warp.slot<Word>(step.x[1]), mask, [=](int l) { return static_cast<Word>(top[l]); });
  return Outcome::next;
}

template <class Word>
Outcome restore_stack(Warp& warp, const Step& step, Mask mask) {
  const Code& code = warp.cta->launch->code;
  auto* top = warp.slot<std::uint64_t>(step.x[0]);
  const auto* saved = warp.slot<Word>(step.x[1]);
  for (Mask left = mask; left != 0; left &= left - 1)
    if (const int l = lowest_lane(left); saved[l] < local_base + code.stack_begin || saved[l] > local_base + code.local_bytes)
      return warp.fail(step, l, Kind::out_of_bounds,
                       cat("makes 0x", hex(saved[l]), " the stack pointer, which is not in the stack"));
  for (Mask left = mask; left != 0; left &= left - 1) {  // what is given back nobody has written, should somebody still read it
    const int l = lowest_lane(left);
    const std::uint64_t from = saved[l];
    forget(warp, l, from, top[l] > from ? top[l] - from : 0);
    top[l] = from;
  }
  return Outcome::next;
}

// x[2] = size, imm = alignment. What it gives nobody has written.
template <class Word>
Outcome allocate_stack(Warp& warp, const Step& step, Mask mask) {
  const std::uint64_t end = local_base + warp.cta->launch->code.local_bytes;
  auto* top = warp.slot<std::uint64_t>(step.x[0]);
  auto* ptr = warp.slot<Word>(step.x[1]);
  const auto* size = warp.slot<Word>(step.x[2]);
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int l = lowest_lane(left);
    const std::uint64_t begin = align_size(top[l], static_cast<std::uint64_t>(step.imm)), bytes = size[l];
    if (begin > end || bytes > end - begin)
      return warp.fail(
          step, l, Kind::out_of_bounds,
          cat("takes ", bytes, " bytes of the stack, of which ", begin > end ? 0 : end - begin, " are left of ", stack_bytes));
    forget(warp, l, begin, bytes);
    top[l] = begin + bytes;
    ptr[l] = static_cast<Word>(begin);
  }
  return Outcome::next;
}

template <class Make>
Handler by_word(Decoding& in, std::string_view name, bool writes, Make make) {
  const Type type = in.type("type");
  in.step.x[0] = in.stack_pointer();
  in.step.x[1] = writes ? in.write(name, type) : in.read(name, type);
  return isa::bits(type) == 64 ? make(std::uint64_t{}) : make(std::uint32_t{});
}

}  // namespace

namespace op {

Handler cvta(Decoding& in) {
  if (in.wrote("u32")) return in.refuse("the executor's generic addresses have 64 bits");
  const Space space = chosen_space(in);
  in.step.x[0] = in.write("d", Type::u64);
  in.step.x[1] = in.read("a", Type::u64);
  in.step.imm = static_cast<std::int64_t>(window_of(space));
  if (in.wrote("to")) in.step.imm = -in.step.imm;
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* a = warp.slot<std::uint64_t>(step.x[1]);
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [&](int l) { return a[l] + static_cast<std::uint64_t>(step.imm); });
    return Outcome::next;
  };
}

Handler cvta_to(Decoding& in) { return cvta(in); }

Handler cvta_symbol(Decoding& in) {
  if (isa::bits(in.type("size")) != 64) return in.refuse("the executor's generic addresses have 64 bits");
  in.step.x[0] = in.write("d", Type::u64);
  const Decoding::Symbol symbol = in.read_symbol("a");
  in.step.x[1] = symbol.base;
  in.step.imm = static_cast<std::int64_t>(window_of(symbol.space) + static_cast<std::uint64_t>(symbol.address));
  return [](Warp& warp, const Step& step, Mask mask) {
    const auto* base = warp.slot<std::uint64_t>(step.x[1]);
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [&](int l) { return base[l] + static_cast<std::uint64_t>(step.imm); });
    return Outcome::next;
  };
}

Handler isspacep(Decoding& in) {
  const bool wide = isa::bits(in.operand_type("a")) == 64;
  in.step.x[0] = in.write_pred("p");
  in.step.x[1] = in.read("a", wide ? Type::u64 : Type::u32);
  in.step.imm = static_cast<std::int64_t>(chosen_space(in));
  in.step.target = in.chosen("space") == "const" ? 1 : 0;
  return wide ? &is_in_space<std::uint64_t> : &is_in_space<std::uint32_t>;
}

// There are no caches: advice about them does nothing, also where there is no memory.
Handler cache_hint(Decoding&) {
  return [](Warp&, const Step&, Mask) { return Outcome::next; };
}

Handler apply_priority(Decoding& in) {
  read_place(in);
  return [](Warp& warp, const Step& step, Mask mask) {
    std::array<std::uint64_t, lane_count> address;
    read_addresses(warp, step, address);
    for (Mask left = mask; left != 0; left &= left - 1)
      if (const auto l = static_cast<std::size_t>(lowest_lane(left)); address[l] % line_bytes != 0)
        return warp.fail(step, static_cast<int>(l), Kind::misaligned,
                         cat("names the cache line at 0x", hex(address[l]), ", which is not a multiple of ", line_bytes));
    return Outcome::next;
  };
}

Handler discard(Decoding& in) {
  read_place(in);
  return &discard_line;
}

Handler createpolicy(Decoding& in) {
  if (in.given("property"))
    return map<std::uint64_t(std::uint64_t)>(in, {"policy", "property"}, [](std::uint64_t a) { return a; });
  in.step.x[0] = in.write("policy", Type::u64);
  in.step.imm = static_cast<std::int64_t>(policy_bits(in.chosen("primary")));
  return [](Warp& warp, const Step& step, Mask mask) {
    write_lanes(warp.slot<std::uint64_t>(step.x[0]), mask, [&](int) { return static_cast<std::uint64_t>(step.imm); });
    return Outcome::next;
  };
}

Handler stacksave(Decoding& in) {
  return by_word(in, "d", true, []<class Word>(Word) -> Handler { return &save_stack<Word>; });
}
Handler stackrestore(Decoding& in) {
  return by_word(in, "a", false, []<class Word>(Word) -> Handler { return &restore_stack<Word>; });
}
Handler allocate_on_stack(Decoding& in) {
  constexpr std::int64_t least_alignment = 8;
  in.step.x[2] = in.read("size", in.type("type"));
  in.step.imm = in.given("align") ? std::max(in.immediate("align").value_or(0), least_alignment) : least_alignment;
  return by_word(in, "ptr", true, []<class Word>(Word) -> Handler { return &allocate_stack<Word>; });
}

}  // namespace op
}  // namespace ptx::vgpu
