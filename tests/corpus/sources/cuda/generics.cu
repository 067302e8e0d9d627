// Templates, lambdas, long mangled names, static data of templates, constexpr tables, iterators, expression trees.
// corpus: sm_75 --extended-lambda
// corpus: sm_90 --extended-lambda -lineinfo
// corpus: sm_80 --extended-lambda -G
// corpus: sm_120 --extended-lambda -rdc=true
#include <cuda/std/type_traits>
template <class F, class... A>
__global__ void launch(F f, int n, A... a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i, a...);
}
struct Leaf {
  const float* p;
  __device__ float operator[](int i) const { return p[i]; }
};
template <class A, class B>
struct Sum {
  A a;
  B b;
  __device__ float operator[](int i) const { return a[i] + b[i]; }
};
template <class A, class B>
struct Product {
  A a;
  B b;
  __device__ float operator[](int i) const { return a[i] * b[i]; }
};
template <class A>
struct Root {
  A a;
  __device__ float operator[](int i) const { return sqrtf(a[i]); }
};
template <class E>
__global__ void evaluate(float* o, E e, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = e[i];
}
template __global__ void evaluate(float*, Root<Sum<Product<Leaf, Leaf>, Product<Leaf, Sum<Leaf, Leaf>>>>, int);
constexpr int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__constant__ int sequence[10] = {fibonacci(1), fibonacci(5), fibonacci(10), fibonacci(15)};
template <int N>
struct Powers {
  int v[N];
  constexpr Powers() : v() {
    int p = 1;
    for (int i = 0; i < N; ++i, p *= 3) v[i] = p;
  }
};
__device__ const Powers<12> powers;
template <int N>
struct Unroll {
  template <class F>
  __device__ static void run(F f) {
    Unroll<N - 1>::run(f);
    f(N - 1);
  }
};
template <>
struct Unroll<0> {
  template <class F>
  __device__ static void run(F) {}
};
template <class T, T... V>
struct List {};
template <class T, T... V>
__device__ T total(List<T, V...>) {
  return (V + ... + T(0));
}
__global__ void uses(int* o, float* f, int n) {
  Unroll<6>::run([=](int i) { o[i] += powers.v[i] * n; });
  o[7] = total(List<int, 1, 2, 3>{}) + sequence[n & 3];
  auto square = [](auto x) { return x * x; };
  f[0] = square(f[1]) + square(n);
  auto counter = [k = n]() mutable { return ++k; };
  o[8] = counter() + counter();
  int (*plain)(int) = [](int x) { return x - 1; };
  o[9] = plain(n);
}
template <class D>
struct Curious {
  __device__ int run(int x) { return static_cast<D*>(this)->step(x) + 1; }
};
struct Derived : Curious<Derived> {
  int k;
  __device__ int step(int x) { return x * k; }
};
struct A {
  int a;
  __device__ virtual int va() { return a; }
};
struct B {
  int b;
  __device__ virtual int vb() { return b; }
};
struct C : A, virtual B {
  __device__ int va() override { return b; }
  __device__ int vb() override { return a; }
};
__global__ void objects(int* o, int n) {
  Derived d;
  d.k = n;
  o[0] = d.run(3);
  C c;
  c.a = n;
  c.b = 2 * n;
  A* a = &c;
  B* b = &c;
  if (n & 1) {
    A other;
    other.a = 1;
    a = &other;
    o[1] = a->va();
  }
  o[2] = a->va() + b->vb();
  int C::* member = n > 4 ? &C::a : nullptr;
  if (member) o[3] = c.*member;
}
void host(float* x, int n) {
  launch<<<1, 32>>>([=] __device__(int i) { x[i] *= 2; }, n);
  launch<<<1, 32>>>([=] __device__(int i, float a, double b) { x[i] = a * x[i] + b; }, n, 1.5f, 2.0);
}
