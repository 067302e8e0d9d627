// The mistakes people make when they write PTX, one for each value of MISTAKE: none of them compiles. 0 is the line as it should
// be.
#include "ptx/write/write.hpp"

using namespace ptx;

void write(Kernel& k, Reg<u32> r, Reg<u64> r64, Reg<f32> x, RegVec<f32, 4> v, Reg<u64> p) {
#if MISTAKE == 0
  k << inst.ld.global_.v4.f32(v, addr(p)) << inst.fma.rn.f32(x, x, x, x) << inst.bar.sync(0) << inst.add.u32(r, r, 1);
  (void)r64;
#elif MISTAKE == 1   // no such vector width
  k << inst.ld.global_.v3.f32(v, addr(p));
#elif MISTAKE == 2   // an integer register in a float instruction
  k << inst.fma.rn.f32(x, x, r, x);
#elif MISTAKE == 3   // built, never put in the kernel
  inst.bar.sync(0);
#elif MISTAKE == 4   // modifiers out of order
  k << inst.ld.v4.global_.f32(v, addr(p));
#elif MISTAKE == 5   // a scalar where a vector is due
  k << inst.ld.global_.v4.f32(x, addr(p));
#elif MISTAKE == 6   // the rounding mode is missing
  k << inst.fma.f32(x, x, x, x);
#elif MISTAKE == 7   // a 64-bit register where 32 fit
  k << inst.add.u32(r, r, r64);
#elif MISTAKE == 8   // the instruction ends too early
  k << inst.fma.rn(x, x, x, x);
#elif MISTAKE == 9   // a 32-bit address of global memory
  k << inst.ld.global_.f32(x, addr(r));
#elif MISTAKE == 10  // a float and an integer are not added
  k << inst.mov.f32(x, x + r);
#elif MISTAKE == 11  // a float where an integer is due
  k << inst.add.u32(r, r, 1.5);
#elif MISTAKE == 12  // an operand too few
  k << inst.st.global_.f32(addr(p));
#elif MISTAKE == 13  // a comparison in C++'s own if
  if (r == 0) k << inst.ret();
#elif MISTAKE == 14  // the operand of a modifier that is not there
  k << inst.ld.global_.f32(x, addr(p), r64);
#endif
}
