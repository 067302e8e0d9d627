// Memory by what something depends on: a key of words, built operand by operand, and a map from such keys. An instruction is
// looked up in one by what it is made of, each time it is written and each time it is checked, so both are made for that.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ptx {

/// Words in a row and their hash. Cleared and built again, it allocates nothing.
class Key {
 public:
  Key() = default;
  Key(const Key&) = default;  // and no moves, which would leave one without room
  Key& operator=(const Key&) = default;
  ~Key() = default;

  void clear() {
    size_ = 0;
    hash_ = 0;
  }
  void add(std::uint64_t word) {
    if (size_ == words_.size()) words_.resize(2 * size_);
    words_[size_++] = word;
    hash_ = (std::rotl(hash_, 5) ^ word) * 0x9E3779B97F4A7C15u;
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return std::span(words_).first(size_); }
  [[nodiscard]] std::uint64_t hash() const { return hash_ ^ hash_ >> 32; }

 private:
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(64);
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0;
};

/// Values by key, without removal. Open addressing, at most half full.
template <class T>
class KeyMap {
 public:
  KeyMap() = default;
  KeyMap(const KeyMap&) = default;  // and no moves, as of Key
  KeyMap& operator=(const KeyMap&) = default;
  ~KeyMap() = default;

  /// The value of the key, or nullptr. Valid until the next insert.
  [[nodiscard]] const T* find(const Key& key) const {
    const Slot& slot = slots_[slot_of(key)];
    return slot.entry == none ? nullptr : &entries_[slot.entry].value;
  }
  /// Keeps the value, in place of one that is there.
  const T& insert(const Key& key, T value) {
    if (2 * entries_.size() >= slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    if (slot.entry != none) return entries_[slot.entry].value = std::move(value);
    slot = {key.hash(), static_cast<std::uint32_t>(entries_.size())};
    entries_.push_back({words_.size(), key.words().size(), std::move(value)});
    words_.insert(words_.end(), key.words().begin(), key.words().end());
    return entries_.back().value;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFFu;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t entry = none;
  };
  struct Entry {
    std::size_t first, size;  // of words_
    T value;
  };

  // The slot of the key, or the free one where it belongs.
  [[nodiscard]] std::size_t slot_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = key.hash() & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.entry == none) return i;
      if (slot.hash != key.hash()) continue;
      const Entry& entry = entries_[slot.entry];
      if (entry.size == key.words().size() && equal(words_.data() + entry.first, key.words())) return i;
    }
  }
  // Keys are a few words long, and a call costs more than the loop.
  static bool equal(const std::uint64_t* words, std::span<const std::uint64_t> others) {
    for (std::size_t i = 0; i < others.size(); ++i)
      if (words[i] != others[i]) return false;
    return true;
  }
  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    slots_.assign(2 * old.size(), {});
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.entry == none) continue;
      std::size_t i = slot.hash & mask;
      while (slots_[i].entry != none) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> words_;
};

}  // namespace ptx
