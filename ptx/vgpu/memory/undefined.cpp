#include "ptx/vgpu/memory/undefined.hpp"

#include <algorithm>

#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/memory/undefined_bits.hpp"
#include "ptx/vgpu/ops/access.hpp"

namespace ptx::vgpu {
namespace {

const Trace& trace_of(const Warp& warp, const Step& step) { return warp.cta->launch->code.traces[step.item]; }
std::span<const std::uint32_t> scalars(const Warp& warp, std::uint32_t first, std::uint32_t count) {
  return std::span(warp.cta->launch->code.traced).subspan(first, count);
}
std::span<const std::uint32_t> needs(const Warp& warp, const Trace& t) { return scalars(warp, t.first, t.needs); }
std::span<const std::uint32_t> values(const Warp& warp, const Trace& t) { return scalars(warp, t.first + t.needs, t.values); }
std::span<const std::uint32_t> results(const Warp& warp, const Trace& t) {
  return scalars(warp, t.first + t.needs + t.values, t.results);
}
Mask undefined(const Warp& warp, std::uint32_t scalar) { return scalar == no_scalar ? 0 : warp.undefined[scalar]; }

// Where undefined values come from: ids below the body's size are instructions that loaded one, the others are registers.
std::uint32_t source_of_register(const Code& code, std::uint32_t scalar) {
  return static_cast<std::uint32_t>(code.function->body.size()) + scalar;
}

// The lanes of a result are undefined where `lanes` says so, and defined in the others of the mask.
void set(Warp& warp, std::uint32_t scalar, Mask mask, Mask lanes, std::uint32_t source) {
  if (scalar == no_scalar) return;
  warp.undefined[scalar] = (warp.undefined[scalar] & ~mask) | (lanes & mask);
  warp.partly[scalar] &= ~mask;
  if ((lanes & mask) != 0) warp.undefined_source[scalar] = source;
}
// The same, bit by bit.
void set(Warp& warp, std::uint32_t scalar, Mask mask, const std::array<RegisterBits, lane_count>& bits, std::uint32_t source) {
  if (scalar == no_scalar) return;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    set_undefined_bits(warp, scalar, lane, bits[static_cast<std::size_t>(lane)]);
  }
  if ((warp.undefined[scalar] & mask) != 0) warp.undefined_source[scalar] = source;
}
void set_results(Warp& warp, const Trace& trace, Mask mask, Mask lanes, std::uint32_t source) {
  for (const std::uint32_t scalar : results(warp, trace)) set(warp, scalar, mask, lanes, source);
}

// What is known of where undefined values come from; null: nothing. Of registers that an instruction has read together with
// others that nothing had written one stands for all.
const UndefinedSource* known_source(const Warp& warp, std::uint32_t source) {
  const auto found = warp.undefined_sources.find(source);
  if (found != warp.undefined_sources.end()) return &found->second;
  const Code& code = warp.cta->launch->code;
  const auto body = static_cast<std::uint32_t>(code.function->body.size());
  if (source < body) return nullptr;
  for (const auto& [key, known] : warp.undefined_sources) {
    if (key < body) continue;
    const Trace& trace = code.traces[known.item];
    const auto read = scalars(warp, trace.first, std::uint32_t{trace.needs} + trace.values);
    if (std::find(read.begin(), read.end(), source - body) != read.end()) return &known;
  }
  return nullptr;
}

Outcome fail_undefined(Warp& warp, const Step& step, Mask lanes, std::uint32_t scalar, std::string_view does) {
  const Code& code = warp.cta->launch->code;
  const std::uint32_t source = without_gap(code, warp.undefined_source[scalar]);
  const UndefinedSource* const found = known_source(warp, source);
  std::string message = cat(does, " `", code.scalar_name(scalar), '`');
  std::vector<std::string> notes;
  const bool of_register = source >= code.function->body.size();
  if (source == source_of_register(code, scalar)) {
    message += ", which nothing has written";
  } else {
    message += ", whose value is undefined";
    if (of_register)
      notes.push_back(cat("it comes from `", code.scalar_name(source - static_cast<std::uint32_t>(code.function->body.size())),
                          "`, which nothing has written"));
    if (found != nullptr) {
      notes.push_back(cat(of_register ? "which was read first at " : "it comes from ", say_place(code, found->item)));
      if (!found->message.empty()) notes.push_back(cat("which ", found->message));
    }
  }
  return warp.fail(step, lowest_lane(lanes), of_register ? Rule::U_02 : Rule::U_01, std::move(message), std::move(notes));
}

// ---- handing on

// Where the undefined ones of these values come from: a gap only when all of them do.
std::uint32_t common_source(const Warp& warp, std::span<const std::uint32_t> from, Mask mask) {
  const Code& code = warp.cta->launch->code;
  std::uint32_t gap = 0;
  for (const std::uint32_t scalar : from) {
    if ((undefined(warp, scalar) & mask) == 0) continue;
    const std::uint32_t source = warp.undefined_source[scalar];
    if (!is_gap(code, source)) return source;
    gap = source;
  }
  return gap;
}
Mask any_undefined(const Warp& warp, std::span<const std::uint32_t> from, Mask mask) {
  Mask lanes = 0;
  for (const std::uint32_t scalar : from) lanes |= undefined(warp, scalar);
  return lanes & mask;
}

Outcome pass_on(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  const Mask lanes = any_undefined(warp, from, mask);
  const std::uint32_t source = lanes == 0 ? 0 : without_gap(warp.cta->launch->code, common_source(warp, from, mask));
  const Outcome outcome = step.run(warp, step, mask);
  if (outcome == Outcome::next) set_results(warp, trace, mask, lanes, source);
  return outcome;
}

// Runs the step, whose one result has these undefined bits.
Outcome run_and_set(Warp& warp, const Step& step, Mask mask, const Trace& trace, const std::array<RegisterBits, lane_count>& bits,
                    std::uint32_t source) {
  const Outcome outcome = step.run(warp, step, mask);
  if (outcome == Outcome::next) set(warp, results(warp, trace)[0], mask, bits, source);
  return outcome;
}

RegisterBits bits_undefined_in(const Warp& warp, std::uint32_t scalar, int lane) {
  return scalar == no_scalar ? RegisterBits{} : undefined_bits(warp, scalar, lane);
}

// d = c ? a : b
Outcome pass_chosen(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  const Mask lanes = any_undefined(warp, from, mask);
  if (lanes == 0) return pass_on(warp, step, mask, trace);
  const Mask c = warp.pred(step.x[3]) ^ static_cast<Mask>(step.x[4]), unknown = undefined(warp, from[2]);
  std::array<RegisterBits, lane_count> bits{};
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    bits[static_cast<std::size_t>(lane)] =
        has_lane(unknown, lane) ? low_bits(128) : bits_undefined_in(warp, from[has_lane(c, lane) ? 0 : 1], lane);
  }
  const std::uint32_t source = common_source(warp, from, mask);
  return run_and_set(warp, step, mask, trace, bits, (unknown & mask) == 0 ? source : without_gap(warp.cta->launch->code, source));
}

// Where a bit goes is told by trial; one that may go here or there makes the whole result undefined.
Outcome pass_bits(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  const auto data = from.first(std::min<std::size_t>(trace.data, from.size())), where = from.subspan(data.size());
  const Mask lanes = any_undefined(warp, from, mask), anywhere = any_undefined(warp, where, mask);
  if (lanes == 0) return pass_on(warp, step, mask, trace);
  std::uint32_t source = common_source(warp, from, mask);
  if (anywhere != 0) source = without_gap(warp.cta->launch->code, source);
  const auto to = results(warp, trace);
  auto bits = try_bits(warp, step, lanes, data, to, trace.bitwise);
  const Outcome outcome = step.run(warp, step, mask);
  for (std::size_t r = 0; r < to.size() && outcome == Outcome::next; ++r) {
    for (Mask left = anywhere; left != 0; left &= left - 1) bits[r][static_cast<std::size_t>(lowest_lane(left))] = low_bits(128);
    set(warp, to[r], mask, bits[r], source);
  }
  return outcome;
}

// The part of a register that a packed instruction knows as number `part`.
bool has_undefined_part(const Warp& warp, std::uint32_t scalar, int lane, std::uint32_t part, std::uint32_t parts) {
  if (scalar == no_scalar) return false;
  const std::uint32_t width = warp.cta->launch->code.scalar_slots[scalar].bits / parts;
  return (undefined_bits(warp, scalar, lane) & (low_bits(width * (part + 1)) ^ low_bits(width * part))).any();
}
Outcome pass_parts(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  const std::uint32_t to = results(warp, trace)[0], parts = trace.parts;
  const Mask lanes = any_undefined(warp, from, mask);
  if (lanes == 0 || to == no_scalar) return pass_on(warp, step, mask, trace);
  const std::uint32_t width = warp.cta->launch->code.scalar_slots[to].bits / parts;
  std::array<RegisterBits, lane_count> bits{};
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    for (std::uint32_t part = 0; part < parts; ++part) {
      bool unknown = false;
      if (trace.passes == Passes::packed)
        for (const std::uint32_t scalar : from) unknown |= has_undefined_part(warp, scalar, lane, part, parts);
      else
        unknown = bits_undefined_in(warp, from[parts - 1 - part], lane).any();
      if (unknown)
        bits[static_cast<std::size_t>(lane)] =
            bits[static_cast<std::size_t>(lane)] | (low_bits(width * (part + 1)) ^ low_bits(width * part));
    }
  }
  return run_and_set(warp, step, mask, trace, bits, without_gap(warp.cta->launch->code, common_source(warp, from, mask)));
}

// A move of a vector onto itself may change the order of its elements.
Outcome pass_each(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace), to = results(warp, trace);
  if (any_undefined(warp, from, mask) == 0) return pass_on(warp, step, mask, trace);
  std::array<std::array<RegisterBits, lane_count>, 8> moved{};
  std::array<std::uint32_t, 8> sources{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == no_scalar) continue;
    sources[i] = warp.undefined_source[from[i]];
    for (Mask left = undefined(warp, from[i]) & mask; left != 0; left &= left - 1)
      moved[i][static_cast<std::size_t>(lowest_lane(left))] = undefined_bits(warp, from[i], lowest_lane(left));
  }
  const Outcome outcome = step.run(warp, step, mask);
  for (std::size_t i = 0; i < to.size() && outcome == Outcome::next; ++i) set(warp, to[i], mask, moved[i], sources[i]);
  return outcome;
}

// A store of undefined values: a fault where others see it, unless it is a gap that is copied; else their bits count as
// undefined.
Outcome store(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  if (any_undefined(warp, from, mask) == 0) return step.run(warp, step, mask);
  const Code& code = warp.cta->launch->code;
  const RegisterBits stored = low_bits(trace.bits);
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  for (const std::uint32_t scalar : from) {
    if (scalar == no_scalar || is_gap(code, warp.undefined_source[scalar])) continue;
    Mask seen = 0;
    for (Mask left = undefined(warp, scalar) & mask; left != 0; left &= left - 1) {
      const int lane = lowest_lane(left);
      const bool is_stored = (undefined_bits(warp, scalar, lane) & stored).any();
      if (is_stored && outlives_block(step.space, address[static_cast<std::size_t>(lane)])) seen |= Mask{1} << lane;
    }
    if (seen != 0) return fail_undefined(warp, step, seen, scalar, "stores");
  }
  const Outcome outcome = step.run(warp, step, mask);
  if (outcome != Outcome::next) return outcome;
  ++marks_taken_back;
  const std::uint32_t bytes = trace.bits / 8;
  for (std::size_t k = 0; k < from.size(); ++k)
    for (Mask left = undefined(warp, from[k]) & mask; left != 0; left &= left - 1) {
      const int lane = lowest_lane(left);
      std::uint8_t* const marks = marks_of(warp, step.space, lane, address[static_cast<std::size_t>(lane)] + k * bytes, bytes);
      if (marks == nullptr) continue;
      const RegisterBits unknown = undefined_bits(warp, from[k], lane);
      const bool gap = is_gap(code, warp.undefined_source[from[k]]);
      for (std::uint32_t i = 0; i < bytes; ++i)  // in global memory others may look at them meanwhile
        std::atomic_ref(marks[i]).store(mark_of(byte_of(unknown, i), gap), std::memory_order_relaxed);
    }
  return outcome;
}

// What a lane loads as one element is the gap of a structure, as far as it is undefined: other bytes of the element are written,
// or bytes beside it in the thread's own memory are. Where an undefined value was stored, it is that value.
bool loads_gap(const Warp& warp, const Step& step, std::uint64_t address, std::span<const std::uint8_t> marks) {
  const auto none_is = [&](std::uint8_t mark) { return std::find(marks.begin(), marks.end(), mark) == marks.end(); };
  if (!none_is(undefined_mark)) return false;
  if (std::any_of(marks.begin(), marks.end(), [](std::uint8_t mark) { return defined_bits(mark) != 0; })) return true;
  if (none_is(0)) return true;
  const bool is_local = (step.space == Space::generic ? space_of(address) : step.space) == Space::local;
  if (!is_local) return false;
  const MemoryRegion& region = warp.local_region;
  const std::uint64_t at = address - (step.space == Space::generic ? local_window : 0) - region.begin;
  // No type of CUDA's has elements that are aligned to more than 16 bytes: the gap before one begins in the same 16 bytes.
  const std::uint64_t first = at / 16 * 16, end = std::min(region.size, (at + marks.size() + 15) / 16 * 16);
  return std::any_of(marks.data() - (at - first), marks.data() + (end - at), [](std::uint8_t mark) { return mark != 0; });
}

}  // namespace

void begin_tracing(Warp& warp) {
  if (warp.traced) return;
  const Code& code = warp.cta->launch->code;
  warp.traced = true;
  warp.undefined.assign(code.scalar_count(), 0);
  warp.partly.assign(code.scalar_count(), 0);
  warp.undefined_source.assign(code.scalar_count(), 0);
  for (const MaybeUnwritten& reg : code.maybe_unwritten) {
    warp.undefined[reg.scalar] = ~warp.pred(reg.written);
    warp.undefined_source[reg.scalar] = source_of_register(code, reg.scalar);
  }
}

void end_tracing_if_clean(Warp& warp) {
  const auto is_undefined = [&](Mask lanes) { return (lanes & warp.live) != 0; };
  const std::vector<MaybeUnwritten>& unwritten = warp.cta->launch->code.maybe_unwritten;
  warp.traced = std::count_if(warp.undefined.begin(), warp.undefined.end(), is_undefined) >
                std::count_if(unwritten.begin(), unwritten.end(), [&](const MaybeUnwritten& reg) {
                  return is_undefined(warp.undefined[reg.scalar]) && warp.undefined[reg.scalar] == ~warp.pred(reg.written);
                });
  if (warp.traced) return;
  warp.undefined_bits.clear();
  warp.undefined_sources.clear();
}

Outcome run_traced(Warp& warp, const Step& step, Mask mask) {
  const Code& code = warp.cta->launch->code;
  const Trace& trace = trace_of(warp, step);
  if (const ir::Inst& inst = code.function->body[step.item]; inst.guard_id().valid()) {
    const std::uint32_t guard = code.first_scalar[inst.guard];
    if (const Mask lanes = warp.undefined[guard] & warp.active; lanes != 0)
      return fail_undefined(warp, step, lanes, guard, "is guarded by");
  }
  if (mask == 0) return Outcome::next;
  const bool memory = trace.passes == Passes::loaded || trace.passes == Passes::stored;
  if (trace.passes == Passes::by_handler) return step.run(warp, step, mask);
  for (const std::uint32_t scalar : needs(warp, trace))
    if (const Mask lanes = warp.undefined[scalar] & mask; lanes != 0)
      return fail_undefined(warp, step, lanes, scalar, memory ? "takes its address from" : "reads");
  switch (trace.passes) {
    case Passes::on:
      return pass_on(warp, step, mask, trace);
    case Passes::chosen:
      return pass_chosen(warp, step, mask, trace);
    case Passes::bits:
      return pass_bits(warp, step, mask, trace);
    case Passes::packed:
    case Passes::paired:
      return pass_parts(warp, step, mask, trace);
    case Passes::each:
      return pass_each(warp, step, mask, trace);
    case Passes::loaded:
    case Passes::updated:
      set_results(warp, trace, mask, 0, 0);  // the handler says what is undefined
      return step.run(warp, step, mask);
    case Passes::stored:
      return store(warp, step, mask, trace);
    case Passes::exchanged:
    case Passes::reduced:
      return step.run(warp, step, mask);  // where lanes meet, pass_exchanged is called
    case Passes::by_handler:
    case Passes::nowhere:
      break;
  }
  const Outcome outcome = step.run(warp, step, mask);
  if (outcome == Outcome::next) set_results(warp, trace, mask, 0, 0);
  return outcome;
}

void note_unwritten(Warp& warp, const Step& step, std::uint32_t scalar) {
  begin_tracing(warp);
  const std::uint32_t source = source_of_register(warp.cta->launch->code, scalar);
  warp.undefined_sources.try_emplace(source, UndefinedSource{step.item, {}});
}

void note_unwritten(Warp& warp, const Step& step, Mask mask, std::uint32_t elements, std::uint32_t element_bytes,
                    const std::uint64_t* addresses, const std::array<Place, lane_count>& places) {
  const Code& code = warp.cta->launch->code;
  const Trace& trace = trace_of(warp, step);
  const auto to = results(warp, trace);
  const std::uint32_t bytes = elements * element_bytes;
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const std::uint8_t* marks = places[static_cast<std::size_t>(lane)].written;
    if (marks == nullptr) continue;
    const auto unwritten = [](std::uint8_t mark) { return mark != written_mark; };
    if (std::none_of(marks, marks + bytes, unwritten)) continue;
    begin_tracing(warp);
    if (!warp.undefined_sources.contains(step.item))
      warp.undefined_sources[step.item] = {step.item, say_unwritten(warp, step.space, addresses[lane], {marks, bytes})};
    const auto register_bytes = static_cast<std::uint32_t>(bytes / to.size());  // a 128-bit register takes two elements
    for (std::size_t k = 0; k < to.size(); ++k) {
      const std::span<const std::uint8_t> of_element(marks + k * register_bytes, register_bytes);
      RegisterBits undefined_here = undefined_bits_of(of_element);
      if (to[k] == no_scalar || !undefined_here.any()) continue;
      if (trace.extends_sign && (byte_of(undefined_here, register_bytes - 1) & 0x80) != 0)
        undefined_here = undefined_here | ~low_bits(8 * register_bytes);
      set_undefined_bits(warp, to[k], lane, undefined_here);
      const bool gap = loads_gap(warp, step, addresses[lane] + k * register_bytes, of_element);
      warp.undefined_source[to[k]] = gap ? source_of_gap(code, step.item) : step.item;
    }
  }
}

Mask undefined_value(const Warp& warp, const Step& step, std::size_t value) {
  return undefined(warp, values(warp, trace_of(warp, step))[value]);
}

bool has_undefined(const Warp& warp, const Step& step) {
  const Trace& t = trace_of(warp, step);
  Mask lanes = 0;
  for (const std::uint32_t scalar : scalars(warp, t.first + t.needs, t.values + t.results)) lanes |= undefined(warp, scalar);
  return lanes != 0;
}

void set_result(Warp& warp, const Step& step, std::size_t result, Mask mask, Mask lanes, std::size_t source) {
  const Trace& trace = trace_of(warp, step);
  const std::uint32_t from = source == no_value ? no_scalar : values(warp, trace)[source];
  const std::uint32_t because = from == no_scalar ? step.item : without_gap(warp.cta->launch->code, warp.undefined_source[from]);
  set(warp, results(warp, trace)[result], mask, lanes, because);
}

void note_found(Warp& warp, const Step& step, std::string message) {
  begin_tracing(warp);
  warp.undefined_sources.try_emplace(step.item, UndefinedSource{step.item, std::move(message)});
}

bool fail_undefined_address(Warp& warp, const Step& step, Mask mask) {
  for (const std::uint32_t scalar : needs(warp, trace_of(warp, step)))
    if (const Mask lanes = warp.undefined[scalar] & mask; lanes != 0) {
      fail_undefined(warp, step, lanes, scalar, "takes its address from");
      return true;
    }
  return false;
}

Outcome fail_undefined_store(Warp& warp, const Step& step, Mask lanes, std::size_t value) {
  return fail_undefined(warp, step, lanes, values(warp, trace_of(warp, step))[value], "stores");
}

void note_absent(Warp& warp, const Step& step, int lane, int source, Mask members) {
  begin_tracing(warp);
  warp.undefined_sources.try_emplace(
      step.item, UndefinedSource{step.item, cat("in lane ", lane, " reads lane ", source,
                                                ", which takes no part; the lanes that take part: ", say_lanes(members))});
}

void give_undefined(const Warp& warp, const Step& step, Mask mask, Exchange& exchange) {
  const auto from = values(warp, trace_of(warp, step));
  const Mask lanes = any_undefined(warp, from, mask);
  exchange.undefined |= lanes;
  for (Mask left = lanes; left != 0; left &= left - 1)
    exchange.undefined_bits[static_cast<std::size_t>(lowest_lane(left))] =
        static_cast<std::uint32_t>(bits_undefined_in(warp, from[0], lowest_lane(left)).low);
}

namespace {

// A lane that takes no part, or what the lanes have given.
std::uint32_t source_of_exchange(const Warp& warp, const Step& step) {
  if (warp.undefined_sources.contains(step.item)) return step.item;
  const auto from = values(warp, trace_of(warp, step));
  return any_undefined(warp, from, all_lanes) == 0 ? step.item : common_source(warp, from, all_lanes);
}

}  // namespace

void pass_exchanged(Warp& warp, const Step& step, Mask mask, Mask undefined_lanes) {
  set_results(warp, trace_of(warp, step), mask, undefined_lanes,
              without_gap(warp.cta->launch->code, source_of_exchange(warp, step)));
}

void pass_undefined_votes(Warp& warp, const Step& step, Mask mask, std::uint32_t unknown, const Barrier& barrier) {
  if (!warp.traced || any_undefined(warp, values(warp, trace_of(warp, step)), mask) == 0)
    note_found(warp, step,
               cat("reduces the predicates of ", unknown, unknown == 1 ? " thread that is" : " threads that are",
                   " undefined, the first in lane ", barrier.unknown_lane, " of warp ", barrier.unknown_warp));
  pass_exchanged(warp, step, mask, mask);
}

void pass_shuffled(Warp& warp, const Step& step, Mask mask, const std::array<std::uint32_t, lane_count>& given) {
  const std::uint32_t source = source_of_exchange(warp, step);
  std::array<RegisterBits, lane_count> bits{};
  for (std::size_t l = 0; l < lane_count; ++l) bits[l].low = given[l];
  const auto to = results(warp, trace_of(warp, step));
  set(warp, to[0], mask, bits, source);
  for (const std::uint32_t predicate : to.subspan(1)) set(warp, predicate, mask, Mask{0}, source);
}

}  // namespace ptx::vgpu
