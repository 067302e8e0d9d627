// Calls of all kinds: recursion, virtual functions, pointers, tables, printf, assertions; variables of the module.
// targets: sm_75; sm_80 -G; sm_90a; sm_120a
#include <cassert>
#include <cstdio>

#include "program.cuh"

__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ int is_even(int n);
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__global__ void recursion(int* out) {
  const int i = threadIdx.x;
  out[i] = ackermann(i % 3, i % 5) * 10 + is_even(i);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
struct Box : Shape {
  float wide, high;
  __device__ Box(float w, float h) : wide(w), high(h) {}
  __device__ float area() const override { return wide * high; }
  __device__ int corners() const override { return 4; }
};
__global__ void shapes(float* areas, int* corners) {
  const float x = threadIdx.x;
  Circle circle(x);
  Box box(x, 2);
  const Shape* const shape = threadIdx.x % 3 == 0 ? static_cast<const Shape*>(&circle) : &box;
  areas[threadIdx.x] = shape->area();
  corners[threadIdx.x] = shape->corners();
}

using Operation = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation operations[3] = {add, subtract, multiply};
__global__ void pointers(const int* in, int* out) {
  const int i = threadIdx.x;
  out[i] = operations[i % 3](in[i], in[i ^ 1]);
}

__global__ void switches(const int* in, int* out) {
  int x = in[threadIdx.x] & 15, y = 1;
  switch (x) {
    case 0: y = 100; break;
    case 1: y = x * 7; [[fallthrough]];
    case 2: y += 5; break;
    case 3: y = -x; break;
    case 4: y = x << 4; break;
    case 5: y = __popc(x * 12345); break;
    case 6: return;
    case 9: y = 81; break;
    case 12: y = 144; break;
    default: y = x * x * x;
  }
  out[threadIdx.x] = y;
}

__constant__ int factors[8];
__device__ int counter = 40;
__global__ void variables(int* out) {
  __shared__ int first;
  if (threadIdx.x == 0) first = atomicAdd(&counter, 2);
  __syncthreads();
  out[threadIdx.x] = first * factors[threadIdx.x % 8];
}

__global__ void printed(const int* in) {
  if (threadIdx.x == 3) {
    printf("thread %d of %u has %+6d|%-5d|%05d, %x, %.3f and %s %c%%\n", threadIdx.x, blockDim.x, in[3], 42, 42, 48879, 2.5, "text", 'c');
    printf("%lld %llu %5.2e %g %p\n", -1234567890123ll, 18446744073709551615ull, 12345.678, 0.0001, static_cast<const void*>(nullptr));
  }
  assert(in[0] != 123456789);
}

// Local memory that is reached by numbers which the compiler does not know.
__global__ void local_arrays(const int* in, int* out) {
  int heap[24], size = 0;
  for (int i = 0; i < 24; ++i) {  // a binary heap, in and out
    int at = size++;
    heap[at] = in[(threadIdx.x * 7 + i * 5) % 64];
    while (at != 0 && heap[at] < heap[(at - 1) / 2]) {
      const int up = (at - 1) / 2, other = heap[up];
      heap[up] = heap[at];
      heap[at] = other;
      at = up;
    }
  }
  for (int i = 0; i < 24; ++i) {
    out[threadIdx.x * 24 + i] = heap[0];
    heap[0] = heap[--size];
    for (int at = 0;;) {
      int least = at;
      for (int down = 2 * at + 1; down <= 2 * at + 2; ++down)
        if (down < size && heap[down] < heap[least]) least = down;
      if (least == at) break;
      const int other = heap[least];
      heap[least] = heap[at];
      heap[at] = other;
      at = least;
    }
  }
}

struct Big {
  int values[300];
  double factor;
  short small[3];
};
__global__ void structures(const __grid_constant__ Big big, Big* copy, double* sum) {
  double all = 0;
  for (int i = threadIdx.x; i < 300; i += 32) all += big.values[i] * big.factor;
  atomicAdd(sum, all);
  if (threadIdx.x == 0) *copy = big;
}

int main() {
  const int* in = given<int>("in", 64, [](auto i) { return static_cast<int>(drawn(40, i) % 2001) - 1000; });
  recursion<<<1, 32>>>(made<int>("recursion", 32));
  shapes<<<1, 32>>>(made<float>("areas", 32), made<int>("corners", 32));
  pointers<<<1, 64>>>(in, made<int>("pointers", 64));
  switches<<<1, 64>>>(in, given<int>("switches", 64, [](auto) { return -7; }));
  const int host[8] = {1, 2, 3, 5, 7, 11, 13, 17};
  cudaMemcpyToSymbol(factors, host, sizeof host);
  variables<<<1, 32>>>(made<int>("variables", 32));
  variables<<<1, 32>>>(made<int>("variables_again", 32));
  printed<<<1, 32>>>(in);
  local_arrays<<<1, 32>>>(in, made<int>("heaps", 32 * 24));
  Big big{};
  for (int i = 0; i < 300; ++i) big.values[i] = i * i;
  big.factor = 0.25;
  big.small[2] = 77;
  structures<<<1, 32>>>(big, made<Big>("copy", 1), zeros<double>("sum", 1));
  return cudaDeviceSynchronize();
}
