// libcu++ atomics: every memory order at every thread scope.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_100a -DELEMENT=double
// corpus: sm_80 -DELEMENT=float
// corpus: sm_90 -DELEMENT=unsigned\ char
// corpus: sm_120 -DELEMENT=long\ long
#include <cuda/atomic>
#ifndef ELEMENT
#define ELEMENT int
#endif
using T = ELEMENT;
template <cuda::thread_scope Scope>
__global__ void orders(T* p, T v, T* o) {
  cuda::atomic_ref<T, Scope> a(*p);
  using namespace cuda::std;
  o[0] = a.load(memory_order_relaxed);
  o[1] = a.load(memory_order_acquire);
  o[2] = a.load(memory_order_seq_cst);
  a.store(v, memory_order_relaxed);
  a.store(v, memory_order_release);
  a.store(v);
  o[3] = a.exchange(v, memory_order_acq_rel);
  o[4] = a.exchange(v, memory_order_relaxed);
  T e = o[5];
  a.compare_exchange_strong(e, v, memory_order_acquire, memory_order_relaxed);
  a.compare_exchange_weak(e, v);
  o[6] = e;
  o[7] = a.fetch_add(v, memory_order_relaxed);
  o[8] = a.fetch_add(v, memory_order_release);
  o[9] = a.fetch_sub(v, memory_order_acquire);
  o[10] = a.fetch_max(v);
  o[11] = a.fetch_min(v, memory_order_relaxed);
}
template __global__ void orders<cuda::thread_scope_block>(T*, T, T*);
template __global__ void orders<cuda::thread_scope_device>(T*, T, T*);
template __global__ void orders<cuda::thread_scope_system>(T*, T, T*);
__global__ void fences() {
  cuda::atomic_thread_fence(cuda::std::memory_order_acquire, cuda::thread_scope_block);
  cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::std::memory_order_release, cuda::thread_scope_system);
}
__device__ cuda::std::atomic_flag flag{};
__global__ void spin(int* counter) {
  while (flag.test_and_set(cuda::std::memory_order_acquire)) flag.wait(true);
  ++*counter;
  flag.clear(cuda::std::memory_order_release);
  flag.notify_one();
}
