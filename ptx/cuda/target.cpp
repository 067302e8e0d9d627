#include "ptx/cuda/target.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ptx::cuda {
namespace {

constexpr std::array<ComputeCapability, 7> with_own_features = {{{9, 0}, {10, 0}, {10, 1}, {10, 3}, {11, 0}, {12, 0}, {12, 1}}};

// 10.1 is what CUDA 12 calls the GPU that is 11.0 since CUDA 13: it is no member of the family of 10.0.
bool same_family(ComputeCapability a, ComputeCapability b) {
  constexpr ComputeCapability renamed{10, 1};
  return a.major == b.major && (a == renamed) == (b == renamed);
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// The position after spaces and comments.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

}  // namespace

std::string to_string(ComputeCapability capability) { return cat(capability.major, '.', capability.minor); }

std::string to_string(Target target) {
  std::string text = cat("sm_", target.capability.major, target.capability.minor);
  if (target.reach != Target::Reach::forward) text += static_cast<char>(target.reach);
  return text;
}

Expected<Target> parse_target(std::string_view word) {
  const auto refuse = [&] {
    return Unexpected{{.kind = Kind::unknown_target, .message = cat('`', word, "` is not a target such as `sm_90a`")}};
  };
  if (!word.starts_with("sm_")) return refuse();
  const char* begin = word.data() + 3;
  const char* end = word.data() + word.size();
  int number = 0;
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || number < 10 || number > 9999 || *begin == '0') return refuse();
  Target target{.capability = {number / 10, number % 10}};
  if (rest == end) return target;
  if (rest + 1 != end || (*rest != 'a' && *rest != 'f')) return refuse();
  target.reach = static_cast<Target::Reach>(*rest);
  return target;
}

Expected<Target> target_of(std::string_view text) {
  // `.version` comes first, then `.target`, and only comments may stand around them.
  for (std::size_t at = skip_blank(text, 0); at < text.size(); at = skip_blank(text, at)) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = skip_blank(text, end);
    if (word == ".version") {
      at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    } else if (word == ".target") {
      std::size_t stop = at;
      while (stop < text.size() && is_word(text[stop])) ++stop;
      return parse_target(text.substr(at, stop - at));
    } else {
      break;
    }
  }
  return Unexpected{{.kind = Kind::unknown_target, .message = "the PTX text does not begin with `.version` and `.target`"}};
}

bool runs_on(Target target, ComputeCapability capability, ImageKind image) {
  switch (target.reach) {
    case Target::Reach::architecture:
      return target.capability == capability;
    case Target::Reach::family:
      return same_family(target.capability, capability) && capability >= target.capability;
    case Target::Reach::forward:
      break;
  }
  if (image == ImageKind::text) return capability >= target.capability;
  return same_family(target.capability, capability) && capability >= target.capability;
}

std::string target_name(ComputeCapability capability) {
  const bool own = std::find(with_own_features.begin(), with_own_features.end(), capability) != with_own_features.end();
  return to_string(Target{.capability = capability, .reach = own ? Target::Reach::architecture : Target::Reach::forward});
}

std::string assembly_target(Target target, ComputeCapability capability) {
  return to_string(Target{.capability = capability, .reach = target.reach});
}

}  // namespace ptx::cuda
