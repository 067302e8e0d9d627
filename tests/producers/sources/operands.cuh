// What programs that multiply matrices share: operands with names, filled with small whole numbers, so that every order of
// additions gives the same sum.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "program.cuh"

inline auto small_numbers(std::uint32_t seed) {
  return [seed](auto i) { return static_cast<float>(static_cast<int>(drawn(seed, i) % 9) - 4); };
}

/// Allocations NAME_a, NAME_b, NAME_c and NAME_d.
template <class A, class B, class C, class D = C>
struct Operands {
  A* a;
  B* b;
  C* c;
  D* d;
  Operands(const char* name, std::size_t a_count, std::size_t b_count, std::size_t c_count) {
    char names[4][64];
    for (int i = 0; i < 4; ++i) snprintf(names[i], 64, "%s_%c", name, "abcd"[i]);
    a = given<A>(names[0], a_count, small_numbers(1));
    b = given<B>(names[1], b_count, small_numbers(2));
    c = given<C>(names[2], c_count, small_numbers(3));
    d = made<D>(names[3], c_count);
  }
};

/// Runs a CUTLASS operation of the device, with the room it asks for.
template <class Operation>
void perform(const char* name, typename Operation::Arguments& arguments) {
  char room_name[64];
  snprintf(room_name, 64, "%s_room", name);
  const std::size_t bytes = Operation::get_workspace_size(arguments);
  void* const room = bytes == 0 ? nullptr : zeros<std::uint8_t>(room_name, bytes);
  Operation operation;
  if (operation.initialize(arguments, room) == cutlass::Status::kSuccess && operation.run(nullptr) == cutlass::Status::kSuccess) return;
  fprintf(stderr, "%s is refused\n", name);
  exit(1);
}
