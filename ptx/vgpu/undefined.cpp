#include "ptx/vgpu/undefined.hpp"

#include <algorithm>

#include "ptx/vgpu/ops/access.hpp"
#include "ptx/vgpu/waiting.hpp"

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
  if ((lanes & mask) != 0) warp.undefined_source[scalar] = source;
}
void set_results(Warp& warp, const Trace& trace, Mask mask, Mask lanes, std::uint32_t source) {
  for (const std::uint32_t scalar : results(warp, trace)) set(warp, scalar, mask, lanes, source);
}

Outcome fail_undefined(Warp& warp, const Step& step, Mask lanes, std::uint32_t scalar, std::string_view does) {
  const Code& code = warp.cta->launch->code;
  const std::uint32_t source = warp.undefined_source[scalar];
  const auto found = warp.undefined_sources.find(source);
  std::string message = cat(does, " `", code.scalar_name(scalar), '`');
  std::vector<std::string> notes;
  if (source == source_of_register(code, scalar)) {
    message += ", which nothing has written";
  } else {
    message += ", whose value is undefined";
    const bool is_register = source >= code.function->body.size();
    if (is_register)
      notes.push_back(cat("it comes from `", code.scalar_name(source - static_cast<std::uint32_t>(code.function->body.size())),
                          "`, which nothing has written"));
    if (found != warp.undefined_sources.end()) {
      notes.push_back(cat(is_register ? "which was read first at " : "it comes from ", say_place(code, found->second.item)));
      if (!found->second.message.empty()) notes.push_back(cat("which ", found->second.message));
    }
  }
  return warp.fail(step, lowest_lane(lanes), Kind::uninitialised, std::move(message), std::move(notes));
}

// ---- handing on

// The lanes in which one operand of `and` or `or` decides alone, whatever the other is: a defined zero, or all ones.
template <class T>
Mask decided_by(const Warp& warp, const Step& step, std::size_t operand, Mask undefined_lanes, T decides) {
  const auto* a = warp.slot<SlotOf<T>>(step.x[operand]);
  return lanes_where([&](int l) { return from_slot<T>(a[l]) == decides; }) & ~undefined_lanes;
}
Mask decided(const Warp& warp, const Step& step, const Trace& trace, Mask a, Mask b) {
  const bool is_or = trace.passes == Passes::or_;
  const auto by_type = [&]<class T>(T) {
    const T decides = is_or ? static_cast<T>(~T{0}) : T{0};
    return decided_by<T>(warp, step, 1, a, decides) | decided_by<T>(warp, step, 2, b, decides);
  };
  switch (trace.bits) {
    case 1: {  // predicates, each with what it is combined with: x = d, a, b, flip of a, flip of b
      const Mask va = warp.pred(step.x[1]) ^ step.x[3], vb = warp.pred(step.x[2]) ^ step.x[4];
      return ((is_or ? va : ~va) & ~a) | ((is_or ? vb : ~vb) & ~b);
    }
    case 16:
      return by_type(std::uint16_t{});
    case 32:
      return by_type(std::uint32_t{});
    default:
      return by_type(std::uint64_t{});
  }
}

Outcome pass_on(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  Mask lanes = 0;
  std::uint32_t source = 0;
  for (const std::uint32_t scalar : from) {
    if ((undefined(warp, scalar) & mask & ~lanes) == 0) continue;
    lanes |= undefined(warp, scalar);
    source = warp.undefined_source[scalar];
  }
  if (lanes != 0 && trace.passes == Passes::chosen) {  // d = c ? a : b
    const Mask c = warp.pred(step.x[3]) ^ static_cast<Mask>(step.x[4]);
    lanes = undefined(warp, from[2]) | (undefined(warp, from[0]) & c) | (undefined(warp, from[1]) & ~c);
  } else if (lanes != 0 && trace.passes != Passes::on) {
    lanes &= ~decided(warp, step, trace, undefined(warp, from[0]), undefined(warp, from[1]));
  }
  const Outcome outcome = step.run(warp, step, mask);
  if (outcome == Outcome::next) set_results(warp, trace, mask, lanes, source);
  return outcome;
}

// A move of a vector onto itself may change the order of its elements.
Outcome pass_each(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace), to = results(warp, trace);
  std::array<std::pair<Mask, std::uint32_t>, 8> moved;
  for (std::size_t i = 0; i < from.size(); ++i)
    moved[i] = {undefined(warp, from[i]), from[i] == no_scalar ? 0 : warp.undefined_source[from[i]]};
  const Outcome outcome = step.run(warp, step, mask);
  for (std::size_t i = 0; i < to.size() && outcome == Outcome::next; ++i) set(warp, to[i], mask, moved[i].first, moved[i].second);
  return outcome;
}

// A store of undefined values: a fault where others see it, else the bytes count as holding nothing.
Outcome store(Warp& warp, const Step& step, Mask mask, const Trace& trace) {
  const auto from = values(warp, trace);
  Mask lanes = 0;
  for (const std::uint32_t scalar : from) lanes |= undefined(warp, scalar) & mask;
  if (lanes == 0) return step.run(warp, step, mask);
  std::array<std::uint64_t, lane_count> address;
  read_addresses(warp, step, address);
  for (const std::uint32_t scalar : from) {
    Mask seen = 0;
    for (Mask left = undefined(warp, scalar) & mask; left != 0; left &= left - 1)
      if (const int l = lowest_lane(left); outlives_block(step.space, address[static_cast<std::size_t>(l)])) seen |= Mask{1} << l;
    if (seen != 0) return fail_undefined(warp, step, seen, scalar, "stores");
  }
  const Outcome outcome = step.run(warp, step, mask);
  if (outcome != Outcome::next) return outcome;
  const std::uint32_t bytes = trace.bits / 8;
  for (std::size_t k = 0; k < from.size(); ++k)
    for (Mask left = undefined(warp, from[k]) & mask; left != 0; left &= left - 1) {
      const auto l = static_cast<std::size_t>(lowest_lane(left));
      std::uint8_t* const marks = marks_of(warp, step.space, lowest_lane(left), address[l] + k * bytes, bytes);
      if (marks != nullptr) std::fill_n(marks, bytes, undefined_mark);
    }
  return outcome;
}

}  // namespace

void begin_tracing(Warp& warp) {
  if (warp.traced) return;
  const Code& code = warp.cta->launch->code;
  warp.traced = true;
  warp.undefined.assign(code.scalar_count(), 0);
  warp.undefined_source.assign(code.scalar_count(), 0);
  for (const MaybeUnwritten& reg : code.maybe_unwritten) {
    warp.undefined[reg.scalar] = ~warp.pred(reg.written);
    warp.undefined_source[reg.scalar] = source_of_register(code, reg.scalar);
  }
}

void end_tracing_if_clean(Warp& warp) {
  std::vector<Mask> left = warp.undefined;
  for (const MaybeUnwritten& reg : warp.cta->launch->code.maybe_unwritten)
    if (left[reg.scalar] == ~warp.pred(reg.written)) left[reg.scalar] = 0;
  warp.traced = std::any_of(left.begin(), left.end(), [&](Mask lanes) { return (lanes & warp.live) != 0; });
  if (!warp.traced) warp.undefined_sources.clear();
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
    case Passes::chosen:
    case Passes::and_:
    case Passes::or_:
      return pass_on(warp, step, mask, trace);
    case Passes::each:
      return pass_each(warp, step, mask, trace);
    case Passes::loaded:
    case Passes::updated:
      set_results(warp, trace, mask, 0, 0);  // the handler says what is undefined
      return step.run(warp, step, mask);
    case Passes::stored:
      return store(warp, step, mask, trace);
    case Passes::exchanged:
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
  const auto to = results(warp, trace_of(warp, step));
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
    for (std::uint32_t k = 0; k < elements; ++k) {
      const std::uint8_t* const of_element = marks + k * element_bytes;
      if (std::none_of(of_element, of_element + element_bytes, unwritten)) continue;
      const std::uint32_t scalar = to[k / (elements / to.size())];  // a 128-bit register takes two elements
      set(warp, scalar, Mask{1} << lane, Mask{1} << lane, step.item);
    }
  }
}

Mask undefined_value(const Warp& warp, const Step& step, std::size_t value) {
  return undefined(warp, values(warp, trace_of(warp, step))[value]);
}

void set_result(Warp& warp, const Step& step, std::size_t result, Mask mask, Mask lanes, std::size_t source) {
  const Trace& trace = trace_of(warp, step);
  const std::uint32_t from = source == no_value ? no_scalar : values(warp, trace)[source];
  set(warp, results(warp, trace)[result], mask, lanes, from == no_scalar ? step.item : warp.undefined_source[from]);
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

Mask undefined_values(const Warp& warp, const Step& step, Mask mask) {
  Mask lanes = 0;
  for (const std::uint32_t scalar : values(warp, trace_of(warp, step))) lanes |= undefined(warp, scalar) & mask;
  return lanes;
}

void pass_exchanged(Warp& warp, const Step& step, Mask mask, Mask undefined_lanes, bool first_alone) {
  const Trace& trace = trace_of(warp, step);
  std::uint32_t source = step.item;
  if (!warp.undefined_sources.contains(step.item))
    for (const std::uint32_t scalar : values(warp, trace))
      if (undefined(warp, scalar) != 0) source = warp.undefined_source[scalar];
  Mask lanes = undefined_lanes;
  for (const std::uint32_t scalar : results(warp, trace)) {
    set(warp, scalar, mask, lanes, source);
    if (first_alone) lanes = 0;
  }
}

}  // namespace ptx::vgpu
