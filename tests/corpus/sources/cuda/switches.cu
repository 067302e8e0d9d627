// Control flow: switch tables, nested loops, early exits, goto, unrolling pragmas, likely branches, predicated stores.
// corpus: sm_75
// corpus: sm_90
// corpus: sm_120 -lineinfo
// corpus: sm_80 -G
// corpus: sm_100a -Xcicc -O1
__device__ __noinline__ int f(int x) { return x * x + 1; }
__global__ void table(int* o, int n) {
  int r;
  switch (o[n]) {
    case 0:
      r = f(1);
      break;
    case 1:
      r = o[5] * 2;
      break;
    case 2:
      r = f(o[2]);
      break;
    case 3:
      o[9] = 4;
    case 4:
      r = o[8];
      break;
    case 5:
      __syncthreads();
      r = 7;
      break;
    case 6:
      r = f(n);
      break;
    case 7:
      return;
    case 8:
      r = o[1] / 3;
      break;
    default:
      r = -1;
  }
  o[0] = r;
}
__global__ void sparse(long long* o, long long x) {
  switch (x) {
    case -5:
      o[0] = 1;
      break;
    case 1000:
      o[1] = 2;
      break;
    case 1ll << 40:
      o[2] = 3;
      break;
    default:
      o[3] = 4;
  }
}
__global__ void interpreter(const unsigned char* code, long long* stack, int n) {
  int sp = 0;
  for (int pc = 0; pc < n;) switch (code[pc++]) {
      case 0:
        stack[sp++] = code[pc++];
        break;
      case 1:
        --sp;
        stack[sp - 1] += stack[sp];
        break;
      case 2:
        --sp;
        stack[sp - 1] -= stack[sp];
        break;
      case 3:
        --sp;
        stack[sp - 1] *= stack[sp];
        break;
      case 4:
        if (stack[--sp])
          pc += (signed char)code[pc];
        else
          ++pc;
        break;
      case 5:
        stack[sp] = stack[sp - 1];
        ++sp;
        break;
      case 6: {
        long long t = stack[sp - 1];
        stack[sp - 1] = stack[sp - 2];
        stack[sp - 2] = t;
        break;
      }
      case 7:
        return;
      case 8:
        --sp;
        break;
      case 9:
        stack[sp - 1] = -stack[sp - 1];
        break;
      case 10:
        stack[sp - 1] = stack[sp - 1] == 0;
        break;
      case 11:
        pc -= code[pc];
        break;
    }
}
__global__ void loops(float* x, int n, int m) {
#pragma unroll 4
  for (int i = 0; i < n; ++i) x[i] *= 2;
#pragma unroll 1
  for (int i = 0; i < 100; ++i) {
    if (x[i] > 5) continue;
    if (x[i] < -5) break;
    x[i + 1] += x[i];
  }
#pragma nounroll
  for (int i = n; i > m; i -= 3) x[i] += i;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < m; ++j) {
      if (x[j] == 0) goto out;
      x[i] += x[j];
    }
  do {
    x[0] -= 1;
  } while (x[0] > 0);
out:
  x[m] = 0;
}
__global__ void collatz(unsigned* o, unsigned n) {
  unsigned c = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    ++c;
    if (__builtin_expect(c > 1000, 0)) __trap();
  }
  *o = c;
}
__global__ void conditions(int* o, int a, int b, float x, double y) {
  o[0] = a > b && x < y || !(a & 4);
  o[1] = a < b ? a < 0 ? 1 : 2 : b;
  if (a == 3)
    o[2] = 4;
  else if (b != 5)
    o[3] = 6;
  else
    o[4] = x != x;
  o[5] = (a > 0) + (b > 0) - (x > 0) ^ (y >= 1);
  o[6] = max(min(a, b), 7);
  if (threadIdx.x) return;
  __builtin_assume(a > 0);
  o[7] = a % 8;
  if (a == 9) __builtin_unreachable();
  o[8] = a / 9;
}
