// JSON, written.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::tool {

/// Writes objects and lists; commas come by themselves.
class Json {
 public:
  Json& open(char bracket) {
    comma();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  Json& close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }
  Json& key(std::string_view name) {
    comma();
    text_ += cat(quote(name), ": ");
    fresh_ = true;
    return *this;
  }
  Json& value(std::string_view text) { return raw(quote(text)); }
  template <std::integral Integer>
  Json& value(Integer number) {
    return raw(cat(number));
  }
  /// true, false, null.
  Json& literal(std::string_view word) { return raw(std::string(word)); }
  /// A number as it is spelled; what JSON has no number for ("nan", "-inf", "0x1f") as a string.
  Json& number(std::string_view spelling) {
    return spelling.find_first_not_of("0123456789+-.e") == std::string_view::npos ? raw(std::string(spelling)) : value(spelling);
  }
  [[nodiscard]] std::string finish() && { return cat(text_, '\n'); }

 private:
  Json& raw(const std::string& text) {
    comma();
    text_ += text;
    return *this;
  }
  void comma() {
    if (!fresh_) text_ += ", ";
    fresh_ = false;
  }

  std::string text_;
  bool fresh_ = true;
};

}  // namespace ptx::tool
