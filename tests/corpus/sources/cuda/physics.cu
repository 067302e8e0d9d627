// Simulations: bodies, stencils, waves, ray tracing, random walks, Fourier transforms, cellular automata, fluids.
// corpus: sm_75 -use_fast_math
// corpus: sm_90
// corpus: sm_80 --fmad=false -lineinfo
// corpus: sm_120 -DREAL=double
// corpus: sm_100a -DREAL=double -G
#ifndef REAL
#define REAL float
#endif
using real = REAL;
struct vec {
  real x, y, z;
  __host__ __device__ vec operator+(vec o) const { return {x + o.x, y + o.y, z + o.z}; }
  __device__ vec operator-(vec o) const { return {x - o.x, y - o.y, z - o.z}; }
  __device__ vec operator*(real s) const { return {x * s, y * s, z * s}; }
  __device__ real dot(vec o) const { return x * o.x + y * o.y + z * o.z; }
};
__global__ void bodies(const vec* p, vec* v, const real* m, int n, real dt) {
  __shared__ vec s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  vec a{0, 0, 0};
  for (int b = 0; b < n; b += 128) {
    s[threadIdx.x] = p[b + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; ++j) {
      vec d = s[j] - p[i];
      real r = rsqrt(d.dot(d) + real(1e-3));
      a = a + d * (m[b + j] * r * r * r);
    }
    __syncthreads();
  }
  v[i] = v[i] + a * dt;
}
__global__ void heat(const real* u, real* w, int nx, int ny, int nz, real k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1;
  size_t layer = (size_t)nx * ny, at = layer + (size_t)j * nx + i;
  real below = u[at - layer], here = u[at];
  for (int z = 1; z < nz - 1; ++z, at += layer) {
    real above = u[at + layer];
    w[at] = here + k * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + above + below - 6 * here);
    below = here;
    here = above;
  }
}
struct Hit {
  real t;
  int id;
  vec n;
};
__device__ bool sphere(vec o, vec d, vec c, real r, real& t) {
  vec e = o - c;
  real b = e.dot(d), q = b * b - e.dot(e) + r * r;
  if (q < 0) return false;
  real s = sqrt(q);
  t = -b - s > 0 ? -b - s : -b + s;
  return t > 0;
}
__device__ __noinline__ Hit trace(vec o, vec d, const vec* c, const real* r, int n) {
  Hit h{real(1e20), -1, {}};
  for (int i = 0; i < n; ++i) {
    real t;
    if (sphere(o, d, c[i], r[i], t) && t < h.t) {
      h.t = t;
      h.id = i;
    }
  }
  if (h.id >= 0) h.n = (o + d * h.t - c[h.id]) * (1 / r[h.id]);
  return h;
}
__global__ void render(uchar4* image, int w, int h, const vec* c, const real* r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  vec o{0, 0, -3}, d{(i - w / 2) / real(w), (j - h / 2) / real(h), 1};
  d = d * rsqrt(d.dot(d));
  real light = 0, k = 1;
  for (int bounce = 0; bounce < 4; ++bounce) {
    Hit hit = trace(o, d, c, r, n);
    if (hit.id < 0) {
      light += k * (d.y + 1) / 2;
      break;
    }
    o = o + d * hit.t;
    d = d - hit.n * (2 * d.dot(hit.n));
    k *= real(0.6);
  }
  unsigned char g = (unsigned char)min(light * 255, real(255));
  image[j * w + i] = make_uchar4(g, g, g, 255);
}
__device__ unsigned philox(uint4& c, uint2 k) {
  for (int i = 0; i < 10; ++i) {
    unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k.x, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ k.y, (unsigned)a);
    k.x += 0x9E3779B9;
    k.y += 0xBB67AE85;
  }
  return c.x;
}
__global__ void option(double* o, real s, real x, real r, real vol, real t, int paths) {
  uint4 c = make_uint4(threadIdx.x, blockIdx.x, 0, 0);
  double sum = 0;
  for (int i = 0; i < paths; ++i) {
    philox(c, make_uint2(7, 11));
    real u = (c.x + real(0.5)) * real(2.3283064e-10), v = (c.y + real(0.5)) * real(2.3283064e-10),
         z = sqrt(-2 * log(u)) * cospi(2 * v);
    sum += max(s * exp((r - vol * vol / 2) * t + vol * sqrt(t) * z) - x, real(0));
    c.z += 1;
  }
  atomicAdd(o, sum * exp((double)-r * t));
}
__global__ void fourier(real* re, real* im) {
  __shared__ real a[256], b[256];
  int t = threadIdx.x;
  int k = __brev(t) >> 24;
  a[k] = re[t];
  b[k] = im[t];
  for (int n = 2; n <= 256; n *= 2) {
    __syncthreads();
    if ((t & (n - 1)) < n / 2) {
      real s, c;
      sincospi(real(-2) * (t & (n / 2 - 1)) / n, &s, &c);
      int q = t + n / 2;
      real x = a[q] * c - b[q] * s, y = a[q] * s + b[q] * c;
      a[q] = a[t] - x;
      b[q] = b[t] - y;
      a[t] += x;
      b[t] += y;
    }
  }
  __syncthreads();
  re[t] = a[t];
  im[t] = b[t];
}
__global__ void life(const unsigned* x, unsigned* y, int words, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  unsigned s0 = 0, s1 = 0, s2 = 0, me = x[j * words + i];
  for (int d = -1; d <= 1; ++d) {
    const unsigned* r = x + (j + d + rows) % rows * words;
    unsigned m = r[i], l = __funnelshift_l(r[(i + words - 1) % words], m, 1), g = __funnelshift_r(m, r[(i + 1) % words], 1);
    for (unsigned v : {l, d ? m : 0u, g}) {
      unsigned c = s0 & v;
      s0 ^= v;
      unsigned e = s1 & c;
      s1 ^= c;
      s2 |= e;
    }
  }
  y[j * words + i] = s1 & ~s2 & (s0 | me);
}
