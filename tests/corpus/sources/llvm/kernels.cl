// OpenCL C: address spaces, vectors, builtins without a library, barriers.
// corpus: sm_75 -O2 -cl-std=CL2.0
// corpus: sm_80 -O0 -cl-std=CL1.2
// corpus: sm_90 -O3 -cl-std=CL2.0 -ffast-math
// corpus: sm_89 -O1 -cl-std=CL1.2
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct {
  int a;
  float4 b;
  char c[3];
} Item;
constant float weights[4] = {0.5f, 0.25f, 0.125f, 1.0f};
kernel void scale(global float4* x, float s, constant Item* items, local int* room) {
  int i = __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
  x[i] *= s;
  x[i].xy += items[i].b.zw;
  room[i] = (int)x[i].x;
  __syncthreads();
  x[i + 1].w = room[i ^ 1] + weights[i & 3];
}
kernel void integers(global long* o, long a, uint b, uchar2 c, ushort d) {
  o[0] = a / b;
  o[1] = a % 7;
  o[2] = c.x * d;
  o[3] = (a << 3) >> b;
  o[4] = a > b ? a : b;
  o[5] = (long)c.y;
}
kernel void doubles(global double* o, double a, float b) {
  o[0] = a * b + o[1];
  o[2] = a / b;
  o[3] = (int)a;
  o[4] = (ulong)b;
  o[5] = a < b ? -a : a;
}
kernel __attribute__((reqd_work_group_size(8, 4, 1))) void sized(global int* o) { o[0] = 1; }
kernel void local_array(global int* o, int n) {
  int t[32];
  local int s[64];
  for (int i = 0; i < n; ++i) t[i] = o[i];
  s[n] = t[n / 2];
  __syncthreads();
  o[n] = s[n - 1];
}
kernel void halves(global half* h, global float* f) {
  f[0] = __builtin_load_halff(h) * 2;
  __builtin_store_halff(f[1], h + 1);
  __builtin_store_half((double)f[2], h + 2);
}
