// What stops a session beside a line: conditions on registers, and watched memory.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/session/session.hpp"

namespace ptx::vgpu {
namespace {

struct Operator {
  std::string_view word;
  Condition::Compare compare{};
};
// Those of two characters first.
constexpr Operator operators[] = {{"==", Condition::Compare::equal},   {"!=", Condition::Compare::not_equal},
                                  {"<=", Condition::Compare::at_most}, {">=", Condition::Compare::at_least},
                                  {"<", Condition::Compare::less},     {">", Condition::Compare::more}};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class T>
bool compare(Condition::Compare how, T a, T b) {
  switch (how) {
    case Condition::Compare::equal:
      return a == b;
    case Condition::Compare::not_equal:
      return a != b;
    case Condition::Compare::less:
      return a < b;
    case Condition::Compare::at_most:
      return a <= b;
    case Condition::Compare::more:
      return a > b;
    case Condition::Compare::at_least:
      return a >= b;
  }
  return false;
}

struct Value {
  bool is_real = false;  // otherwise an integer
  bool is_negative = false;
  std::uint64_t bits = 0;  // of an integer, two's complement
  double real = 0;
};
std::optional<Value> value_of(std::string_view text) {
  Value value;
  if (text == "true" || text == "false") return Value{false, false, text == "true" ? 1u : 0u, text == "true" ? 1.0 : 0.0};
  std::string_view digits = text;
  if (value.is_negative = digits.starts_with('-'); value.is_negative) digits.remove_prefix(1);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value.bits, base);
  if (error == std::errc() && end == digits.data() + digits.size()) {
    value.real = value.is_negative ? -static_cast<double>(value.bits) : static_cast<double>(value.bits);
    if (value.is_negative) value.bits = 0 - value.bits;
    return value;
  }
  value.is_real = true;
  const auto [real_end, real_error] = std::from_chars(text.data(), text.data() + text.size(), value.real);
  return real_error == std::errc() && real_end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                             : std::nullopt;
}

// A register's floating-point value; nothing of a type that has none, or of which PTX has no registers.
std::optional<double> real_of(Type type, std::uint64_t bits) {
  if (type == Type::f32) {
    float value = 0;
    const auto word = static_cast<std::uint32_t>(bits);
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  if (type == Type::f64) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  return std::nullopt;
}

bool is_met(const Condition& condition, const Value& wanted, const RegisterView& reg, std::size_t lane) {
  if (const auto real = real_of(reg.type, reg.low[lane])) {
    if (std::isnan(wanted.real) && std::isnan(*real)) return compare(condition.compare, 0, 0);  // as a person means it
    return compare(condition.compare, *real, wanted.real);
  }
  if (wanted.is_real || reg.bits > 64) return false;
  const unsigned unused = 64 - reg.bits;
  const bool is_signed = isa::kind(reg.type) == isa::TypeKind::sint || wanted.is_negative;
  if (!is_signed) return compare(condition.compare, reg.low[lane], wanted.bits);
  const auto extended = static_cast<std::int64_t>(reg.low[lane] << unused) >> unused;
  return compare(condition.compare, extended, static_cast<std::int64_t>(wanted.bits));
}

std::string bytes_of(const std::byte* data, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += hex(static_cast<std::uint64_t>(data[i]), 2);
  return out;
}

}  // namespace

Expected<Condition> Condition::read(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return refuse(Kind::bad_setting, cat("condition `", text, "` ", why,
                                         "; what fits is REGISTER OPERATOR VALUE with ==, !=, <, <=, > or >=: `%r5 >= 32`, "
                                         "`%f1 == nan`, `%p2 == true`"));
  };
  for (const Operator& known : operators) {
    const std::size_t at = text.find(known.word);
    if (at == std::string_view::npos) continue;
    Condition condition{std::string(without_blanks(text.substr(0, at))), known.compare,
                        std::string(without_blanks(text.substr(at + known.word.size())))};
    if (condition.name.empty()) return wrong("names no register");
    if (!value_of(condition.value)) return wrong(cat("compares with `", condition.value, "`, which is no number"));
    if (!condition.name.starts_with('%')) condition.name.insert(0, 1, '%');
    return condition;
  }
  return wrong("has no operator");
}

std::string say_condition(const Condition& condition) {
  const auto* const known =
      std::find_if(std::begin(operators), std::end(operators), [&](const Operator& o) { return o.compare == condition.compare; });
  return cat(condition.name, ' ', known->word, ' ', condition.value);
}

bool Session::holds(const Condition& condition, const Warp& warp, Mask mask) const {
  const Code& code = launch_->code;
  const auto wanted = value_of(condition.value);
  if (!wanted) return false;
  for (std::uint32_t scalar = 0; scalar < code.scalar_slots.size(); ++scalar) {
    if (code.scalar_slots[scalar].offset == no_slot || code.scalar_name(scalar) != condition.name) continue;
    const auto reg = register_of(warp, scalar);
    for (Mask left = mask & ~reg->undefined; left != 0; left &= left - 1)
      if (is_met(condition, *wanted, *reg, static_cast<std::size_t>(lowest_lane(left)))) return true;
    return false;
  }
  return false;
}

// ---- watches

std::size_t Session::watch(Watch watch) {
  Watched& one = watches_[++last_breakpoint_];
  one.watch = watch;
  look_again(one);
  return last_breakpoint_;
}

std::vector<std::pair<std::size_t, Watch>> Session::watches() const {
  std::vector<std::pair<std::size_t, Watch>> all;
  for (const auto& [number, one] : watches_) all.emplace_back(number, one.watch);
  return all;
}

const std::byte* Session::place_of(const Watch& watch) const {
  if (launch_ == nullptr) return nullptr;
  const auto in = [&](const MemoryRegion& region, std::uint64_t address) -> const std::byte* {
    return region.contains(address, watch.bytes) ? region.data + (address - region.begin) : nullptr;
  };
  if (!watch.is_shared) {
    const MemoryRegion* region = nullptr;
    if (watch.name.empty()) region = launch_->global.find(watch.address, watch.bytes, false);
    for (const MemoryRegion& one : launch_->global.regions())
      if (!watch.name.empty() && one.name == cat('`', watch.name, '`')) region = &one;
    return region == nullptr ? nullptr : in(*region, watch.address + (watch.name.empty() ? 0 : region->begin));
  }
  const auto& variables = launch_->code.shared_variables;
  const auto variable =
      std::find_if(variables.begin(), variables.end(), [&](const SharedVariable& v) { return v.name == watch.name; });
  if (!watch.name.empty() && variable == variables.end()) return nullptr;
  for (const Cluster* cluster : clusters_)
    for (const Cta& cta : cluster->blocks)
      if (cta.id == watch.block && cta.live_warps != 0)
        return in(cta.shared_region, watch.address + (watch.name.empty() ? 0 : cta.shared_region.begin + variable->begin));
  return nullptr;
}

void Session::look_again(Watched& one) const {
  const std::byte* const now = place_of(one.watch);
  one.last.assign(now, now == nullptr ? now : now + one.watch.bytes);
}

std::size_t Session::changed_watch(std::string& how) {
  std::size_t first = 0;
  for (auto& [number, one] : watches_) {
    const std::byte* const now = place_of(one.watch);
    const bool changed = now != nullptr && !one.last.empty() && std::memcmp(now, one.last.data(), one.last.size()) != 0;
    if (changed && first == 0) {
      first = number;
      const std::string where = one.watch.name.empty()   ? cat("0x", hex(one.watch.address))
                                : one.watch.address == 0 ? one.watch.name
                                                         : cat(one.watch.name, " + 0x", hex(one.watch.address));
      how = cat(where, ": ", bytes_of(one.last.data(), one.last.size()), " -> ", bytes_of(now, one.last.size()));
    }
    if (changed || one.last.empty()) look_again(one);
  }
  return first;
}

}  // namespace ptx::vgpu
