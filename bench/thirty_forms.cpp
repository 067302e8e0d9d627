// What bench/cpp_compile_cost.py compiles: a kernel of thirty forms of instructions, with the headers of its opcodes alone.
#include <ptx/inst/add.hpp>
#include <ptx/inst/and.hpp>
#include <ptx/inst/bar.hpp>
#include <ptx/inst/cvt.hpp>
#include <ptx/inst/fma.hpp>
#include <ptx/inst/ld.hpp>
#include <ptx/inst/mad.hpp>
#include <ptx/inst/max.hpp>
#include <ptx/inst/mul.hpp>
#include <ptx/inst/ret.hpp>
#include <ptx/inst/rsqrt.hpp>
#include <ptx/inst/selp.hpp>
#include <ptx/inst/setp.hpp>
#include <ptx/inst/shfl.hpp>
#include <ptx/inst/shl.hpp>
#include <ptx/inst/st.hpp>
#include <ptx/inst/sub.hpp>
#include <ptx/kernel.hpp>

using namespace ptx;

Kernel thirty_forms(int n) {
  Kernel k(
      {.name = "thirty_forms", .in_specs = {{"X", {n}, f32}}, .out_specs = {{"Y", {n}, f32}}, .grid = n / 128, .block = 128});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto i = k.from_<u32>(special.ctaid.x()) * 128 + k.from_<u32>(special.tid.x());
  auto v = k.scalar<f32>(), w = k.scalar<f32>();
  auto d = k.scalar<f64>();
  auto j = k.scalar<u32>();
  auto s = k.scalar<s32>();
  auto h = k.scalar<f16>();
  auto p = k.scalar<pred>();
  auto four = k.vec<f32, 4>();
  k << inst.ld.global_.f32(v, addr(x + i * 4));
  k << inst.ld.global_.nc.f32(w, addr(x + i * 4));
  k << inst.ld.global_.v4.f32(four, addr(x));
  k << inst.add.f32(v, v, w);
  k << inst.add.u32(j, i, 1);
  k << inst.add.s32(s, s, 1);
  k << inst.sub.f32(v, v, 1.0);
  k << inst.sub.u32(j, j, 1);
  k << inst.mul.f32(v, v, w);
  k << inst.mul.lo.u32(j, j, 3);
  k << inst.mad.lo.u32(j, j, 3, i);
  k << inst.fma.rn.f32(v, v, w, v);
  k << inst.fma.rn.ftz.f32(v, v, w, v);
  k << inst.fma.rn.f64(d, d, d, d);
  k << inst.max.f32(v, v, w);
  k << inst.max.u32(j, j, i);
  k << inst.and_.b32(j, j, 15);
  k << inst.shl.b32(j, j, 2);
  k << inst.cvt.rn.f32.u32(v, j);
  k << inst.cvt.rn.f16.f32(h, v);
  k << inst.cvt.f64.f32(d, v);
  k << inst.setp.lt.u32(p, j, 100);
  k << inst.setp.ge.f32(p, v, 0.0);
  k << inst.selp.f32(v, v, w, p);
  k << inst.rsqrt.approx.f32(v, v);
  k << inst.shfl.sync.bfly.b32(j, j, 1, 31, -1);
  k << inst.bar.sync(0);
  k << inst.st.global_.f32(addr(y + i * 4), v);
  k << inst.st.global_.v4.f32(addr(y), four);
  k << inst.ret();
  return k;
}
