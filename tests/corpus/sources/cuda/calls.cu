// Calls: recursion, pointers to functions, virtual functions, structs in and out, prototypes, weak and extern functions.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_80 -G
// corpus: sm_100a -rdc=true
// corpus: sm_120 -rdc=true -Xcicc -O0
#include <cstdio>
struct Vec3 {
  float x, y, z;
};
struct Big {
  double d[6];
  char c;
  short s[3];
};
struct Pair {
  int a;
  float b;
};
__device__ __noinline__ Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __noinline__ Big grow(Big b, int i) {
  b.d[i & 3] += b.c;
  b.s[1] += 2;
  return b;
}
__device__ __noinline__ bool test(bool a, char b, unsigned char c, short d) { return a ? b > c : d > 3; }
__device__ __noinline__ float4 vector(float4 a, int2 b, longlong2 c, double2 d) {
  a.x += b.y + c.x;
  a.w += (float)d.y;
  return a;
}
__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1) * 2; }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1) + 1; }
using Op = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ Op ops[3] = {add, sub, mul};
__constant__ Op constant_ops[2] = {mul, add};
__global__ void through_pointers(float* o, int i, float a, float b) {
  o[0] = ops[i](a, b);
  o[1] = constant_ops[i](b, a);
  Op f = i > 1 ? add : sub;
  o[2] = f(a, b);
}
struct Shape {
  int id;
  __device__ Shape(int i) : id(i) {}
  __device__ virtual float area() const = 0;
  __device__ virtual Vec3 centre(Pair) { return {1, 2, 3}; }
  __device__ virtual ~Shape() {}
};
struct Disc : Shape {
  float r;
  __device__ Disc(float r) : Shape(1), r(r) {}
  __device__ float area() const override { return 3.14159f * r * r; }
};
struct Box : Shape {
  float w, h;
  __device__ Box(float w, float h) : Shape(2), w(w), h(h) {}
  __device__ float area() const override { return w * h; }
  __device__ Vec3 centre(Pair p) override { return {w / 2, h / 2, p.b}; }
};
__global__ void shapes(float* o, int n) {
  Shape* s;
  if (n & 1)
    s = new Disc(n);
  else
    s = new Box(n, 2);
  o[0] = s->area();
  o[1] = s->centre({n, 2.f}).y;
  delete s;
}
__global__ void use(Vec3* v, Big* b, float4* f, int* o, Vec3 p, Big q) {
  v[0] = cross(p, v[1]);
  b[0] = grow(q, o[1]);
  o[0] = test(o[1], o[2], o[3], o[4]) + ackermann(o[5], o[6]) + even(o[7]);
  f[0] = vector(f[1], {1, o[8]}, {2, 3}, {4., 5.});
  printf("%d %f %s\n", o[0], f[0].x, "done");
}
struct Empty {};
__device__ __noinline__ int nothing(Empty) { return 3; }
__global__ void empty(Empty e, int* o) { o[0] = nothing(e); }
template <class F>
__global__ void apply(F f, float* x) {
  x[threadIdx.x] = f(x[threadIdx.x], x[0]);
}
template __global__ void apply(Op, float*);
extern "C" __device__ __noinline__ int plain(int x) { return x * 3; }
extern "C" __global__ void plain_kernel(int* o) { o[0] = plain(o[1]); }
#ifdef __CUDACC_RDC__
extern __device__ int elsewhere(int, Vec3);
extern __device__ int far_away[];
extern __constant__ float far_constant;
extern __device__ Vec3 far_vec(double*);
__global__ void linked(int* o) {
  o[0] = elsewhere(o[1], {1, 2, 3}) + far_away[3] + (int)far_constant + (int)far_vec((double*)o).y;
}
static __device__ int here[4] = {1, 2, 3, 4};
__device__ int* exported = here + 2;
__device__ __forceinline__ int inlined(int x) { return here[x]; }
__device__ int visible(int x) { return inlined(x); }
__device__ __attribute__((weak)) int weakly(int x) { return x - 1; }
__global__ void weak_call(int* o) { o[0] = weakly(o[1]); }
#endif
