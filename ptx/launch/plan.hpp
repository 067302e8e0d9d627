// A kernel, ready to be called with tensors again and again. The first call with new shapes makes (traces, checks) an image; a
// call like the last one costs a comparison.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/signature.hpp"
#include "ptx/launch/tensor.hpp"

namespace ptx::launch {

/// An image for one set of shapes. Immutable, lives as long as its plan.
class Specialisation {
 public:
  std::shared_ptr<const KernelImage> image;  ///< null: the outputs have no elements, so there is nothing to launch
  tile::Env env;
  std::vector<Output> outputs;
  std::vector<std::optional<std::size_t>> changed;  ///< for each output, the input that it is written to; empty: none is
  /// The input that an output is written to; none: it is a tensor of its own.
  [[nodiscard]] std::optional<std::size_t> changed_input(std::size_t output) const noexcept {
    return changed.empty() ? std::nullopt : changed[output];
  }
  std::size_t index = 0;  ///< counts a plan's specialisations: where a caller keeps what belongs to this one

  /// Whether these tensors are like those that it was made for, one by one and on one device. False also when something is odd
  /// about a tensor: the slow path then finds out what. No heap, no lock.
  [[nodiscard]] bool fits(std::span<const TensorView> tensors) const noexcept {
    const std::int64_t* key = key_.data();
    for (const TensorView& tensor : tensors) {
      if (tensor.device != tensors[0].device || tensor.data == nullptr) return false;
      if (key[0] != pack(tensor) || (reinterpret_cast<std::uintptr_t>(tensor.data) & static_cast<std::uintptr_t>(key[1])) != 0)
        return false;
      key += 2;
      for (std::int32_t i = 0; i < tensor.rank; ++i, key += 2) {
        if (tensor.shape[i] != key[0] || (tensor.strides != nullptr && tensor.strides[i] != key[1])) return false;
      }
    }
    return true;
  }

 private:
  friend class Plan;
  /// Rank and element type in one word.
  static std::int64_t pack(const TensorView& tensor) noexcept {
    return std::int64_t{tensor.rank} << 32 | std::int64_t{tensor.dtype.lanes} << 16 | std::int64_t{tensor.dtype.bits} << 8 |
           tensor.dtype.code;
  }
  /// For each tensor: pack(), a mask of the address bits that must be 0, then size and row-major stride of each dimension.
  std::vector<std::int64_t> key_;
};

/// Thread-safe.
class Plan {
 public:
  /// Makes the image for these dimensions. Called without a lock held; two threads may make the same one, the first is kept.
  using Specialise = std::function<Expected<std::shared_ptr<const KernelImage>>(const tile::Env& env)>;

  Plan(Signature signature, Specialise specialise);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  [[nodiscard]] const Signature& signature() const { return signature_; }

  /// The specialisation of the last call, when these tensors are like that call's; else null. As many tensors as the signature
  /// has inputs.
  [[nodiscard]] const Specialisation* last(std::span<const TensorView> tensors) const noexcept {
    const Specialisation* specialisation = last_.load(std::memory_order_acquire);
    return specialisation != nullptr && specialisation->fits(tensors) ? specialisation : nullptr;
  }
  /// The specialisation for these tensors, made when it is the first of its kind. Errors: those of Signature::bind and of the
  /// maker.
  Expected<const Specialisation*> find(std::span<const TensorView> tensors, Scope scope = Scope::tensors);
  /// That of the last call, when these tensors are like that call's, or else find().
  Expected<const Specialisation*> get(std::span<const TensorView> tensors) {
    if (const Specialisation* like_the_last = last(tensors)) [[likely]]
      return like_the_last;
    return find(tensors);
  }
  /// Checks a tensor that the caller gives for output `index` of a call with these inputs. Kinds: those of
  /// Signature::check_output, and argument_memory for one that is not the input where the kernel writes it.
  [[nodiscard]] Expected<void> check_output(const Specialisation& specialisation, std::size_t index, const TensorView& given,
                                            std::span<const TensorView> inputs, DeviceId device) const;
  /// How many there are.
  [[nodiscard]] std::size_t size() const;

 private:
  using Key = std::vector<std::int64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  [[nodiscard]] Key key_of(std::span<const TensorView> tensors) const;

  const Signature signature_;
  const Specialise specialise_;
  std::atomic<const Specialisation*> last_{nullptr};
  mutable std::mutex mutex_;  // guards the map; never held while an image is made
  std::unordered_map<Key, std::unique_ptr<const Specialisation>, KeyHash> specialisations_;
};

}  // namespace ptx::launch
