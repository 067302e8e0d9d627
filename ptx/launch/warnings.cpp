#include "ptx/launch/warnings.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

namespace ptx {
namespace {

void print(const Diagnostic& warning) { std::fprintf(stderr, "%s\n", render(warning).c_str()); }

struct Listener {
  std::mutex mutex;
  WarningHandler handler = print;
};
Listener& listener() {
  static auto& only = *new Listener;  // never destroyed: threads may outlive our statics
  return only;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  const std::lock_guard lock(listener().mutex);
  return std::exchange(listener().handler, handler);
}

void launch::warn(const Diagnostics& findings) {
  if (findings.empty()) return;
  const std::lock_guard lock(listener().mutex);
  if (listener().handler == nullptr) return;
  for (const Diagnostic& finding : findings)
    if (finding.severity == Severity::warning) listener().handler(finding);
}

}  // namespace ptx
