#include "ptx/vgpu/ops/host_functions.hpp"

#include <cstdio>
#include <mutex>

#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/memory/heap.hpp"
#include "ptx/vgpu/ops/access.hpp"

namespace ptx::vgpu {
namespace {

// x[2 i] and x[2 i + 1] are a Passed: the arguments, then the result.
void keep(Step& step, std::size_t i, const Decoding::Passed& passed) {
  step.x[2 * i] = passed.in_memory ? 1 : 0;
  step.x[2 * i + 1] = passed.at;
}

// What a thread's call works on. Each function is empty, or false, when a fault was recorded.
class Thread {
 public:
  Thread(Warp& warp, const Step& step, int lane) : warp_(warp), step_(step), lane_(lane) {}

  // Bytes of memory, which must have been written.
  std::optional<std::uint64_t> load(Space space, std::uint64_t address, std::uint32_t bytes) {
    std::array<std::uint64_t, lane_count> addresses{};
    addresses[static_cast<std::size_t>(lane_)] = address;
    std::array<Place, lane_count> places;
    if (!find_places(warp_, step_, Mask{1} << lane_, space, false, bytes, addresses.data(), places)) return std::nullopt;
    const Place place = places[static_cast<std::size_t>(lane_)];
    if (place.written != nullptr && !all_marked(place.written, bytes)) {
      warp_.fail(step_, lane_, Kind::uninitialised, say_unwritten(warp_, space, address, {place.written, bytes}));
      return std::nullopt;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, place.data, bytes);
    return value;
  }
  std::optional<std::uint64_t> argument(std::size_t i, std::uint32_t bytes) {
    const std::uint32_t at = step_.x[2 * i + 1];
    if (step_.x[2 * i] != 0) return load(Space::local, at + frame(), bytes);
    const auto l = static_cast<std::size_t>(lane_);
    return bytes == 8 ? warp_.slot<std::uint64_t>(at)[l] : std::uint64_t{warp_.slot<std::uint32_t>(at)[l]};
  }
  template <class Value>
  bool give_back(std::size_t i, Value value) {
    const auto l = static_cast<std::size_t>(lane_);
    if (step_.x[2 * i] == 0) {
      warp_.slot<Value>(step_.x[2 * i + 1])[l] = value;
      return true;
    }
    std::array<std::uint64_t, lane_count> addresses{};
    addresses[l] = step_.x[2 * i + 1] + frame();
    std::array<Place, lane_count> places;
    if (!find_places(warp_, step_, Mask{1} << lane_, Space::local, true, sizeof value, addresses.data(), places)) return false;
    std::memcpy(places[l].data, &value, sizeof value);
    if (places[l].written != nullptr) std::memset(places[l].written, written_mark, sizeof value);
    return true;
  }
  // Characters up to a zero.
  std::optional<std::string> text(std::uint64_t address, std::uint32_t character_bytes = 1) {
    constexpr std::size_t most = 1u << 16;
    std::string all;
    for (; all.size() < most; address += character_bytes) {
      const auto character = load(Space::generic, address, character_bytes);
      if (!character) return std::nullopt;
      if (*character == 0) break;
      all += *character < 0x80 || character_bytes == 1 ? static_cast<char>(*character) : '?';
    }
    return all;
  }

 private:
  // How far up the variables of the function lie that runs.
  [[nodiscard]] std::uint64_t frame() const {
    const Code& code = warp_.cta->launch->code;
    return code.most_frames == 0 ? 0 : warp_.slot<std::uint64_t>(code.frame_pointer)[lane_];
  }

  Warp& warp_;
  const Step& step_;
  const int lane_;
};

// ---- vprintf

// One `%…` of a format: what it says besides the conversion, and the conversion.
struct Conversion {
  std::string flags;
  bool star_width = false, star_precision = false, has_precision = false;
  int width = 0, precision = 0;
  bool wide = false;  // an integer of 64 bits
  int bits = 32;      // of one that is not: 16 with an h, 8 with two
  char kind = 0;      // 0: none that is known
};
constexpr int widest = 4096;

// Reads behind the `%`; `at` is then behind the conversion.
Conversion read_conversion(std::string_view format, std::size_t& at) {
  Conversion c;
  const auto next = [&] { return at < format.size() ? format[at] : '\0'; };
  const auto number = [&] {
    int n = 0;
    for (; next() >= '0' && next() <= '9'; ++at) n = std::min(10 * n + (next() - '0'), widest);
    return n;
  };
  const auto star = [&] { return next() == '*' ? (++at, true) : false; };
  for (; next() != 0 && std::string_view("-+ #0").find(next()) != std::string_view::npos; ++at) c.flags += next();
  c.star_width = star();
  if (!c.star_width) c.width = number();
  if (next() == '.') {
    ++at;
    c.has_precision = true;
    c.star_precision = star();
    if (!c.star_precision) c.precision = number();
  }
  for (; next() != 0 && std::string_view("hlLjzt").find(next()) != std::string_view::npos; ++at)
    if (next() == 'h')
      c.bits = std::max(c.bits / 2, 8);
    else if (next() != 'L')
      c.wide = true;  // a long has 64 bits
  if (next() != 0 && std::string_view("diouxXcsfFeEgGaAp").find(next()) != std::string_view::npos) c.kind = format[at++];
  return c;
}

// The lowest bits as a signed number: `%hd` prints 16 of them, and an H200's driver does.
long long signed_of(std::uint32_t value, int bits) { return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits); }

template <class Value>
std::string convert(const Conversion& c, const std::string& length, Value value) {
  std::string format = cat('%', c.flags, "*");
  if (c.has_precision) format += ".*";
  format += cat(length, c.kind);
  std::string out(widest + 512, '\0');
  const int n = c.has_precision ? std::snprintf(out.data(), out.size(), format.c_str(), c.width, c.precision, value)
                                : std::snprintf(out.data(), out.size(), format.c_str(), c.width, value);
  out.resize(std::clamp<std::size_t>(static_cast<std::size_t>(std::max(n, 0)), 0, out.size() - 1));
  return out;
}

// Makes the text of one thread: the arguments lie behind each other from `buffer` on, each at a multiple of its size, floats as
// doubles. `count`: how many there were.
std::optional<std::string> format_text(Thread& thread, std::string_view format, std::uint64_t buffer, std::uint32_t& count) {
  std::string out;
  const auto take = [&](std::uint32_t bytes) {
    buffer = align_size(buffer, bytes);
    ++count;
    return thread.load(Space::generic, std::exchange(buffer, buffer + bytes), bytes);
  };
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    const std::size_t begin = at++;
    if (at < format.size() && format[at] == '%') {
      out += format[at++];
      continue;
    }
    Conversion c = read_conversion(format, at);
    if (c.kind == 0) {
      out += format.substr(begin, at - begin);  // as it is written
      continue;
    }
    for (auto [star, number] : {std::pair(c.star_width, &c.width), std::pair(c.star_precision, &c.precision)})
      if (star) {
        const auto given = take(4);
        if (!given) return std::nullopt;
        *number = std::clamp(static_cast<int>(static_cast<std::uint32_t>(*given)), -widest, widest);
      }
    const bool floating = std::string_view("fFeEgGaA").find(c.kind) != std::string_view::npos;
    const auto value = take(floating || c.wide || c.kind == 's' || c.kind == 'p' ? 8 : 4);
    if (!value) return std::nullopt;
    if (c.kind == 's') {
      const auto text = *value == 0 ? std::optional<std::string>("(null)") : thread.text(*value);
      if (!text) return std::nullopt;
      const std::string cut =
          c.has_precision && c.precision >= 0 ? text->substr(0, static_cast<std::size_t>(c.precision)) : *text;
      const auto width = static_cast<std::size_t>(std::abs(c.width));
      const std::string blanks(width > cut.size() ? width - cut.size() : 0, ' ');
      out += c.width < 0 || c.flags.find('-') != std::string::npos ? cut + blanks : blanks + cut;
    } else if (floating) {
      out += convert(c, "", std::bit_cast<double>(*value));
    } else if (c.kind == 'p') {
      out += convert(c, "", reinterpret_cast<void*>(*value));  // NOLINT: to be printed
    } else if (c.kind == 'c') {
      out += convert(c, "", static_cast<int>(*value));
    } else if (c.kind == 'd' || c.kind == 'i') {
      out += convert(c, "ll", c.wide ? static_cast<long long>(*value) : signed_of(static_cast<std::uint32_t>(*value), c.bits));
    } else {
      out += convert(c, "ll", c.wide ? static_cast<unsigned long long>(*value) : *value & (~std::uint32_t{0} >> (32 - c.bits)));
    }
  }
  return out;
}

Outcome print(Warp& warp, const Step& step, Mask mask) {
  static std::mutex one_after_the_other;
  ++warp.cta->changes;
  for (Mask left = mask; left != 0; left &= left - 1) {
    Thread thread(warp, step, lowest_lane(left));
    const auto format = thread.argument(0, 8), buffer = thread.argument(1, 8);
    if (!format || !buffer) return Outcome::fault;
    std::uint32_t count = 0;
    if (*format == 0) {
      count = ~std::uint32_t{0};
    } else {
      const auto spelled = thread.text(*format);
      const auto text = spelled ? format_text(thread, *spelled, *buffer, count) : std::nullopt;
      if (!text) return Outcome::fault;
      const std::scoped_lock lock(one_after_the_other);
      if (const auto& take = warp.cta->launch->options.print)
        take(*text);
      else
        std::fwrite(text->data(), 1, text->size(), stdout), std::fflush(stdout);
    }
    if (!thread.give_back(2, count)) return Outcome::fault;
  }
  return Outcome::next;
}

// ---- __assertfail

Outcome fail_assertion(Warp& warp, const Step& step, Mask mask) {
  const int lane = lowest_lane(mask);
  Thread thread(warp, step, lane);
  const auto line = thread.argument(2, 4), character = thread.argument(4, 8);
  if (!line || !character) return Outcome::fault;
  const auto bytes = static_cast<std::uint32_t>(*character == 2 || *character == 4 ? *character : 1);
  std::array<std::string, 3> said;  // message, file, function
  for (std::size_t i = 0; const std::size_t argument : {0, 1, 3}) {
    const auto address = thread.argument(argument, 8);
    const auto text = address && *address != 0 ? thread.text(*address, bytes) : std::optional<std::string>("?");
    if (!address || !text) return Outcome::fault;
    said[i++] = *text;
  }
  return warp.fail(step, lane, Kind::trapped,
                   cat("ends the kernel: assertion `", said[0], "` failed at ", said[1], ':', *line, ", in `", said[2], '`'));
}

// ---- malloc, free

Outcome allocate(Warp& warp, const Step& step, Mask mask) {
  Heap* const heap = warp.cta->launch->code.instance->heap();
  for (Mask left = mask; left != 0; left &= left - 1) {
    Thread thread(warp, step, lowest_lane(left));
    const auto size = thread.argument(0, 8);
    if (!size || !thread.give_back(1, heap == nullptr ? std::uint64_t{0} : heap->allocate(*size))) return Outcome::fault;
  }
  return Outcome::next;
}

Outcome release(Warp& warp, const Step& step, Mask mask) {
  Heap* const heap = warp.cta->launch->code.instance->heap();
  for (Mask left = mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto address = Thread(warp, step, lane).argument(0, 8);
    if (!address) return Outcome::fault;
    if (*address != 0 && (heap == nullptr || !heap->free(*address)))
      return warp.fail(step, lane, Kind::out_of_bounds,
                       cat("frees address 0x", hex(*address), ", where malloc() has given nothing that is still in use"));
  }
  return Outcome::next;
}

// ---- a callee in a register: x[0]; x[1] = whether it is the function at imm

Outcome find_callee(Warp& warp, const Step& step, Mask mask) {
  const auto* callee = warp.slot<std::uint64_t>(step.x[0]);
  const Mask found = lanes_where([&](int l) { return callee[l] == static_cast<std::uint64_t>(step.imm); });
  Mask& p = warp.pred(step.x[1]);
  p = (p & ~mask) | (found & mask);
  return Outcome::next;
}

Outcome miss_callee(Warp& warp, const Step& step, Mask mask) {
  const int lane = lowest_lane(mask);
  return warp.fail(
      step, lane, Kind::out_of_bounds,
      cat("calls address 0x", hex(warp.slot<std::uint64_t>(step.x[0])[lane]), ", which is no function that it may call"));
}

// x[0] = number of the function
Outcome returned_anyway(Warp& warp, const Step& step, Mask mask) {
  const ir::Module& module = *warp.cta->launch->code.module;
  return warp.fail(step, lowest_lane(mask), Kind::not_executed,
                   cat("calls `", module.str(module.functions[step.x[0]].name),
                       "`, which is `.noreturn` and returns: what happens then the manual leaves undefined"));
}

}  // namespace

Handler call_host(Decoding& in, const HostCall& call) {
  if (call.function == HostFunction::enter) {
    in.step.x[0] = in.recursive_call(call);
    return enter_function();
  }
  if (call.function == HostFunction::leave) {
    in.step.x[0] = call.recursive;
    return return_from_function();
  }
  if (call.function == HostFunction::no_return) {
    in.step.x[0] = call.recursive;
    return &returned_anyway;
  }
  if (!is_of_driver(call.function)) {
    in.step.x[0] = in.read("callee", Type::b64);
    if (call.function == HostFunction::no_callee) return &miss_callee;
    in.step.x[1] = in.predicate(call.result);
    in.step.imm = static_cast<std::int64_t>(call.address);
    return &find_callee;
  }
  if (call.function == HostFunction::allocate || call.function == HostFunction::release) {
    keep(in.step, 0, in.passed("args", std::array{Type::b64}).front());
    in.step.site = in.new_site();
    if (call.function == HostFunction::release) return &release;
    keep(in.step, 1, in.passed("results", std::array{Type::b64}).front());
    return &allocate;
  }
  const bool prints = call.function == HostFunction::print;
  const auto arguments = prints ? in.passed("args", std::array{Type::b64, Type::b64})
                                : in.passed("args", std::array{Type::b64, Type::b64, Type::b32, Type::b64, Type::b64});
  for (std::size_t i = 0; i < arguments.size(); ++i) keep(in.step, i, arguments[i]);
  in.step.site = in.new_site();
  if (!prints) return &fail_assertion;
  if (const auto results = in.passed("results", std::array{Type::b32}); !results.empty()) keep(in.step, 2, results.front());
  return &print;
}

}  // namespace ptx::vgpu
