// The C++ dots against the table: for lines of every family, and of the hardest rows, the dots write the instruction that the
// same text gives.
#include <gtest/gtest.h>

#include <bit>
#include <deque>

#include "ptx/isa/isa.hpp"
#include "ptx/write/write.hpp"
#include "tests/write/written.hpp"

namespace ptx {
namespace {

struct DotsTest : ::testing::Test {
  Kernel k{{.name = "k", .arch = sm_90a, .version = Version{8, 6}}};
  Kernel blackwell{{.name = "k", .arch = sm_100a, .version = Version{8, 8}}};

  // What the text of an instruction says, as operands.
  write::Value again(const ir::Module& module, const ir::Operand& operand) {
    using write::Value;
    const ir::Function& f = module.functions.front();
    Value v;
    ir::StringId string;
    string.index = operand.payload;
    ir::RegId reg;
    reg.index = operand.payload;
    const auto parts = [&] {
      std::vector<Value> all;
      for (const ir::Operand& part : f.parts(operand)) all.push_back(again(module, part));
      return std::span<const Value>(parts_.emplace_back(std::move(all)));
    };
    switch (operand.kind) {
      case ir::OperandKind::reg:
        v = Value::of({reg, f.reg(reg).type});
        break;
      case ir::OperandKind::special:
        v = Value::of_special(static_cast<isa::SpecialId>(operand.payload));
        break;
      case ir::OperandKind::integer:
        v = Value::of_integer(f.integer(operand));
        break;
      case ir::OperandKind::floating:
        v = Value::of_floating(operand.count == 32 ? static_cast<double>(std::bit_cast<float>(
                                                         static_cast<std::uint32_t>(f.constants[operand.payload])))
                                                   : std::bit_cast<double>(f.constants[operand.payload]));
        break;
      case ir::OperandKind::symbol:
        v = Value::of_symbol(module.str(string));
        break;
      case ir::OperandKind::label:
        v = Value::of_label(module.str(f.labels[operand.payload].name));
        break;
      case ir::OperandKind::vector:
        v = Value::vector_of(parts());
        break;
      case ir::OperandKind::address:
        v = Value::address_of(parts());
        break;
      case ir::OperandKind::tensor:
        v = Value::tensor_of(parts());
        break;
      default:
        break;
    }
    v.negated = operand.negated;
    v.piped = operand.piped;
    return v;
  }

  // The dots wrote `text`, and the builder, given the text's words and operands, writes the same form with the same choices.
  void same(Kernel& kernel, const Inst& instruction, std::string_view text) {
    kernel << instruction;
    const write::Builder& b = kernel.builder();
    ASSERT_GT(b.size(), 0u) << text;
    const ir::Inst by_dots = b.function().body.back();
    ASSERT_EQ(ir::spell(b.module(), b.function(), by_dots), text);
    const std::string spelled(text.substr(0, text.find_first_of(" ;")));
    std::vector<write::Value> operands;
    for (const ir::Operand& operand :
         std::vector<ir::Operand>(b.function().operands_of(by_dots).begin(), b.function().operands_of(by_dots).end()))
      operands.push_back(again(b.module(), operand));
    const auto written = kernel.builder().emit(spelled, operands);
    ASSERT_TRUE(written) << render(written.error());
    const ir::Inst by_text = b.function().body.back();
    EXPECT_EQ(by_text.form, by_dots.form) << text;
    EXPECT_EQ(by_text.choices, by_dots.choices) << text;
    EXPECT_EQ(ir::spell(b.module(), b.function(), by_text), text);
  }
  void same(const Inst& instruction, std::string_view text) { same(k, instruction, text); }

  std::deque<std::vector<write::Value>> parts_;
};

TEST_F(DotsTest, DataMovement) {
  auto r = k.scalar<u32>();
  auto rd = k.scalar<u64>();
  auto f = k.scalar<f32>();
  auto h0 = k.scalar<b16>(), h1 = k.scalar<b16>();
  auto p = k.scalar<pred>();
  auto v = k.vec<f32, 4>("v");
  auto w = k.vec<b32, 2>("w");
  same(inst.mov.u32(r, 7), "mov.u32 %r0, 7;");
  same(inst.mov.f32(f, 1), "mov.f32 %f0, 0f3F800000;");
  same(inst.mov.u32(r, tid_x), "mov.u32 %r0, %tid.x;");
  same(inst.mov.u32(r, "smem"), "mov.u32 %r0, smem;");
  same(inst.mov.b32(r, vec(h0, h1)), "mov.b32 %r0, {%rs0, %rs1};");
  same(inst.mov.b64(w, rd), "mov.b64 {w0, w1}, %rd0;");
  same(inst.mov.pred(p, p), "mov.pred %p0, %p0;");
  same(inst.ld.param.u64(rd, addr("X")), "ld.param.u64 %rd0, [X];");
  same(inst.ld.global_.f32(f, addr(rd)), "ld.global.f32 %f0, [%rd0];");
  same(inst.ld.global_.v4.f32(v, addr(rd, 16)), "ld.global.v4.f32 {v0, v1, v2, v3}, [%rd0+16];");
  same(inst.ld.shared__cta.b32(r, addr(r)), "ld.shared::cta.b32 %r0, [%r0];");
  same(inst.ld.global_.u8(r, addr(rd)), "ld.global.u8 %r0, [%rd0];");  // a wider register
  same(inst.ld.relaxed.gpu.global_.u32(r, addr(rd)), "ld.relaxed.gpu.global.u32 %r0, [%rd0];");
  same(inst.ld.volatile_.shared.u32(r, addr(r)), "ld.volatile.shared.u32 %r0, [%r0];");
  same(inst.ld.global_.nc.v4.f32(v, addr(rd)), "ld.global.nc.v4.f32 {v0, v1, v2, v3}, [%rd0];");
  same(inst.ld.global_.L2__cache_hint.f32(f, addr(rd), rd), "ld.global.L2::cache_hint.f32 %f0, [%rd0], %rd0;");
  same(inst.ld.global_.L1__no_allocate.L2__128B.f32(f, addr(rd)), "ld.global.L1::no_allocate.L2::128B.f32 %f0, [%rd0];");
  same(inst.st.global_.v4.f32(addr(rd), v), "st.global.v4.f32 [%rd0], {v0, v1, v2, v3};");
  same(inst.st.shared.b16(addr(r, 2), h0), "st.shared.b16 [%r0+2], %rs0;");
  same(inst.st.global_.f32(addr(rd), 0.5), "st.global.f32 [%rd0], 0f3F000000;");
  same(inst.st.release.sys.global_.u32(addr(rd), 1), "st.release.sys.global.u32 [%rd0], 1;");
  same(inst.cvta.to.global_.u64(rd, rd), "cvta.to.global.u64 %rd0, %rd0;");
}

TEST_F(DotsTest, IntegersFloatsAndComparisons) {
  auto r = k.scalar<u32>();
  auto s = k.scalar<s32>();
  auto rd = k.scalar<u64>();
  auto f = k.scalar<f32>();
  auto d = k.scalar<f64>();
  auto p = k.scalar<pred>(), q = k.scalar<pred>();
  same(inst.add.u32(r, r, -1), "add.u32 %r0, %r0, -1;");
  same(inst.mul.wide.u32(rd, r, 4), "mul.wide.u32 %rd0, %r0, 4;");
  same(inst.mad.lo.s32(s, s, 3, s), "mad.lo.s32 %r1, %r1, 3, %r1;");
  same(inst.and_.b32(r, r, 31), "and.b32 %r0, %r0, 31;");
  same(inst.xor_.pred(p, p, q), "xor.pred %p0, %p0, %p1;");
  same(inst.shl.b32(r, r, 2), "shl.b32 %r0, %r0, 2;");
  same(inst.fma.rn.ftz.sat.f32(f, f, 2, 0.5), "fma.rn.ftz.sat.f32 %f0, %f0, 0f40000000, 0f3F000000;");
  same(inst.fma.rn.f64(d, d, 2, 0.5), "fma.rn.f64 %fd0, %fd0, 0d4000000000000000, 0d3FE0000000000000;");
  same(inst.rsqrt.approx.f32(f, f), "rsqrt.approx.f32 %f0, %f0;");
  same(inst.max.NaN.f32(f, f, f), "max.NaN.f32 %f0, %f0, %f0;");
  same(inst.setp.lt.u32(p, r, 5), "setp.lt.u32 %p0, %r0, 5;");
  same(inst.setp.lt.u32(p | q, r, 5), "setp.lt.u32 %p0|%p1, %r0, 5;");
  same(inst.setp.geu.f32(p, f, f), "setp.geu.f32 %p0, %f0, %f0;");
  same(inst.selp.b32(r, r, s, p), "selp.b32 %r0, %r0, %r1, %p0;");
}

TEST_F(DotsTest, Conversions) {
  auto r = k.scalar<u32>();
  auto s = k.scalar<s32>();
  auto rd = k.scalar<u64>();
  auto f = k.scalar<f32>();
  auto d = k.scalar<f64>();
  auto h = k.scalar<f16>();
  auto b = k.scalar<bf16>();
  auto b2 = k.scalar<bf16x2>();
  auto t = k.scalar<tf32>();
  auto e = k.scalar<e4m3x2>();
  same(inst.cvt.u64.u32(rd, r), "cvt.u64.u32 %rd0, %r0;");
  same(inst.cvt.s64.s32(rd, s), "cvt.s64.s32 %rd0, %r1;");
  same(inst.cvt.u64.u32(rd, laneid), "cvt.u64.u32 %rd0, %laneid;");
  same(inst.cvt.rzi.ftz.sat.s32.f32(s, f), "cvt.rzi.ftz.sat.s32.f32 %r1, %f0;");
  same(inst.cvt.rn.f32.u32(f, r), "cvt.rn.f32.u32 %f0, %r0;");
  same(inst.cvt.f64.f32(d, f), "cvt.f64.f32 %fd0, %f0;");
  same(inst.cvt.rn.f32.f64(f, d), "cvt.rn.f32.f64 %f0, %fd0;");
  same(inst.cvt.rpi.f32.f32(f, f), "cvt.rpi.f32.f32 %f0, %f0;");
  same(inst.cvt.f32.f16(f, h), "cvt.f32.f16 %f0, %h0;");
  same(inst.cvt.rn.bf16.f32(b, f), "cvt.rn.bf16.f32 %h1, %f0;");
  same(inst.cvt.rn.relu.bf16x2.f32(b2, f, f), "cvt.rn.relu.bf16x2.f32 %hh0, %f0, %f0;");
  same(inst.cvt.rna.tf32.f32(t, f), "cvt.rna.tf32.f32 %r2, %f0;");
  same(inst.cvt.rn.satfinite.relu.e4m3x2.f32(e, f, f), "cvt.rn.satfinite.relu.e4m3x2.f32 %b0, %f0, %f0;");
}

TEST_F(DotsTest, ControlWarpAndBarriers) {
  auto r = k.scalar<u32>();
  auto f = k.scalar<f32>();
  auto p = k.scalar<pred>(), q = k.scalar<pred>();
  same(inst.bra("done"), "bra done;");
  same(inst.bra.uni(Label{"done"}), "bra.uni done;");
  same(inst.ret(), "ret;");
  same(inst.setmaxnreg.inc.sync.aligned.u32(232), "setmaxnreg.inc.sync.aligned.u32 232;");
  same(inst.shfl.sync.bfly.b32(r, f, 16, 31, -1), "shfl.sync.bfly.b32 %r0, %f0, 16, 31, -1;");
  same(inst.shfl.sync.idx.b32(r | p, r, 0, 31, -1), "shfl.sync.idx.b32 %r0|%p0, %r0, 0, 31, -1;");
  same(inst.vote.sync.any.pred(p, !q, -1), "vote.sync.any.pred %p0, !%p1, -1;");
  same(inst.elect.sync(r | p, -1), "elect.sync %r0|%p0, -1;");
  same(inst.elect.sync(sink | p, -1), "elect.sync _|%p0, -1;");
  same(inst.activemask.b32(r), "activemask.b32 %r0;");
  same(inst.bar.sync(0), "bar.sync 0;");
  same(inst.bar.sync(1, r), "bar.sync 1, %r0;");
  same(inst.bar.warp.sync(-1), "bar.warp.sync -1;");
  same(inst.fence.proxy.async_(), "fence.proxy.async;");
  same(inst.fence.acq_rel.cluster(), "fence.acq_rel.cluster;");
  same(inst.mbarrier.init.shared__cta.b64(addr(r), 1), "mbarrier.init.shared::cta.b64 [%r0], 1;");
  same(inst.mbarrier.arrive.expect_tx.shared__cta.b64(sink, addr(r), 4096),
       "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 4096;");
  same(inst.mbarrier.try_wait.parity.shared__cta.b64(p, addr(r), 0), "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0], 0;");
  same(inst.mbarrier.try_wait.parity.shared__cta.b64(p, addr(r), 0, 1000),
       "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0], 0, 1000;");
}

TEST_F(DotsTest, TensorCopies) {
  auto smem = k.scalar<u32>(), x = k.scalar<u32>();
  auto map = k.scalar<u64>(), policy = k.scalar<u64>();
  auto mask = k.scalar<u16>(), off = k.scalar<u16>();
  const auto& copy = inst.cp.async_.bulk.tensor;
  same(copy._2d.shared__cluster.global_.mbarrier__complete_tx__bytes(addr(smem), tensor_addr(map, x, 0), addr(smem)),
       "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, 0}], [%r0];");
  same(copy._3d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes.multicast__cluster.L2__cache_hint(
           addr(smem), tensor_addr(map, x, x, x), addr(smem), mask, policy),
       "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
       "[%r0], [%rd0, {%r1, %r1, %r1}], "
       "[%r0], %rs0, %rd1;");
  same(copy._2d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes.L2__cache_hint(addr(smem), tensor_addr(map, x, x),
                                                                                         addr(smem), policy),
       "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%r0], [%rd0, {%r1, "
       "%r1}], [%r0], %rd1;");
  same(copy._4d.shared__cluster.global_.im2col.mbarrier__complete_tx__bytes(addr(smem), tensor_addr(map, x, x, x, x), addr(smem),
                                                                            vec(off, off)),
       "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r1, %r1, %r1}], "
       "[%r0], {%rs1, %rs1};");
  same(copy._1d.global_.shared__cta.bulk_group(tensor_addr(map, x), addr(smem)),
       "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd0, {%r1}], [%r0];");
}

TEST_F(DotsTest, Matrices) {
  auto a = k.vec<b32, 4>("a");
  auto b = k.vec<b32, 2>("b"), h = k.vec<b32, 2>("h");
  auto c = k.vec<f32, 4>("c");
  auto i = k.vec<s32, 4>("i");
  auto desc = k.scalar<u64>();
  auto p = k.scalar<pred>();
  same(inst.mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32(c, a, b, c),
       "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {c0, c1, c2, c3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};");
  same(inst.mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16(h, a, b, h),
       "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {h0, h1}, {a0, a1, a2, a3}, {b0, b1}, {h0, h1};");
  same(inst.mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32(i, a, b, i),
       "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {i0, i1, i2, i3}, {a0, a1, a2, a3}, {b0, b1}, {i0, i1, i2, "
       "i3};");
  same(inst.wgmma.fence.sync.aligned(), "wgmma.fence.sync.aligned;");
  same(inst.wgmma.wait_group.sync.aligned(0), "wgmma.wait_group.sync.aligned 0;");
  auto d = k.vec<f32, 8>("d");
  same(inst.wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16(d, desc, desc, p, 1, 1, 0, 1),
       "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {d0, d1, d2, d3, d4, d5, d6, d7}, %rd0, %rd0, %p0, 1, 1, 0, 1;");
  same(inst.wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16(d, a, desc, !p, 1, 1, 1),
       "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {d0, d1, d2, d3, d4, d5, d6, d7}, {a0, a1, a2, a3}, %rd0, !%p0, 1, "
       "1, 1;");
  auto wide = k.vec<f32, 128>("w");
  k << inst.wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16(wide, desc, desc, p, 1, 1, 0, 0);
  EXPECT_EQ(k.builder().function().operands_of(k.builder().function().body.back())[0].count, 128);
}

TEST_F(DotsTest, BlackwellMatrices) {
  Kernel& q = blackwell;
  auto d = q.scalar<u32>(), idesc = q.scalar<u32>();
  auto a = q.scalar<u64>(), b = q.scalar<u64>();
  auto p = q.scalar<pred>();
  auto lanes = q.vec<u32, 4>("lanes");
  auto lanes2 = q.vec<u32, 8>("pair");
  same(q, inst.tcgen05.mma.cta_group__1.kind__f16(addr(d), a, b, idesc, p),
       "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;");
  same(q, inst.tcgen05.mma.cta_group__1.kind__f16(addr(d), a, b, idesc, p, 3),
       "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0, 3;");
  same(q, inst.tcgen05.mma.cta_group__1.kind__tf32.collector__a__use(addr(d), a, b, idesc, lanes, p, 3),
       "tcgen05.mma.cta_group::1.kind::tf32.collector::a::use [%r0], %rd0, %rd1, %r1, {lanes0, lanes1, lanes2, lanes3}, %p0, 3;");
  same(q, inst.tcgen05.mma.cta_group__2.kind__f8f6f4.ashift(addr(d), addr(d, 4), b, idesc, lanes2, !p),
       "tcgen05.mma.cta_group::2.kind::f8f6f4.ashift [%r0], [%r0+4], %rd1, %r1, {pair0, pair1, pair2, pair3, pair4, pair5, "
       "pair6, pair7}, !%p0;");
}

TEST_F(DotsTest, SpecialRegistersMirrorPython) {
  EXPECT_EQ(special.tid.x().id, tid_x.id);
  EXPECT_EQ(special.laneid().id, laneid.id);
  EXPECT_EQ(isa::specials()[special.ctaid.y().id].name, "%ctaid.y");
  EXPECT_EQ(isa::specials()[special.clock64().id].name, "%clock64");
  static_assert(std::same_as<decltype(special.clock64()), Special<u64>>);
}

}  // namespace
}  // namespace ptx
