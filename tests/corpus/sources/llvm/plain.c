// Plain C: structs, unions, bit fields, recursion, variadic calls, long double's stand-in, tables of functions.
// corpus: sm_75 -O0
// corpus: sm_80 -O2
// corpus: sm_90 -O3 -g -gdwarf-2
// corpus: sm_86 -Oz
typedef struct {
  char c;
  short s;
  int i;
  long long l;
  float f;
  double d;
} Mixed;
typedef union {
  int i;
  float f;
  unsigned char b[8];
} Either;
struct Bits {
  unsigned a : 3;
  int b : 9;
  unsigned long long c : 37;
};
Mixed mixed = {1, 2, 3, 4, 5.0f, 6.0};
const char* names[] = {"zero", "one", "two"};
static int counter;
double table[2][3] = {{1, 2, 3}, {4, 5, 6}};
extern int outside;
_Bool flag = 1;
unsigned long long big = 0xFFFFFFFFFFFFFFFFull;
static const short steps[5] = {-1, 0, 1, 2, 3};
Either either = {.f = 1.5f};
static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
Mixed update(Mixed m, int n) {
  m.i += n;
  m.d *= m.f;
  counter += gcd(m.i, n);
  return m;
}
int length(const char* s) {
  int n = 0;
  while (*s++) ++n;
  return n;
}
unsigned crc(const unsigned char* p, unsigned long n) {
  unsigned c = ~0u;
  while (n--) {
    c ^= *p++;
    for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
  }
  return ~c;
}
void fields(struct Bits* b, int x) {
  b->a = x;
  b->b += x;
  b->c = (unsigned long long)x << 20;
}
int dispatch(int k, int x) {
  switch (k) {
    case 0:
      return x;
    case 1:
      return -x;
    case 2:
      return x * x;
    case 3:
      return x / 3;
    case 4:
      return x % 5;
    case 5:
      return x << k;
    case 6:
      return length(names[x % 3]);
    default:
      return outside + steps[k % 5];
  }
}
double horner(const double* c, int n, double x) {
  double r = 0;
  for (int i = n; i--;) r = r * x + c[i];
  return r + table[n & 1][2];
}
void sort(int* a, int n) {
  for (int i = 1; i < n; ++i) {
    int v = a[i], j = i;
    while (j && a[j - 1] > v) {
      a[j] = a[j - 1];
      --j;
    }
    a[j] = v;
  }
}
Either pun(float f) {
  Either e;
  e.f = f;
  e.i ^= 1 << 31;
  return e;
}
