// A function as a value. std::function would do, but <functional> costs each file that includes a kernel's headers a tenth of its
// compile.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "ptx/base/owned.hpp"

namespace ptx {

template <class Signature>
class Function;

/// Anything that can be called with these arguments: a lambda, a function. Empty by default, and from what is empty itself.
template <class Result, class... Argument>
class Function<Result(Argument...)> {
 public:
  Function() = default;
  Function(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, Function> && std::is_invocable_r_v<Result, Callable&, Argument...>)
  Function(Callable&& callable)  // NOLINT(google-explicit-constructor): a lambda is one
      : target_(is_empty(callable) ? Owned<Target>() : Holder<std::decay_t<Callable>>::make(std::forward<Callable>(callable))) {}
  Function(const Function& other) : target_(other.target_ ? other.target_->copy() : Owned<Target>()) {}
  Function(Function&&) noexcept = default;
  Function& operator=(const Function& other) { return *this = Function(other); }
  Function& operator=(Function&&) noexcept = default;
  ~Function() = default;

  Result operator()(Argument... arguments) const { return target_->call(std::forward<Argument>(arguments)...); }
  explicit operator bool() const { return static_cast<bool>(target_); }

 private:
  struct Target {
    Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    virtual ~Target() = default;
    virtual Result call(Argument... arguments) = 0;
    [[nodiscard]] virtual Owned<Target> copy() const = 0;
  };
  template <class Callable>
  static bool is_empty(const Callable& callable) {  // a null pointer, an empty std::function
    if constexpr (requires { callable.operator bool(); })
      return !callable;
    else if constexpr (std::is_pointer_v<Callable>)
      return callable == nullptr;
    else
      return false;
  }
  template <class Callable>
  struct Holder final : Target {
    explicit Holder(Callable c) : callable(std::move(c)) {}
    static Owned<Target> make(Callable c) { return Owned<Target>::template make_as<Holder>(std::move(c)); }
    Result call(Argument... arguments) override { return static_cast<Result>(callable(std::forward<Argument>(arguments)...)); }
    [[nodiscard]] Owned<Target> copy() const override { return make(callable); }
    Callable callable;
  };
  Owned<Target> target_;
};

}  // namespace ptx
