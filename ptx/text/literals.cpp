#include "ptx/text/literals.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::text {
namespace {

constexpr std::size_t max_open = 5000;  // operators and parentheses that wait for their operands; ptxas gives up near there, too

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Reader {
 public:
  Reader(Cursor& cursor, ConstantError& error) : c_(cursor), error_(error) {}

  bool expression(Constant& v) {
    if (is(c_.peek(), digit_class)) {  // nearly always a number alone
      if (!literal(v)) return false;
      if (peek_operator().op == Op::none && !c_.is_at('?')) return true;
      values_.push_back(v);
      if (!operators()) return false;
    }
    while (!ended_)
      if (!operand() || !operators()) return false;
    v = values_.back();
    return true;
  }
  bool literal(Constant& v) {
    if (*c_.at == '.' && is(c_.at[1], digit_class)) return decimal_float(v, c_.at);
    return is(*c_.at, digit_class) ? number(v) : fail(c_.at, "a number is missing here");
  }

 private:
  using Kind = Constant::Kind;

  bool fail(const char* at, std::string message) {
    error_ = {at, std::move(message)};
    return false;
  }
  static double as_double(const Constant& v) { return std::bit_cast<double>(v.bits); }
  static Constant of(double value) {
    return {.kind = Kind::floating, .plain = false, .bits = std::bit_cast<std::uint64_t>(value)};
  }
  static Constant of(bool value) { return {.kind = Kind::sint, .plain = false, .bits = value ? 1u : 0u}; }

  // ---- literals -------------------------------------------------------------------------------------------------------

  bool number(Constant& v) {
    const char* from = c_.at;
    const char* p = from;
    int base = 10;
    if (*p == '0') {
      const char second = static_cast<char>(p[1] | 0x20);
      if (second == 'f' || second == 'd') return float_bits(v, second == 'f' ? 8 : 16);
      if (second == 'x' || second == 'b') {
        base = second == 'x' ? 16 : 2;
        p += 2;
      } else if (is(p[1], digit_class)) {
        const char* q = p;
        while (is(*q, digit_class)) ++q;
        if (*q != '.' && (*q | 0x20) != 'e') base = 8;
      }
    }
    const char* digits = p;
    bool too_long = false, wrapped = false;  // ptxas: only what has 64 bits before its last digit is too long
    std::uint64_t value = 0;
    for (int d; (d = hex_digit(*p)) >= 0 && d < base; ++p) {
      too_long = too_long || value >> 63 != 0;
      wrapped = wrapped || value > (~std::uint64_t{0} - static_cast<unsigned>(d)) / static_cast<unsigned>(base);
      value = value * static_cast<unsigned>(base) + static_cast<unsigned>(d);
    }
    if (base == 10 && (*p == '.' || (*p | 0x20) == 'e')) return decimal_float(v, from);
    v = {};
    if (p == digits) return fail(from, cat("a number needs digits after `", std::string_view(from, 2), '`'));
    if (*p == 'U') {
      v.suffixed = true;
      ++p;
    }
    if (is(*p, follow_class))
      return fail(p, cat("`", Cursor::between(from, p + 1), "` is not a number: `", *p, "` is ",
                         is(*p, digit_class) ? cat("not a digit of base ", base) : std::string("out of place")));
    if (too_long) return fail(from, cat('`', Cursor::between(from, p), "` does not fit 64 bits"));
    v.bits = value;
    v.wrapped = wrapped;
    v.hexadecimal = base == 16;
    v.kind = v.suffixed || value >> 63 != 0 ? Kind::uint : Kind::sint;
    c_.take(p);
    return true;
  }

  bool float_bits(Constant& v, int digits) {
    const char* from = c_.at;
    v = {.kind = digits == 8 ? Kind::floating32 : Kind::floating};
    int seen = 0;
    const char* p = from + 2;
    for (int d; seen <= digits && (d = hex_digit(*p)) >= 0; ++p, ++seen) v.bits = v.bits << 4 | static_cast<unsigned>(d);
    if (seen != digits || is(*p, follow_class))
      return fail(from, cat('`', std::string_view(from, 2), "` needs ", digits, " hexadecimal digits, ",
                            seen > digits ? "more" : cat(seen), seen > digits ? " are there" : " are there"));
    c_.take(p);
    return true;
  }

  bool decimal_float(Constant& v, const char* from) {
    const char* p = from;
    while (is(*p, digit_class)) ++p;
    if (*p == '.')
      for (++p; is(*p, digit_class); ++p) {
      }
    if ((*p | 0x20) == 'e') {
      const char* exponent = p + 1;
      if (*exponent == '+' || *exponent == '-') ++exponent;
      if (is(*exponent, digit_class))
        for (p = exponent; is(*p, digit_class); ++p) {
        }
    }
    if (is(*p, follow_class)) return fail(p, cat('`', Cursor::between(from, p + 1), "` is not a number"));
    double value = 0;
    const auto [end, status] = std::from_chars(from, p, value);
    // ptxas: neither do numbers below 2^-1022 fit
    if (end != p || status != std::errc() || std::fpclassify(value) == FP_SUBNORMAL)
      return fail(from, cat('`', Cursor::between(from, p), "` does not fit a 64-bit float"));
    v = {.kind = Kind::floating, .bits = std::bit_cast<std::uint64_t>(value)};
    c_.take(p);
    return true;
  }

  // ---- operators, loosest first -----------------------------------------------------------------------------------------

  enum class Op : std::uint8_t {
    none,
    lor,
    land,
    bor,
    bxor,
    band,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    shl,
    shr,
    add,
    sub,
    mul,
    div,
    rem,
    minus,  // these take one operand
    plus,
    complement,
    negation,
    to_signed,
    to_unsigned,
    parenthesis,  // (: nothing behind it is applied before its )
    condition,    // ?: the value before it is the condition
    otherwise,    // ?:, of which the condition and one value are there
  };
  struct Found {
    Op op = Op::none;
    int level = -1, length = 0;
  };
  // The binary operator here. `%` is one only before something that is not a name: `5%3` is a number and a register.
  Found peek_operator() const {
    const char next = c_.done() ? '\0' : c_.at[1];
    switch (c_.peek()) {
      case '|':
        return next == '|' ? Found{Op::lor, 0, 2} : Found{Op::bor, 2, 1};
      case '&':
        return next == '&' ? Found{Op::land, 1, 2} : Found{Op::band, 4, 1};
      case '^':
        return {Op::bxor, 3, 1};
      case '=':
        return next == '=' ? Found{Op::eq, 5, 2} : Found{};
      case '!':
        return next == '=' ? Found{Op::ne, 5, 2} : Found{};
      case '<':
        return next == '<' ? Found{Op::shl, 7, 2} : next == '=' ? Found{Op::le, 6, 2} : Found{Op::lt, 6, 1};
      case '>':
        return next == '>' ? Found{Op::shr, 7, 2} : next == '=' ? Found{Op::ge, 6, 2} : Found{Op::gt, 6, 1};
      case '+':
        return {Op::add, 8, 1};
      case '-':
        return {Op::sub, 8, 1};
      case '*':
        return {Op::mul, 9, 1};
      case '/':
        return {Op::div, 9, 1};
      case '%':
        return is(next, follow_class) ? Found{} : Found{Op::rem, 9, 1};
      default:
        return {};
    }
  }

  // What waits for its operands, looser below tighter; an expression nests in a list, not on the stack of the program.
  struct Waiting {
    Op op = Op::none;
    int level = 0;
    const char* at = nullptr;
  };
  static constexpr int tightest = 100;

  bool wait(Op op, int level, const char* at) {
    if (waiting_.size() >= max_open) return fail(at, cat("an expression nests more than ", max_open, " deep"));
    waiting_.push_back({op, level, at});
    return true;
  }

  // A literal, and the operators and parentheses before it.
  bool operand() {
    for (;;) {
      const char* at = c_.at;
      Op op = Op::none;
      switch (c_.peek()) {
        case '-':
          op = Op::minus;
          break;
        case '+':
          op = Op::plus;
          break;
        case '~':
          op = Op::complement;
          break;
        case '!':
          op = Op::negation;
          break;
        case '(':
          op = Op::parenthesis;
          break;
        default:
          break;
      }
      if (op == Op::none) break;
      c_.take(at + 1);
      if (op == Op::parenthesis && c_.is_at('.') && !is(c_.at[1], digit_class) && !cast(op)) return false;
      if (!wait(op, tightest, at)) return false;
      opened_ += op == Op::parenthesis;
    }
    Constant& v = values_.emplace_back();
    if (!c_.eat_word("WARP_SZ")) return literal(v);
    v = {.plain = false, .bits = 32};
    return true;
  }

  // .u64) of `(.u64)`
  bool cast(Op& op) {
    const std::string_view type = c_.peek_directive();
    if (type != "s64" && type != "u64") return fail(c_.at, "a cast in an expression is `(.s64)` or `(.u64)`");
    c_.take_directive(type);
    op = type == "u64" ? Op::to_unsigned : Op::to_signed;
    return c_.eat(')') || fail(c_.at, "a cast ends with `)`");
  }

  // What may stand behind an operand, up to where another one is due, or the end.
  bool operators() {
    for (;;) {
      const char* at = c_.at;
      if (const Found found = peek_operator(); found.op != Op::none) {
        c_.take(at + found.length);
        return apply_down_to(found.level) && wait(found.op, found.level, at);
      }
      if (c_.is_at('?')) {
        c_.take(at + 1);
        ++conditions_;
        return apply_down_to(0) && wait(Op::condition, -1, at);
      }
      if (c_.is_at(':') && conditions_ != 0 && within_condition()) {
        c_.take(at + 1);
        if (!apply_down_to(-1)) return false;
        waiting_.back().op = Op::otherwise;
        --conditions_;
        return true;
      }
      if (!c_.is_at(')') || opened_ == 0) break;
      if (!apply_down_to(-1)) return false;
      if (waiting_.back().op == Op::condition) return fail(at, "a conditional `a ? b : c` lacks its `:`");
      c_.take(at + 1);
      waiting_.pop_back();
      --opened_;
      Constant& v = values_.back();
      v.plain = v.plain && !v.is_integer();
    }
    ended_ = true;
    if (!apply_down_to(-1)) return false;
    if (waiting_.empty()) return true;
    return fail(c_.at, waiting_.back().op == Op::condition ? "a conditional `a ? b : c` lacks its `:`" : "`(` is not closed");
  }

  // True when the `?` that a `:` here belongs to stands behind every parenthesis that is open.
  bool within_condition() const {
    for (auto w = waiting_.rbegin(); w != waiting_.rend(); ++w)
      if (w->op == Op::condition || w->op == Op::parenthesis) return w->op == Op::condition;
    return false;
  }

  // Applies what binds at least as tightly as this: -1 all but a parenthesis and a `?` that waits for its `:`.
  bool apply_down_to(int level) {
    while (!waiting_.empty()) {
      const Waiting w = waiting_.back();
      if (w.op == Op::parenthesis || w.op == Op::condition || w.level < level) break;
      waiting_.pop_back();
      if (w.op == Op::otherwise ? !choose(w.at) : w.op >= Op::minus ? !apply(w.op, values_.back(), w.at) : !apply_binary(w))
        return false;
    }
    return true;
  }
  bool apply_binary(const Waiting& w) {
    const Constant right = values_.back();
    values_.pop_back();
    return apply(w.op, values_.back(), right, w.at);
  }

  // a ? b : c has the type of the one that is chosen, and no floats.
  bool choose(const char* at) {
    const Constant no = values_.back();
    values_.pop_back();
    const Constant yes = values_.back();
    values_.pop_back();
    Constant& v = values_.back();
    if (!v.is_integer()) return fail(at, "the condition of `a ? b : c` is an integer");
    if (!yes.is_integer() || !no.is_integer()) return fail(at, "`a ? b : c` chooses between integers");
    v = v.bits != 0 ? yes : no;
    v.plain = v.hexadecimal = false;
    v.wrapped = yes.wrapped || no.wrapped;
    return true;
  }

  bool mixed(const char* at) { return fail(at, "an expression has integers or floating-point numbers, not both"); }
  bool no_single(const char* at) { return fail(at, "a `0f` number cannot take part in an expression"); }

  // Integers: without a sign when one of them has none.
  static bool compare(Op op, const Constant& left, const Constant& right) {
    const bool is_unsigned = left.kind == Kind::uint || right.kind == Kind::uint;
    const bool less =
        is_unsigned ? left.bits < right.bits : static_cast<std::int64_t>(left.bits) < static_cast<std::int64_t>(right.bits);
    const bool equal = left.bits == right.bits;
    switch (op) {
      case Op::eq:
        return equal;
      case Op::ne:
        return !equal;
      case Op::lt:
        return less;
      case Op::le:
        return less || equal;
      case Op::gt:
        return !less && !equal;
      default:
        return !less;
    }
  }

  bool apply(Op op, Constant& left, const Constant& right, const char* at) {
    if (left.kind == Kind::floating32 || right.kind == Kind::floating32) return no_single(at);
    if (left.is_integer() != right.is_integer()) return mixed(at);
    if (left.kind == Kind::floating) return apply_floating(op, left, right, at);
    const std::uint64_t a = left.bits, b = right.bits;
    const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
    const bool is_unsigned = left.kind == Kind::uint || right.kind == Kind::uint;
    const bool wrapped = left.wrapped || right.wrapped;
    Constant r{.kind = is_unsigned ? Kind::uint : Kind::sint, .plain = false};
    switch (op) {
      case Op::lor:
        r = of(a != 0 || b != 0);
        break;
      case Op::land:
        r = of(a != 0 && b != 0);
        break;
      case Op::bor:
        r.bits = a | b;
        break;
      case Op::bxor:
        r.bits = a ^ b;
        break;
      case Op::band:
        r.bits = a & b;
        break;
      case Op::eq:
      case Op::ne:
      case Op::lt:
      case Op::le:
      case Op::gt:
      case Op::ge:
        r = of(compare(op, left, right));
        break;
      case Op::shl:
        r.kind = left.kind;
        r.bits = a << (b & 63);  // as the machine that ptxas runs on shifts
        break;
      case Op::shr:
        r.kind = left.kind;
        r.bits = left.kind == Kind::uint ? a >> (b & 63) : static_cast<std::uint64_t>(sa >> (b & 63));
        break;
      case Op::add:
        r.bits = a + b;
        break;
      case Op::sub:
        r.bits = a - b;
        break;
      case Op::mul:
        r.bits = a * b;
        break;
      case Op::div:
      case Op::rem:
        if (b == 0) return fail(at, "a constant is divided by zero");
        if (op == Op::rem) {  // ptxas divides bits without a sign here, whatever the operands are: `-7 % 3` is 0
          r.kind = Kind::uint;
          r.bits = a % b;
        } else if (is_unsigned) {
          r.bits = a / b;
        } else if (sb == -1 && a == std::uint64_t{1} << 63) {  // ptxas does not survive it
          return fail(at, "the least integer cannot be divided by -1: the result does not fit");
        } else {
          r.bits = static_cast<std::uint64_t>(sa / sb);
        }
        break;
      default:
        break;
    }
    r.wrapped = wrapped;
    left = r;
    return true;
  }

  bool apply_floating(Op op, Constant& left, const Constant& right, const char* at) {
    const double a = as_double(left), b = as_double(right);
    switch (op) {
      case Op::add:
        left = of(a + b);
        return true;
      case Op::sub:
        left = of(a - b);
        return true;
      case Op::mul:
        left = of(a * b);
        return true;
      case Op::div:
        if (b == 0) return fail(at, "a constant is divided by zero");
        left = of(a / b);
        return true;
      case Op::eq:
        left = of(a == b);
        return true;
      case Op::ne:
        left = of(a != b);
        return true;
      case Op::lt:
        left = of(a < b);
        return true;
      case Op::le:
        left = of(a <= b);
        return true;
      case Op::gt:
        left = of(a > b);
        return true;
      case Op::ge:
        left = of(a >= b);
        return true;
      default:
        return fail(at, "this operator takes only integers");
    }
  }

  bool apply(Op op, Constant& v, const char* at) {
    const bool wrapped = v.wrapped;
    if (op == Op::minus) {
      if (v.kind == Kind::floating32) return no_single(at);
      if (v.kind == Kind::floating) {
        const bool plain = v.plain;
        v = of(-as_double(v));
        v.plain = plain;
      } else {
        v.plain = v.plain && !v.hexadecimal && !v.suffixed && static_cast<std::int64_t>(v.bits) >= 0;
        v.bits = 0 - v.bits;
      }
      return true;
    }
    if (op == Op::plus) {
      if (v.kind == Kind::floating32) return no_single(at);
      v.plain = v.plain && !v.is_integer();
      return true;
    }
    const bool casts = op == Op::to_signed || op == Op::to_unsigned;
    if (!v.is_integer())
      return fail(
          at, casts ? std::string("a cast takes an integer") : cat('`', op == Op::complement ? '~' : '!', "` takes an integer"));
    if (op == Op::complement)  // without a sign, whatever the operand is
      v = {.kind = Kind::uint, .plain = false, .bits = ~v.bits};
    else if (op == Op::negation)
      v = of(v.bits == 0);
    else
      v = {.kind = op == Op::to_unsigned ? Kind::uint : Kind::sint, .plain = false, .bits = v.bits};
    v.wrapped = wrapped;
    return true;
  }

  Cursor& c_;
  ConstantError& error_;
  std::vector<Constant> values_;
  std::vector<Waiting> waiting_;
  std::size_t opened_ = 0, conditions_ = 0;  // parentheses, and `?` without their `:`, among what waits
  bool ended_ = false;
};

}  // namespace

bool read_constant(Cursor& cursor, Constant& constant, ConstantError& error) {
  return Reader(cursor, error).expression(constant);
}

bool read_number(Cursor& cursor, Constant& constant, ConstantError& error) { return Reader(cursor, error).literal(constant); }

}  // namespace ptx::text
