#include "ptx/text/literals.hpp"

#include <bit>
#include <charconv>

#include "ptx/base/base.hpp"

namespace ptx::text {
namespace {

constexpr int most_depth = 200;  // of parentheses, unary operators and conditionals in one expression

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Reader {
 public:
  Reader(Cursor& cursor, ConstantError& error) : c_(cursor), error_(error) {}

  bool expression(Constant& v) { return conditional(v, 0); }
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
    bool overflow = false;
    std::uint64_t value = 0;
    for (int d; (d = hex_digit(*p)) >= 0 && d < base; ++p) {
      const std::uint64_t next = value * static_cast<unsigned>(base) + static_cast<unsigned>(d);
      overflow = overflow || value > (~std::uint64_t{0} - static_cast<unsigned>(d)) / static_cast<unsigned>(base);
      value = next;
    }
    if (base == 10 && (*p == '.' || (*p | 0x20) == 'e')) return decimal_float(v, from);
    v = {};
    if (p == digits) return fail(from, cat("a number needs digits behind `", std::string_view(from, 2), '`'));
    if (*p == 'U') {
      v.suffixed = true;
      ++p;
    }
    if (is(*p, follow_class))
      return fail(p, cat("`", Cursor::between(from, p + 1), "` is no number: `", *p, "` is ",
                         is(*p, digit_class) ? cat("no digit of base ", base) : std::string("out of place")));
    if (overflow) return fail(from, cat('`', Cursor::between(from, p), "` does not fit 64 bits"));
    v.bits = value;
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
    if (is(*p, follow_class)) return fail(p, cat('`', Cursor::between(from, p + 1), "` is no number"));
    double value = 0;
    const auto [end, status] = std::from_chars(from, p, value);
    if (end != p || status != std::errc()) return fail(from, cat('`', Cursor::between(from, p), "` does not fit a 64-bit float"));
    v = {.kind = Kind::floating, .bits = std::bit_cast<std::uint64_t>(value)};
    c_.take(p);
    return true;
  }

  // ---- operators, loosest first -----------------------------------------------------------------------------------------

  bool conditional(Constant& v, int depth) {
    if (depth > most_depth) return fail(c_.at, cat("an expression nests more than ", most_depth, " deep"));
    if (!binary(v, 0, depth)) return false;
    if (!c_.is_at('?')) return true;
    c_.eat('?');
    Constant yes, no;
    if (!conditional(yes, depth + 1)) return false;
    if (!c_.eat(':')) return fail(c_.at, "a conditional `a ? b : c` lacks its `:`");
    if (!conditional(no, depth + 1)) return false;
    if (!v.is_integer()) return fail(c_.last, "the condition of `a ? b : c` is an integer");
    if (yes.kind == Kind::floating32 || no.kind == Kind::floating32) return no_single(c_.last);
    if (yes.is_integer() != no.is_integer()) return mixed(c_.last);
    Constant chosen = v.bits != 0 ? yes : no;
    if (yes.is_integer() && no.is_integer() && (yes.kind == Kind::uint || no.kind == Kind::uint)) chosen.kind = Kind::uint;
    chosen.plain = chosen.hexadecimal = false;
    v = chosen;
    return true;
  }

  enum class Op : std::uint8_t { none, lor, land, bor, bxor, band, eq, ne, lt, le, gt, ge, shl, shr, add, sub, mul, div, rem };
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

  bool binary(Constant& v, int least, int depth) {
    if (depth > most_depth) return fail(c_.at, cat("an expression nests more than ", most_depth, " deep"));
    if (!unary(v, depth)) return false;
    for (;;) {
      const Found found = peek_operator();
      if (found.op == Op::none || found.level < least) return true;
      const char* at = c_.at;
      c_.take(c_.at + found.length);
      Constant right;
      if (!binary(right, found.level + 1, depth + 1)) return false;
      if (!apply(found.op, v, right, at)) return false;
    }
  }

  bool mixed(const char* at) { return fail(at, "an expression has integers or floating-point numbers, not both"); }
  bool no_single(const char* at) { return fail(at, "a `0f` number cannot take part in an expression"); }

  bool apply(Op op, Constant& left, const Constant& right, const char* at) {
    if (left.kind == Kind::floating32 || right.kind == Kind::floating32) return no_single(at);
    if (left.is_integer() != right.is_integer()) return mixed(at);
    if (left.kind == Kind::floating) return apply_floating(op, left, right, at);
    const std::uint64_t a = left.bits, b = right.bits;
    const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
    const bool is_unsigned = left.kind == Kind::uint || right.kind == Kind::uint;
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
        r = of(a == b);
        break;
      case Op::ne:
        r = of(a != b);
        break;
      case Op::lt:
        r = of(is_unsigned ? a < b : sa < sb);
        break;
      case Op::le:
        r = of(is_unsigned ? a <= b : sa <= sb);
        break;
      case Op::gt:
        r = of(is_unsigned ? a > b : sa > sb);
        break;
      case Op::ge:
        r = of(is_unsigned ? a >= b : sa >= sb);
        break;
      case Op::shl:
        r.kind = left.kind;
        r.bits = b > 63 ? 0 : a << b;
        break;
      case Op::shr:
        r.kind = left.kind;
        if (left.kind == Kind::uint)
          r.bits = b > 63 ? 0 : a >> b;
        else
          r.bits = static_cast<std::uint64_t>(sa >> (b > 63 ? 63 : b));
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
        if (op == Op::rem)  // ptxas divides bits without a sign here, whatever the operands are: `-7 % 3` is 0
          r.bits = a % b;
        else if (is_unsigned)
          r.bits = a / b;
        else if (sb == -1)  // the least number has no opposite: the machine's division would trap
          r.bits = 0 - a;
        else
          r.bits = static_cast<std::uint64_t>(sa / sb);
        break;
      case Op::none:
        break;
    }
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
        return fail(at, "this operator takes integers alone");
    }
  }

  bool unary(Constant& v, int depth) {
    if (depth > most_depth) return fail(c_.at, cat("an expression nests more than ", most_depth, " deep"));
    const char* at = c_.at;
    switch (c_.peek()) {
      case '-':
        c_.eat('-');
        if (!unary(v, depth + 1)) return false;
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
      case '+':
        c_.eat('+');
        if (!unary(v, depth + 1)) return false;
        v.plain = v.plain && !v.is_integer();
        return true;
      case '~':
      case '!': {
        const bool complement = c_.peek() == '~';
        c_.take(c_.at + 1);
        if (!unary(v, depth + 1)) return false;
        if (!v.is_integer()) return fail(at, cat('`', complement ? '~' : '!', "` takes an integer"));
        if (complement)
          v = {.kind = v.kind, .plain = false, .bits = ~v.bits};
        else
          v = of(v.bits == 0);
        return true;
      }
      case '(':
        return parenthesis(v, depth);
      default:
        break;
    }
    if (c_.eat_word("WARP_SZ")) {
      v = {.plain = false, .bits = 32};
      return true;
    }
    return literal(v);
  }

  bool parenthesis(Constant& v, int depth) {
    c_.eat('(');
    if (c_.is_at('.') && !is(c_.at[1], digit_class)) {  // a cast
      const std::string_view type = c_.peek_directive();
      if (type != "s64" && type != "u64") return fail(c_.at, "a cast in an expression is `(.s64)` or `(.u64)`");
      c_.take_directive(type);
      if (!c_.eat(')')) return fail(c_.at, "a cast ends with `)`");
      const char* at = c_.at;
      if (!unary(v, depth + 1)) return false;
      if (!v.is_integer()) return fail(at, "a cast takes an integer");
      v = {.kind = type == "u64" ? Kind::uint : Kind::sint, .plain = false, .bits = v.bits};
      return true;
    }
    if (!conditional(v, depth + 1)) return false;
    if (!c_.is_at(')')) return fail(c_.at, "`(` is not closed");
    c_.eat(')');
    v.plain = v.plain && !v.is_integer();
    return true;
  }

  Cursor& c_;
  ConstantError& error_;
};

}  // namespace

bool read_constant(Cursor& cursor, Constant& constant, ConstantError& error) {
  return Reader(cursor, error).expression(constant);
}

bool read_number(Cursor& cursor, Constant& constant, ConstantError& error) { return Reader(cursor, error).literal(constant); }

}  // namespace ptx::text
