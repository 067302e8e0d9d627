; Global values: initialisers of every type, addresses, aliases, linkage, address spaces, alignment.
; corpus: sm_75 -O0
; corpus: sm_80 -O2
target triple = "nvptx64-nvidia-cuda"
%pair = type { i8, i64, [3 x i16], ptr }
@i1 = addrspace(1) global i1 true
@i8 = addrspace(1) global i8 -1
@i16 = addrspace(1) global i16 1000, align 32
@i64 = internal addrspace(1) global i64 123456789012345
@i128 = addrspace(1) global i128 1208925819614629174706176
@half = addrspace(1) global half 0xH3C00
@float = addrspace(1) global float 0x400921FB60000000
@double = addrspace(1) constant double 0x400921FB54442D18
@vector = addrspace(1) global <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
@bytes = addrspace(4) constant [6 x i8] c"hello\00"
@matrix = addrspace(1) global [2 x [3 x i32]] [[3 x i32] [i32 1, i32 2, i32 3], [3 x i32] [i32 4, i32 5, i32 6]]
@structure = addrspace(1) global %pair { i8 1, i64 2, [3 x i16] [i16 3, i16 4, i16 5], ptr addrspacecast (ptr addrspace(1) @i8 to ptr) }
@addresses = addrspace(1) global [2 x ptr addrspace(1)] [ptr addrspace(1) @i16, ptr addrspace(1) getelementptr ([2 x [3 x i32]], ptr addrspace(1) @matrix, i64 0, i64 1, i64 2)]
@function_address = addrspace(1) global ptr @callee
@zero = addrspace(1) global [100 x i32] zeroinitializer
@undefined = addrspace(1) global i32 undef
@elsewhere = external addrspace(1) global i32
@weak = weak addrspace(1) global i32 3
@common = common addrspace(1) global i32 0
@shared = internal addrspace(3) global [32 x float] undef, align 16
@dynamic = external addrspace(3) global [0 x i8], align 8
@packed = addrspace(1) global <{ i8, i32, i16 }> <{ i8 1, i32 2, i16 3 }>
@used_scalar = addrspace(1) externally_initialized global i32 0
define i32 @callee(i32 %a, i8 %b, i1 %c, half %h, <2 x float> %v, i128 %w) noinline { %r = add i32 %a, 1 ret i32 %r }
define weak i64 @weak_function(i64 %x) { ret i64 %x }
declare i32 @outside(i32, ptr, %pair)
define { i32, float, [2 x i8] } @several(i32 %a) { %r = insertvalue { i32, float, [2 x i8] } undef, i32 %a, 0 ret { i32, float, [2 x i8] } %r }
define <4 x i32> @vectors(<4 x i32> %a, <2 x i64> %b, <3 x i8> %c) { ret <4 x i32> %a }
define void @kernel(ptr addrspace(1) noalias align 16 %p, ptr byval(%pair) align 8 %s, i1 %b, i8 %c, i128 %q) {
  %f = getelementptr %pair, ptr %s, i32 0, i32 1
  %l = load i64, ptr %f
  store i64 %l, ptr addrspace(1) @i64
  %v = load <4 x float>, ptr addrspace(1) %p
  %w = fadd <4 x float> %v, <float 1.0, float 2.0, float 3.0, float 4.0>
  store <4 x float> %w, ptr addrspace(1) %p
  %r = call i32 @callee(i32 3, i8 %c, i1 %b, half 0xH4000, <2 x float> zeroinitializer, i128 %q)
  %t = load ptr, ptr addrspace(1) @function_address
  %u = call i32 %t(i32 %r, i8 1, i1 false, half 0xH3C00, <2 x float> <float 1.0, float 0.0>, i128 7)
  store volatile i32 %u, ptr addrspace(1) @elsewhere
  store i8 1, ptr addrspace(3) @dynamic
  %o = call i32 @outside(i32 1, ptr null, %pair undef)
  %x = load i1, ptr addrspace(1) @i1
  %y = select i1 %x, i32 %o, i32 5
  store i32 %y, ptr addrspace(1) @zero
  ret void
}
!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @kernel, !"kernel", i32 1}
!1 = !{ptr @kernel, !"maxntidx", i32 64}
!2 = !{ptr @kernel, !"minctasm", i32 2}
