// Variables of every space and type; initialisers with addresses, nested structs, strings, pointers to functions.
// corpus: sm_75
// corpus: sm_90 -rdc=true
// corpus: sm_120a -G
// corpus: sm_80 -lineinfo
#include <cuda_fp16.h>
__device__ int zero;
__device__ int one = 1;
__device__ signed char c8 = -3;
__device__ short s16 = -300;
__device__ long long s64 = -3000000000ll;
__device__ float f32 = 1.5f;
__device__ double f64 = -2.25;
__device__ bool yes = true;
__device__ unsigned char bytes[5] = {1, 2, 255};
__device__ char text[] = "some text\n";
__device__ const char* pointer = "pointed at";
__constant__ float weights[3][4] = {{1, 2, 3, 4}, {.5f, .25f}, {-0.f, 1e30f, 1e-40f, 3.1415927f}};
__constant__ int single = 42;
__constant__ double2 pairs[2] = {{1, 2}, {3, 4}};
__managed__ int managed = 5;
__managed__ float managed_array[100];
__managed__ int* managed_pointer;
struct Inner {
  char a;
  short b;
  int c;
};
struct Node {
  int value;
  Node* next;
  Inner in[2];
  float (*f)(float);
  const char* name;
  double d;
  unsigned bits : 3, more : 29;
};
__device__ float twice(float x) { return 2 * x; }
extern __device__ Node second;
__device__ Node first = {1, &second, {{'a', 2, 3}, {'b', 5, 6}}, twice, "first", 7.5, 5, 99};
__device__ Node second = {2, nullptr, {}, nullptr, "second", -1, 1, 2};
__device__ int* inside = &one;
__device__ unsigned char* offset = bytes + 3;
__device__ float* middle[2] = {nullptr, &f32};
__device__ long long matrix[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
__device__ float4 vec = {1, 2, 3, 4};
__device__ uchar4 small = {1, 2, 3, 4};
struct __align__(16) Aligned {
  int x[3];
};
__device__ Aligned aligned[2] = {{{1, 2, 3}}, {{4, 5, 6}}};
__device__ double nan_value = __builtin_nan("");
__device__ float infinity = -__builtin_huge_valf();
__device__ unsigned long long big = ~0ull;
__device__ int many[1000];
__device__ int long_list[64] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
namespace {
__device__ int hidden = 9;
}
static __device__ int internal = 8;
namespace outer {
namespace inner {
__device__ int qualified = 7;
}
}  // namespace outer
__device__ volatile int watched = 3;
__device__ const int fixed[4] = {9, 8, 7, 6};
union Either {
  int i;
  float f;
  char c[8];
};
__device__ Either either = {.i = 77};
__global__ void use(int* o, float* f, int i) {
  o[0] = zero + one + c8 + s16 + (int)s64 + yes + bytes[i] + text[i] + pointer[i] + single + managed + hidden + internal +
         outer::inner::qualified + watched + fixed[i] + either.i + many[i] + long_list[i];
  f[0] = f32 + f64 + weights[i][i] + pairs[i].y + first.next->d + first.f(2.f) + second.in[i].c + *middle[i] + vec.z + nan_value +
         infinity;
  o[1] = *inside + *offset + matrix[i][0][1] + small.y + aligned[i].x[2] + big + first.bits + first.name[i];
  managed_array[i] = 3;
  *managed_pointer = watched = i;
}
__global__ void shared(int* o, int n) {
  __shared__ int a[32];
  __shared__ double b[4][8];
  __shared__ struct {
    char c;
    float f;
  } s[3];
  static __shared__ unsigned char d;
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ __half h[2];
  a[threadIdx.x] = n;
  b[n][1] = 2;
  s[n].f = 1;
  d = n;
  h[n & 1] = __float2half(1.f);
  dynamic[threadIdx.x] = n;
  __syncthreads();
  o[0] = a[n] + (int)b[1][n] + s[n].c + d + reinterpret_cast<int*>(dynamic)[n] + (int)(float)h[0];
}
__global__ void local(int* o, int n) {
  int a[64];
  for (int i = 0; i < 64; ++i) a[i] = o[i];
  o[0] = a[n];
  volatile float v[3] = {1, 2, 3};
  v[n] = 4;
  o[1] = v[1];
  int* p = n > 3 ? a : &a[5];
  *p = 7;
  o[2] = a[n + 1];
  struct {
    long long l;
    char c[7];
  } s = {5, "abc"};
  s.c[n] = 'x';
  o[3] = s.c[n + 1];
}
__global__ void variable_size(int* o, int n) {
  char* p = (char*)alloca(n * 4);
  for (int i = 0; i < n; ++i) p[i] = o[i];
  o[0] = p[n / 2];
}
