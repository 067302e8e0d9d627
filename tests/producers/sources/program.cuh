// What the programs share: memory with a name, which the tests ask for, and numbers that look random and are the same each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" void producers_name(const void* memory, const char* name);

inline std::uint32_t drawn(std::uint32_t seed, std::uint32_t i) {
  std::uint32_t x = i * 0x9E3779B9u + seed * 0x85EBCA6Bu + 0x1234567u;
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}
/// A multiple of 1/8 from -16 to 16: sums of some thousands, and of their products, are exact in f32.
inline float eighths(std::uint32_t seed, std::uint32_t i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 257) - 128) / 8; }

/// Memory that nobody has written.
template <class T>
T* made(const char* name, std::size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  producers_name(memory, name);
  return static_cast<T*>(memory);
}
/// Memory with value(i) in it.
template <class T, class Value>
T* given(const char* name, std::size_t count, Value value) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<T>(value(static_cast<std::uint32_t>(i)));
  T* const memory = made<T>(name, count);
  cudaMemcpy(memory, all.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}
template <class T>
T* zeros(const char* name, std::size_t count) {
  T* const memory = made<T>(name, count);
  cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}
