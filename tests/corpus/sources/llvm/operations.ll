; Arithmetic of all types, conversions, comparisons, memory orders, vectors, switches, phis, allocas, copies.
; corpus: sm_75 -O0
; corpus: sm_80 -O3
; corpus: sm_90 -O1
target triple = "nvptx64-nvidia-cuda"
define void @integers(ptr %p, i8 %a, i16 %b, i32 %c, i64 %d, i1 %e) {
  %1 = sdiv i8 %a, 3
  %2 = urem i16 %b, 7
  %3 = ashr i32 %c, 5
  %4 = lshr i64 %d, 9
  %5 = shl i64 %d, 3
  %6 = trunc i64 %4 to i8
  %7 = sext i8 %6 to i64
  %8 = zext i1 %e to i64
  %9 = call i32 @llvm.ctpop.i32(i32 %c)
  %10 = call i64 @llvm.ctlz.i64(i64 %d, i1 false)
  %11 = call i32 @llvm.fshl.i32(i32 %c, i32 %3, i32 %9)
  %12 = call i32 @llvm.smax.i32(i32 %c, i32 5)
  %13 = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %c, i32 %12)
  %14 = extractvalue { i32, i1 } %13, 1
  %15 = call i32 @llvm.bswap.i32(i32 %11)
  %16 = call i16 @llvm.sadd.sat.i16(i16 %b, i16 %2)
  %17 = xor i1 %14, %e
  store i8 %1, ptr %p
  store i64 %7, ptr %p
  store i32 %15, ptr %p
  store i16 %16, ptr %p
  store i1 %17, ptr %p
  store i64 %10, ptr %p
  store i64 %8, ptr %p
  store i64 %5, ptr %p
  ret void
}
define void @floats(ptr %p, half %h, float %f, double %d) {
  %1 = fadd half %h, 0xH3C00
  %2 = fmul fast float %f, %f
  %3 = fdiv double %d, 3.0
  %4 = fptrunc double %3 to float
  %5 = fpext half %1 to float
  %6 = fptosi float %2 to i32
  %7 = uitofp i64 12345678901 to double
  %8 = call float @llvm.fma.f32(float %f, float %2, float %5)
  %9 = call float @llvm.sqrt.f32(float %8)
  %10 = call double @llvm.floor.f64(double %7)
  %11 = call float @llvm.minnum.f32(float %9, float %4)
  %12 = fcmp ueq float %11, 0.0
  %13 = fcmp oge double %10, %d
  %14 = select i1 %12, float %11, float 0x7FF0000000000000
  %15 = call float @llvm.copysign.f32(float %14, float %f)
  %16 = call <2 x half> @llvm.fma.v2f16(<2 x half> <half 0xH3C00, half 0xH4000>, <2 x half> zeroinitializer, <2 x half> zeroinitializer)
  %17 = frem float %f, 3.0
  %18 = fneg float %17
  store float %15, ptr %p
  store i1 %13, ptr %p
  store i32 %6, ptr %p
  store <2 x half> %16, ptr %p
  store float %18, ptr %p
  ret void
}
define void @memory(ptr %g, ptr addrspace(1) %p, ptr addrspace(3) %s, ptr addrspace(4) %c, ptr addrspace(5) %l, i32 %n) {
  %1 = load volatile i32, ptr addrspace(1) %p
  %2 = load <2 x i64>, ptr addrspace(3) %s, align 16
  %3 = load i8, ptr addrspace(4) %c
  %4 = load i16, ptr addrspace(5) %l
  %5 = load atomic i32, ptr addrspace(1) %p monotonic, align 4
  store atomic i32 %5, ptr addrspace(1) %p monotonic, align 4
  %6 = load i32, ptr addrspace(1) %p, align 1
  store i32 %6, ptr addrspace(1) %p, align 2
  %7 = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  %8 = atomicrmw umin ptr addrspace(3) %s, i32 2 monotonic
  %9 = atomicrmw fadd ptr %g, float 1.0 monotonic
  %10 = cmpxchg ptr %g, i32 %7, i32 %8 monotonic monotonic
  call void @llvm.memcpy.p0.p1.i64(ptr %g, ptr addrspace(1) %p, i64 37, i1 false)
  call void @llvm.memset.p1.i32(ptr addrspace(1) %p, i8 7, i32 %n, i1 false)
  %11 = alloca [20 x i32]
  %12 = getelementptr [20 x i32], ptr %11, i32 0, i32 %n
  store i32 %1, ptr %12
  store <2 x i64> %2, ptr %g
  store i8 %3, ptr %g
  store i16 %4, ptr %g
  %13 = load <4 x i8>, ptr addrspace(1) %p
  store <4 x i8> %13, ptr %g
  %14 = load i128, ptr addrspace(1) %p
  store i128 %14, ptr %g
  ret void
}
define i32 @flow(i32 %n, ptr %p) {
entry:
  switch i32 %n, label %other [ i32 0, label %a i32 1, label %b i32 2, label %c i32 3, label %a i32 100, label %loop ]
a: br label %join
b: %x = load i32, ptr %p br label %join
c: store i32 3, ptr %p br label %join
other: %t = icmp slt i32 %n, 0 br i1 %t, label %join, label %stop
loop: %i = phi i32 [ 0, %entry ], [ %j, %loop ] %j = add i32 %i, 3 store volatile i32 %i, ptr %p %u = icmp ult i32 %j, %n br i1 %u, label %loop, label %join, !llvm.loop !0
stop: call void @llvm.trap() unreachable
join: %r = phi i32 [ 1, %a ], [ %x, %b ], [ 3, %c ], [ 4, %other ], [ %j, %loop ] ret i32 %r
}
define void @inline(ptr %p, i32 %x) { %r = call { i32, i32 } asm sideeffect "{ .reg .pred p; setp.ne.u32 p, $2, 0; @p add.u32 $0, $2, $3; mov.u32 $1, %clock; }", "=r,=r,r,n"(i32 %x, i32 5) %a = extractvalue { i32, i32 } %r, 0 store i32 %a, ptr %p ret void }
define void @geometry(ptr %p) { %a = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() %c = call i32 @llvm.nvvm.read.ptx.sreg.warpsize() %d = call i32 @llvm.nvvm.read.ptx.sreg.laneid() %e = call i64 @llvm.nvvm.read.ptx.sreg.clock64() %f = add i32 %a, %b %g = mul i32 %c, %d %h = add i32 %f, %g store i32 %h, ptr %p store i64 %e, ptr %p call void @llvm.nvvm.barrier0() call void @llvm.nvvm.membar.gl() ret void }
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
declare i32 @llvm.bswap.i32(i32)
declare i16 @llvm.sadd.sat.i16(i16, i16)
declare float @llvm.fma.f32(float, float, float)
declare float @llvm.sqrt.f32(float)
declare double @llvm.floor.f64(double)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.copysign.f32(float, float)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memset.p1.i32(ptr addrspace(1), i8, i32, i1)
declare void @llvm.trap()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.warpsize()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.membar.gl()
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}
