// Warp matrix operations in C++: the program that tests/python/test_matrix.py writes too.
#include "ptx/write/door/matrix.hpp"

#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"

namespace ptx {
namespace {

TEST(MatrixDoor, WritesWhatPythonWrites) {
  Kernel k({.name = "matrix", .arch = sm_90a});
  auto tile = k.smem.alloc<bf16>({2, 64, 64});
  auto lane = k.from_<u32>(tid_x);
  auto smem = k.smem.base("smem_0");
  auto a = k.array<b32>(4), b = k.array<b32>(2), pack = k.array<b32>(4);
  auto d = k.array<f32>(4), frag = k.array<f32>(16);
  auto halves = k.array<bf16>(8);
  auto warp = lane < 32;
  for (const auto& reg : d) k << inst.mov.f32(reg, 0.0);
  for (const auto& reg : frag) k << inst.mov.f32(reg, 0.0);

  k.ldmatrix({.dst = a, .src = smem});
  k.ldmatrix({.dst = b, .src = addr(smem, 64), .layout = "m8n8.x2", .trans = true, .pred = warp});
  k.mma.sync(
      {.shape = {16, 8, 16}, .dtype_d = f32, .dtype_a = bf16, .dtype_b = bf16, .dtype_c = f32, .d = d, .a = a, .b = b, .c = d});
  k.mma.sync({.shape = {16, 8, 8},
              .dtype_d = f32,
              .dtype_a = tf32,
              .dtype_b = tf32,
              .dtype_c = f32,
              .d = d,
              .a = a,
              .b = b,
              .c = d,
              .a_layout = "row",
              .b_layout = "col",
              .pred = !warp});
  k.stmatrix({.smem = tile[1], .regs = b, .layout = "x2.trans"});
  k.stmatrix({.smem = smem, .regs = a});
  k.stmatrix_x4_trans_f32_bf16(
      {.frag = frag, .smem_base = smem, .lane = lane, .row_stride = 64, .tmp_bf16 = halves, .tmp_pack = pack});
  k.stmatrix_x4_trans_f32_bf16({.frag = frag, .smem_base = tile[1], .lane = tid_x, .row_stride = 72, .pred = warp});
  k << inst.ret();
  write_test::expect_golden(k, "matrix");
}

}  // namespace
}  // namespace ptx
