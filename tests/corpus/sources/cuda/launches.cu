// Dynamic parallelism: launches from the device, tail and fire-and-forget streams.
// corpus: sm_80 -rdc=true
// corpus: sm_90 -rdc=true -lineinfo
// corpus: sm_120 -rdc=true -G
struct Args {
  int a;
  float b[5];
};
__global__ void child(int* x, Args a) { x[threadIdx.x] += a.a + (int)a.b[2]; }
__global__ void quicksort(int* x, int lo, int hi, int depth) {
  if (lo >= hi) return;
  int p = x[hi], i = lo;
  for (int j = lo; j < hi; ++j)
    if (x[j] < p) {
      int t = x[i];
      x[i++] = x[j];
      x[j] = t;
    }
  x[hi] = x[i];
  x[i] = p;
  if (depth > 8) return;
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  quicksort<<<1, 1, 0, s>>>(x, lo, i - 1, depth + 1);
  quicksort<<<1, 1, 0, s>>>(x, i + 1, hi, depth + 1);
  cudaStreamDestroy(s);
}
__global__ void parent(int* x) {
  Args a{3, {1, 2, 3, 4, 5}};
  child<<<2, 64>>>(x, a);
  child<<<dim3(2, 2), dim3(8, 4), 128, cudaStreamTailLaunch>>>(x, a);
  child<<<1, 1, 0, cudaStreamFireAndForget>>>(x, a);
  if (cudaGetLastError() != cudaSuccess) __trap();
  int d;
  cudaGetDevice(&d);
  x[0] = d;
}
