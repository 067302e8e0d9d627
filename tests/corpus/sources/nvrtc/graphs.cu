// Relocatable programs for a linker to join, with extern functions and long names.
// corpus: sm_80 --relocatable-device-code=true
// corpus: sm_90a --relocatable-device-code=true --device-debug
// corpus: sm_110a --relocatable-device-code=true --generate-line-info
namespace user {
namespace very {
namespace deeply {
namespace nested {
struct Key {
  unsigned long long hi, lo;
};
extern __device__ int hash(Key k, const unsigned char (&salt)[16]);
extern __device__ Key (*callback)(Key, void*);
template <class... T>
__device__ int variadic(T... t) {
  return (0 + ... + (int)t);
}
}  // namespace nested
}  // namespace deeply
}  // namespace very
}  // namespace user
using namespace user::very::deeply::nested;
extern __constant__ unsigned char salt[16];
extern __shared__ Key room[];
__device__ Key keys[100];
__device__ __noinline__ int probe(const Key& k, int n) {
  int h = hash(k, salt) % n;
  while (keys[h].hi != k.hi || keys[h].lo != k.lo) h = (h + 1) % n;
  return h;
}
extern "C" __global__ void lookup(const Key* q, int* o, int n, void* context) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  room[threadIdx.x] = callback(q[i], context);
  __syncthreads();
  o[i] = probe(room[threadIdx.x ^ 1], n) + variadic(n, 1.5f, 'c', 3ull);
}
