// Irregular kernels: sparse products, breadth-first search, trees, hash tables, string search, sorting networks, k nearest.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_80 -G
// corpus: sm_120 -Xcicc -O1
__global__ void csr(const int* rows, const int* cols, const double* v, const double* x, double* y, int n) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= n) return;
  double s = 0;
  for (int i = rows[r] + lane; i < rows[r + 1]; i += 32) s += v[i] * x[cols[i]];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
  if (!lane) y[r] = s;
}
__global__ void frontier(const int* first, const int* to, int* dist, const int* in, int count, int* out, int* next, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int u = in[i];
  for (int e = first[u]; e < first[u + 1]; ++e)
    if (atomicCAS(&dist[to[e]], -1, level) == -1) out[atomicAdd(next, 1)] = to[e];
}
struct Node {
  float split;
  short axis;
  int left, right, leaf;
};
__global__ void forest(const Node* trees, const int* roots, int count, const float* x, int features, int* votes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int t = 0; t < count; ++t) {
    const Node* n = trees + roots[t];
    while (n->leaf < 0) n = trees + (x[i * features + n->axis] < n->split ? n->left : n->right);
    atomicAdd(votes + i * 16 + n->leaf, 1);
  }
}
struct Slot {
  unsigned long long key, value;
};
__device__ unsigned long long mix(unsigned long long k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdull;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ull;
  return k ^ k >> 33;
}
__global__ void insert(Slot* t, unsigned size, const unsigned long long* k, const unsigned long long* v, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned long long h = mix(k[i]);
    for (;; ++h) {
      unsigned long long old = atomicCAS(&t[h % size].key, 0ull, k[i]);
      if (old == 0 || old == k[i]) {
        atomicExch(&t[h % size].value, v[i]);
        break;
      }
    }
  }
}
__global__ void search(const char* text, int n, const char* word, int m, int* count) {
  extern __shared__ char w[];
  if (threadIdx.x < m) w[threadIdx.x] = word[threadIdx.x];
  __syncthreads();
  int found = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + m <= n; i += gridDim.x * blockDim.x) {
    int j = 0;
    while (j < m && text[i + j] == w[j]) ++j;
    found += j == m;
  }
  found = __syncthreads_count(found);
  if (!threadIdx.x) atomicAdd(count, found);
}
template <class T>
__global__ void bitonic(T* x) {
  __shared__ T s[512];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 256] = x[t + 256];
  for (int k = 2; k <= 512; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      __syncthreads();
      int a = 2 * t - (t & j - 1), b = a + j;
      bool up = (a & k) == 0;
      T p = s[a], q = s[b];
      if ((p > q) == up) s[a] = q, s[b] = p;
    }
  __syncthreads();
  x[t] = s[t];
  x[t + 256] = s[t + 256];
}
template __global__ void bitonic(int*);
template __global__ void bitonic(double*);
template __global__ void bitonic(unsigned short*);
__global__ void nearest(const float3* p, const float3* q, int n, float* best, int* who) {
  float d[4] = {1e9f, 1e9f, 1e9f, 1e9f};
  int w[4] = {};
  float3 a = q[threadIdx.x];
  for (int i = 0; i < n; ++i) {
    float x = p[i].x - a.x, y = p[i].y - a.y, z = p[i].z - a.z, e = x * x + y * y + z * z;
    int id = i;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (e < d[k]) {
        float t = d[k];
        d[k] = e;
        e = t;
        int u = w[k];
        w[k] = id;
        id = u;
      }
  }
  for (int k = 0; k < 4; ++k) best[threadIdx.x * 4 + k] = d[k], who[threadIdx.x * 4 + k] = w[k];
}
__global__ void union_find(int* parent, const int2* edges, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = edges[i].x, b = edges[i].y;
  for (;;) {
    while (parent[a] != a) a = parent[a];
    while (parent[b] != b) b = parent[b];
    if (a == b) return;
    if (a < b) {
      int t = a;
      a = b;
      b = t;
    }
    if (atomicCAS(parent + a, a, b) == a) return;
  }
}
