; Textures, samplers and surfaces as the back end names them.
; corpus: sm_75 -O2
target triple = "nvptx64-nvidia-cuda"
@tex = internal addrspace(1) global i64 0, align 8
@surf = internal addrspace(1) global i64 0, align 8
declare { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64, float, float)
declare { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.v4s32.s32(i64, i32)
declare { float, float, float, float } @llvm.nvvm.tex.unified.3d.level.v4f32.f32(i64, float, float, float, float)
declare { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64, float, float)
declare i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1))
declare i32 @llvm.nvvm.suld.2d.i32.trap(i64, i32, i32)
declare void @llvm.nvvm.sust.b.1d.i32.clamp(i64, i32, i32)
declare i32 @llvm.nvvm.txq.width(i64)
declare i32 @llvm.nvvm.suq.height(i64)
define void @kernel(ptr %o, float %x, i64 %handle, i32 %i) {
  %t = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @tex)
  %s = call i64 @llvm.nvvm.texsurf.handle.internal.p1(ptr addrspace(1) @surf)
  %a = call { float, float, float, float } @llvm.nvvm.tex.unified.2d.v4f32.f32(i64 %t, float %x, float 0.5)
  %b = call { i32, i32, i32, i32 } @llvm.nvvm.tex.unified.1d.v4s32.s32(i64 %handle, i32 %i)
  %c = call { float, float, float, float } @llvm.nvvm.tex.unified.3d.level.v4f32.f32(i64 %handle, float %x, float %x, float 1.0, float 0.0)
  %d = call { float, float, float, float } @llvm.nvvm.tld4.unified.r.2d.v4f32.f32(i64 %t, float %x, float %x)
  %e = call i32 @llvm.nvvm.suld.2d.i32.trap(i64 %s, i32 %i, i32 1)
  call void @llvm.nvvm.sust.b.1d.i32.clamp(i64 %s, i32 %i, i32 %e)
  %f = call i32 @llvm.nvvm.txq.width(i64 %t)
  %g = call i32 @llvm.nvvm.suq.height(i64 %s)
  %a0 = extractvalue { float, float, float, float } %a, 0
  %b1 = extractvalue { i32, i32, i32, i32 } %b, 1
  %c2 = extractvalue { float, float, float, float } %c, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  store float %a0, ptr %o
  store i32 %b1, ptr %o
  store float %c2, ptr %o
  store float %d3, ptr %o
  %h = add i32 %f, %g
  store i32 %h, ptr %o
  ret void
}
!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @kernel, !"kernel", i32 1}
!1 = !{ptr addrspace(1) @tex, !"texture", i32 1}
!2 = !{ptr addrspace(1) @surf, !"surface", i32 1}
