// Performance directives: launch bounds, register limits, cluster sizes, block sizes.
// corpus: sm_75
// corpus: sm_90
// corpus: sm_90a -maxrregcount=64
// corpus: sm_100a -lineinfo
// corpus: sm_120
__global__ void __launch_bounds__(128) one(float* x) { x[threadIdx.x] *= 2; }
__global__ void __launch_bounds__(256, 4) two(float* x) { x[threadIdx.x] += 2; }
__global__ void __maxnreg__(48) limited(float* x) { x[threadIdx.x] = sqrtf(x[threadIdx.x]); }
#if __CUDA_ARCH__ >= 900
__global__ void __launch_bounds__(128, 2, 8) three(float* x) { x[threadIdx.x] -= 2; }
__global__ void __cluster_dims__(2, 1, 1) clustered(float* x) { x[threadIdx.x] /= 2; }
__global__ void __cluster_dims__(4) __launch_bounds__(64) clustered_bounded(float* x) { x[threadIdx.x] /= 3; }
__global__ void __block_size__((128, 1, 1), (2, 2, 1)) sized(float* x) { x[threadIdx.x] *= 4; }
__global__ void __block_size__((64, 2, 2)) sized_only(float* x) { x[threadIdx.x] *= 5; }
__global__ void wait_for_earlier(float* x) {
  cudaGridDependencySynchronize();
  x[0] = 1;
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void sizes(unsigned* o) {
  dim3 a = __clusterDim(), b = __clusterRelativeBlockIdx(), c = __clusterGridDimInClusters(), d = __clusterIdx();
  o[0] = a.x + b.y + c.z + d.x + __clusterRelativeBlockRank() + __clusterSizeInBlocks();
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  o[1] = __cluster_query_shared_rank(o);
}
#endif
template <int N>
__global__ void __launch_bounds__(N, 2048 / N) templated(float* x) {
  __shared__ float s[N];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[N - 1 - threadIdx.x];
}
template __global__ void templated<64>(float*);
template __global__ void templated<512>(float*);
template __global__ void templated<1024>(float*);
