// Image and signal kernels: colour, filters with textures, integral images, morphology, resampling, dithering, wavelets.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_100 -use_fast_math
// corpus: sm_86 -G
__global__ void grey(const uchar3* x, unsigned char* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (77 * x[i].x + 150 * x[i].y + 29 * x[i].z) >> 8;
}
__global__ void to_yuv(const uchar4* x, short4* y, int w) {
  int i = blockIdx.y * w + blockIdx.x * 32 + threadIdx.x;
  uchar4 p = x[i];
  float l = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
  y[i] = make_short4(__float2int_rn(l), __float2int_rd((p.z - l) * 0.565f), __float2int_ru((p.x - l) * 0.713f), p.w);
}
__global__ void bilateral(cudaTextureObject_t t, float* o, int w, int h, float s, float r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  float c = tex2D<float>(t, i, j), sum = 0, k = 0;
  for (int v = -3; v <= 3; ++v)
    for (int u = -3; u <= 3; ++u) {
      float x = tex2D<float>(t, i + u, j + v), g = __expf(-(u * u + v * v) * s - (x - c) * (x - c) * r);
      sum += g * x;
      k += g;
    }
  o[j * w + i] = __fdividef(sum, k);
}
__global__ void integral(const unsigned char* x, unsigned* o, int w) {
  __shared__ unsigned sums[32];
  unsigned carry = 0;
  for (int b = 0; b < w; b += blockDim.x) {
    unsigned v = b + threadIdx.x < w ? x[blockIdx.x * w + b + threadIdx.x] : 0;
    int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d <<= 1) {
      unsigned u = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += u;
    }
    if (lane == 31) sums[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
      unsigned s = sums[threadIdx.x];
      for (int d = 1; d < 32; d <<= 1) {
        unsigned u = __shfl_up_sync(~0u, s, d);
        if (threadIdx.x >= d) s += u;
      }
      sums[threadIdx.x] = s;
    }
    __syncthreads();
    if (threadIdx.x >= 32) v += sums[(threadIdx.x >> 5) - 1];
    if (b + threadIdx.x < w) o[blockIdx.x * w + b + threadIdx.x] = v + carry;
    carry += sums[(blockDim.x >> 5) - 1];
    __syncthreads();
  }
}
template <int R>
__global__ void erode(const uchar4* x, uchar4* o, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  unsigned m = ~0u;
  for (int v = -R; v <= R; ++v)
    for (int u = -R; u <= R; ++u) {
      int p = min(max(i + u, 0), w - 1), q = min(max(j + v, 0), h - 1);
      m = __vminu4(m, *reinterpret_cast<const unsigned*>(x + q * w + p));
    }
  *reinterpret_cast<unsigned*>(o + j * w + i) = m;
}
template __global__ void erode<1>(const uchar4*, uchar4*, int, int);
template __global__ void erode<3>(const uchar4*, uchar4*, int, int);
__global__ void bicubic(const float* x, float* o, int w, int h, double sx, double sy) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  double fx = i * sx, fy = j * sy;
  int px = (int)floor(fx), py = (int)floor(fy);
  float a = (float)(fx - px), b = (float)(fy - py), r = 0;
  auto k = [](float t) {
    t = fabsf(t);
    return t < 1 ? (1.5f * t - 2.5f) * t * t + 1 : t < 2 ? ((-0.5f * t + 2.5f) * t - 4) * t + 2 : 0.f;
  };
  for (int v = -1; v <= 2; ++v)
    for (int u = -1; u <= 2; ++u) r += x[min(max(py + v, 0), h - 1) * w + min(max(px + u, 0), w - 1)] * k(u - a) * k(v - b);
  o[j * (long long)w + i] = r;
}
__global__ void haar(float* x, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[2 * t] = x[2 * t];
  s[2 * t + 1] = x[2 * t + 1];
  for (int m = n / 2; m; m /= 2) {
    __syncthreads();
    float a = 0, d = 0;
    if (t < m) {
      a = (s[2 * t] + s[2 * t + 1]) * 0.70710678f;
      d = (s[2 * t] - s[2 * t + 1]) * 0.70710678f;
    }
    __syncthreads();
    if (t < m) {
      s[t] = a;
      s[m + t] = d;
    }
  }
  __syncthreads();
  x[2 * t] = s[2 * t];
  x[2 * t + 1] = s[2 * t + 1];
}
__global__ void paint(cudaSurfaceObject_t s, int w, int h, float t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  float a = sinf(i * 0.1f + t), b = cosf(j * 0.1f - t);
  uchar4 p;
  surf2Dread(&p, s, i * 4, j);
  p.x = (unsigned char)__saturatef(a) * 255;
  p.y = __float2uint_rz(__saturatef(b) * 255.f);
  surf2Dwrite(p, s, i * 4, j, cudaBoundaryModeTrap);
}
