// What `ptx.ldmatrix`, `ptx.stmatrix` and `ptx.mma` are called and do: see declare.hpp.
#pragma once

#include "ptx/write/door/declare.hpp"
#include "ptx/write/door/matrix.hpp"

namespace ptx::write::declare {

template <>
inline constexpr auto fields<LdmatrixOperands> =
    Fields<needed(&LdmatrixOperands::dst), needed(&LdmatrixOperands::src), &LdmatrixOperands::layout, &LdmatrixOperands::trans,
           &LdmatrixOperands::source_format, &LdmatrixOperands::pred>{};
template <>
inline constexpr auto fields<StmatrixOperands> =
    Fields<needed(&StmatrixOperands::smem), needed(&StmatrixOperands::regs), &StmatrixOperands::layout, &StmatrixOperands::trans,
           &StmatrixOperands::shape, &StmatrixOperands::pred>{};
template <>
inline constexpr auto fields<AccumulatorStoreOperands> =
    Fields<needed(&AccumulatorStoreOperands::frag), needed(&AccumulatorStoreOperands::smem_base),
           needed(&AccumulatorStoreOperands::lane), needed(&AccumulatorStoreOperands::row_stride),
           &AccumulatorStoreOperands::tmp_bf16, &AccumulatorStoreOperands::tmp_pack, &AccumulatorStoreOperands::pred>{};
template <>
inline constexpr auto fields<MmaOperands> =
    Fields<needed(&MmaOperands::shape), needed(&MmaOperands::dtype_d), needed(&MmaOperands::dtype_a),
           needed(&MmaOperands::dtype_b), needed(&MmaOperands::dtype_c), needed(&MmaOperands::d), needed(&MmaOperands::a),
           needed(&MmaOperands::b), needed(&MmaOperands::c), &MmaOperands::a_layout, &MmaOperands::b_layout,
           &MmaOperands::pred>{};

inline constexpr std::tuple matrix_helpers{
    helper<&Ldmatrix::operator()>(
        "ptx.ldmatrix", "",
        "`ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16 {dst}, [src]`: matrices from shared memory, a row's address from each "
        "lane. `layout` is their number, or shape and number: 'x2', 'm8n8.x4', 'x4.trans'."),
    helper<&Stmatrix::operator()>("ptx.stmatrix", "",
                                  "`stmatrix.sync.aligned.m8n8.x4[.trans].shared::cta.b16 [smem], {regs}`: matrices into shared "
                                  "memory, a row's address from each lane."),
    helper<&StmatrixX4TransF32Bf16::operator()>(
        "ptx.stmatrix_x4_trans_f32_bf16", "*, frag, smem_base, lane: Reg",
        "f32 accumulators into shared memory as bf16: the lane's address, 14 instructions; then for each eight of `frag` eight "
        "`cvt`, four `mov` and one `stmatrix`, `row_stride` * 32 bytes further on each time.")};

inline constexpr std::tuple mma_helpers{
    helper<&Mma::sync>("ptx.mma.sync", "",
                       "`mma.sync.aligned.mMnNkK.row.col.D.A.B.C {d}, {a}, {b}, {c}`: d = a * b + c, of `shape` (M, N, K); the "
                       "fragments are this thread's registers.")};

}  // namespace ptx::write::declare
