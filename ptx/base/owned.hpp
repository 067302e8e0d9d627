// What one object owns of another whose insides its header does not show. std::unique_ptr would do, but <memory> costs each file
// that includes a kernel's headers a tenth of its compile.
#pragma once

#include <utility>

namespace ptx {

/// A T, or none after a move. Only who makes one needs to know what a T is.
template <class T>
class Owned {
 public:
  Owned() = default;
  template <class... Argument>
  static Owned make(Argument&&... arguments) {
    return make_as<T>(std::forward<Argument>(arguments)...);
  }
  /// The same of a class derived from T.
  template <class Derived, class... Argument>
  static Owned make_as(Argument&&... arguments) {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): this is who owns it
    return {new Derived(std::forward<Argument>(arguments)...), [](T* object) { delete static_cast<Derived*>(object); }};
  }
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)), end_(other.end_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(end_, other.end_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) end_(object_);
  }

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Owned(T* object, void (*end)(T*)) : object_(object), end_(end) {}
  T* object_ = nullptr;
  void (*end_)(T*) = nullptr;
};

}  // namespace ptx
