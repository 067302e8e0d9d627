// printf, assert, trap, breakpoints, malloc, timers: what calls into the driver's functions.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_120 -G
// corpus: sm_80 -DNDEBUG -use_fast_math
#include <cassert>
#include <cstdio>
__global__ void print(int n, float f, double d, const char* s, void* p, long long l) {
  printf("plain\n");
  printf("%d %5.2f %g %s %p %lld %c %x %%\n", n, f, d, s, p, l, 'c', n);
  printf("quotes \" backslash \\ tab \t bell \a nul-free \x7f\n");
  int r = printf("%s", "nested");
  if (r < 0) __trap();
}
__global__ void check(const int* x, int n) {
  assert(n > 0);
  assert(x != nullptr && "a pointer");
  for (int i = threadIdx.x; i < n; i += blockDim.x) assert(x[i] >= 0);
}
__global__ void memory(int n, int** o) {
  int* p = (int*)malloc(n * 4);
  if (!p) __trap();
  for (int i = 0; i < n; ++i) p[i] = i;
  memset(p, 1, 4 * n);
  memcpy(o, p, 4 * n);
  memcpy(o + 1, p, 64);
  memset(o, 0, 100);
  o[0] = new int[n];
  delete[] o[1];
  free(p);
}
__global__ void traps(int a) {
  if (a == 1) __trap();
  if (a == 2) __brkpt();
  if (a == 3) asm volatile("exit;");
  __prof_trigger(3);
  __nanosleep(10);
}
__global__ void times(long long* o) {
  long long s = clock64();
  o[0] = s;
  __syncthreads();
  o[1] = clock64() - s;
  o[2] = clock();
  o[3] = __isGlobal(o) + __isShared(o) + __isConstant(o) + __isLocal(o) + __isGridConstant(o);
  o[4] = __cvta_generic_to_shared(o);
  o[5] = __cvta_generic_to_global(o);
}
