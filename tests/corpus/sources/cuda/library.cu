// libcu++ in device code: variant, tuple, span, complex, optional, functional, mdspan, bit, chrono.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_80 -G
// corpus: sm_120 -Xcicc -O1
#include <cuda/cmath>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/ratio>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <cuda/warp>
namespace std_ = cuda::std;
__global__ void complexes(std_::complex<float>* f, std_::complex<double>* d) {
  f[0] = f[1] * f[2] / f[3] + std_::exp(f[4]) + std_::sqrt(f[5]) + std_::pow(f[6], 2.f);
  d[0] = std_::polar(d[1].real(), d[2].imag()) + std_::log(d[3]) + std_::tanh(d[4]);
  f[7] = std_::abs(f[8]) + std_::arg(f[9]);
}
using Value = std_::variant<int, float, double2>;
__global__ void variants(Value* v, float* o) {
  *o = std_::visit(
      [](auto x) -> float {
        if constexpr (sizeof(x) == 16)
          return x.x;
        else
          return x;
      },
      v[0]);
  if (std_::holds_alternative<int>(v[1])) v[2] = 1.5f;
  if (auto* p = std_::get_if<float>(&v[3])) *p = 2;
}
__global__ void pieces(int* o, int n) {
  std_::array<int, 7> a{1, 2, 3, 4, 5, 6, 7};
  std_::span<int> s(o, n);
  for (auto& x : s.subspan(2)) x += a[n % 7];
  auto t = std_::make_tuple(n, 2.5f, 'c');
  auto [x, y, z] = t;
  o[0] = x + (int)y + z;
  std_::optional<int> q;
  if (n > 3) q = n;
  o[1] = q.value_or(-1);
  std_::pair<int, long long> p{1, 2};
  std_::swap(a[0], a[1]);
  o[2] = p.second + a[0];
  o[3] = std_::accumulate(s.begin(), s.end(), 0);
}
__global__ void bits(unsigned* o, unsigned x, unsigned long long y) {
  o[0] = std_::popcount(x) + std_::countl_zero(y) + std_::countr_one(x) + std_::rotl(x, 5) + std_::bit_ceil(x) +
         std_::bit_width(y) + std_::has_single_bit(x);
  o[1] = std_::bit_cast<unsigned>(1.5f * x);
  o[2] = std_::gcd(x, o[3]) + std_::lcm(x, o[4]);
  o[5] = std_::byteswap(x);
}
__global__ void grids(float* p, int r, int c) {
  std_::mdspan<float, std_::dextents<int, 2>> m(p, r, c);
  std_::mdspan<float, std_::extents<int, 4, std_::dynamic_extent>, std_::layout_left> l(p, c);
  m(threadIdx.x, threadIdx.y) += l(3, threadIdx.x);
}
__global__ void numbers(double* d, float* f, int* i) {
  d[0] = std_::hypot(d[1], d[2]) + std_::fma(d[3], d[4], d[5]) + std_::lerp(d[6], d[7], .5);
  f[0] = std_::numeric_limits<float>::infinity();
  i[0] = std_::fpclassify(f[2]) + std_::isnan(d[8]) + std_::signbit(f[3]);
  i[1] = cuda::ceil_div(i[2], 7);
}
__global__ void times(long long* o) {
  auto t = std_::chrono::system_clock::now();
  auto u = std_::chrono::high_resolution_clock::now();
  o[0] = (std_::chrono::system_clock::now() - t).count();
  o[1] = std_::chrono::duration_cast<std_::chrono::milliseconds>(u.time_since_epoch()).count();
}
__global__ void functions(int* o) {
  std_::plus<> p;
  auto b = std_::bind_front([](int a, int c) { return a * c; }, 3);
  o[0] = p(o[1], 2) + b(o[3]) + std_::invoke(std_::minus<int>{}, o[4], 5);
  struct {
    int v;
    __device__ int get() { return v; }
  } s{o[5]};
  o[6] = std_::invoke(&decltype(s)::get, s);
}
