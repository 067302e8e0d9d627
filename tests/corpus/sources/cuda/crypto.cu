// Ciphers, digests and codes: long straight-line integer code, tables, carries.
// corpus: sm_75
// corpus: sm_90 -lineinfo
// corpus: sm_100a -maxrregcount=40
// corpus: sm_80 -G
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;
__constant__ u32 K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                          0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};
__device__ __forceinline__ u32 r(u32 x, int n) { return __funnelshift_r(x, x, n); }
__global__ void digest(const u32* m, u32* out, int blocks) {
  u32 h[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int b = 0; b < blocks; ++b) {
    u32 w[64];
#pragma unroll
    for (int i = 0; i < 16; ++i) w[i] = __byte_perm(m[b * 16 + i], 0, 0x0123);
#pragma unroll
    for (int i = 16; i < 64; ++i)
      w[i] = w[i - 16] + w[i - 7] + (r(w[i - 15], 7) ^ r(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (r(w[i - 2], 17) ^ r(w[i - 2], 19) ^ w[i - 2] >> 10);
    u32 a = h[0], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], s = h[7], q = h[1];
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      u32 t = s + (r(e, 6) ^ r(e, 11) ^ r(e, 25)) + (e & f ^ ~e & g) + K[i] + w[i],
          u = (r(a, 2) ^ r(a, 13) ^ r(a, 22)) + (a & q ^ a & c ^ q & c);
      s = g;
      g = f;
      f = e;
      e = d + t;
      d = c;
      c = q;
      q = a;
      a = t + u;
    }
    h[0] += a;
    h[1] += q;
    h[2] += c;
    h[3] += d;
    h[4] += e;
    h[5] += f;
    h[6] += g;
    h[7] += s;
  }
  for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = h[i];
}
__device__ void quarter(u32& a, u32& b, u32& c, u32& d) {
  a += b;
  d = __funnelshift_l(d ^ a, d ^ a, 16);
  c += d;
  b = __funnelshift_l(b ^ c, b ^ c, 12);
  a += b;
  d = __funnelshift_l(d ^ a, d ^ a, 8);
  c += d;
  b = __funnelshift_l(b ^ c, b ^ c, 7);
}
__global__ void stream(uint4* out, const uint4* key, uint3 nonce) {
  u32 x[16] = {0x61707865,
               0x3320646e,
               0x79622d32,
               0x6b206574,
               key[0].x,
               key[0].y,
               key[0].z,
               key[0].w,
               key[1].x,
               key[1].y,
               key[1].z,
               key[1].w,
               blockIdx.x * blockDim.x + threadIdx.x,
               nonce.x,
               nonce.y,
               nonce.z};
  for (int i = 0; i < 10; ++i) {
    quarter(x[0], x[4], x[8], x[12]);
    quarter(x[1], x[5], x[9], x[13]);
    quarter(x[2], x[6], x[10], x[14]);
    quarter(x[3], x[7], x[11], x[15]);
    quarter(x[0], x[5], x[10], x[15]);
    quarter(x[1], x[6], x[11], x[12]);
    quarter(x[2], x[7], x[8], x[13]);
    quarter(x[3], x[4], x[9], x[14]);
  }
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = make_uint4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
}
__global__ void keccak(u64* state) {
  u64 a[25], c[5];
  for (int i = 0; i < 25; ++i) a[i] = state[i];
  u64 rc = 1;
  for (int round = 0; round < 24; ++round) {
    for (int i = 0; i < 5; ++i) c[i] = a[i] ^ a[i + 5] ^ a[i + 10] ^ a[i + 15] ^ a[i + 20];
    for (int i = 0; i < 5; ++i) {
      u64 d = c[(i + 4) % 5] ^ (c[(i + 1) % 5] << 1 | c[(i + 1) % 5] >> 63);
      for (int j = 0; j < 25; j += 5) a[j + i] ^= d;
    }
    u64 t = a[1];
    for (int i = 0; i < 24; ++i) {
      int n = (i + 1) * (i + 2) / 2 % 64;
      t = t << n | t >> ((64 - n) & 63);
    }
    for (int j = 0; j < 25; j += 5) {
      for (int i = 0; i < 5; ++i) c[i] = a[j + i];
      for (int i = 0; i < 5; ++i) a[j + i] = c[i] ^ ~c[(i + 1) % 5] & c[(i + 2) % 5];
    }
    a[0] ^= rc ^ t;
    rc = rc << 1 ^ (rc >> 63) * 0x1b;
  }
  for (int i = 0; i < 25; ++i) state[i] = a[i];
}
__global__ void big_multiply(u32* o, const u32* a, const u32* b) {
  u32 r0 = 0, r1 = 0, r2 = 0;
  for (int k = 0; k < 15; ++k) {
    for (int i = max(0, k - 7); i <= min(k, 7); ++i)
      asm("mad.lo.cc.u32 %0, %3, %4, %0;\n\tmadc.hi.cc.u32 %1, %3, %4, %1;\n\taddc.u32 %2, %2, 0;"
          : "+r"(r0), "+r"(r1), "+r"(r2)
          : "r"(a[i]), "r"(b[k - i]));
    o[k] = r0;
    r0 = r1;
    r1 = r2;
    r2 = 0;
  }
  o[15] = r0;
}
__global__ void big_add(u64* o, const u64* a, const u64* b) {
  u64 x, y, z, w;
  asm("add.cc.u64 %0, %4, %8;\n\taddc.cc.u64 %1, %5, %9;\n\taddc.cc.u64 %2, %6, %10;\n\taddc.u64 %3, %7, %11;"
      : "=l"(x), "=l"(y), "=l"(z), "=l"(w)
      : "l"(a[0]), "l"(a[1]), "l"(a[2]), "l"(a[3]), "l"(b[0]), "l"(b[1]), "l"(b[2]), "l"(b[3]));
  asm("sub.cc.u64 %0, %0, %2; subc.cc.u64 %1, %1, %3;" : "+l"(x), "+l"(y) : "l"(z), "l"(w));
  o[0] = x;
  o[1] = y;
  o[2] = z;
  o[3] = w;
}
__device__ u64 power(u64 b, u64 e, u64 m) {
  u64 r = 1;
  for (; e; e >>= 1) {
    if (e & 1) r = (u64)((unsigned __int128)r * b % m);
    b = (u64)((unsigned __int128)b * b % m);
  }
  return r;
}
__global__ void modular(u64* x, u64 e, u64 m) { x[threadIdx.x] = power(x[threadIdx.x], e, m); }
__device__ u8 table[256];
__global__ void decode(const u8* in, u8* out, int n) {
  int at = 0, written = 0;
  while (at < n) {
    u8 c = in[at++];
    if (c < 128) {
      for (int i = 0; i <= c; ++i) out[written++] = table[in[at++]];
    } else {
      int back = in[at] | in[at + 1] << 8;
      at += 2;
      for (int i = 0; i < c - 124; ++i, ++written) out[written] = out[written - back];
    }
  }
}
