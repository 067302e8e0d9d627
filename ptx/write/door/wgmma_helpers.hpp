// What the helpers of `ptx.wgmma` are called and do: see declare.hpp.
#pragma once

#include "ptx/write/door/declare.hpp"

namespace ptx::write::declare {

template <>
inline constexpr auto fields<MmaAsync> =
    Fields<needed(&MmaAsync::shape), needed(&MmaAsync::dtype_d), needed(&MmaAsync::dtype_a), needed(&MmaAsync::dtype_b),
           needed(&MmaAsync::d), needed(&MmaAsync::a), needed(&MmaAsync::b), &MmaAsync::scale_d, &MmaAsync::scale_a,
           &MmaAsync::scale_b, &MmaAsync::trans_a, &MmaAsync::trans_b, &MmaAsync::a_k_offset, &MmaAsync::b_k_offset,
           &MmaAsync::satfinite, &MmaAsync::sparse_metadata, &MmaAsync::sparsity_selector, &MmaAsync::pred>{};
template <>
inline constexpr auto fields<DescriptorFields> =
    Fields<needed(&DescriptorFields::leading_byte_offset), needed(&DescriptorFields::stride_byte_offset),
           &DescriptorFields::swizzle, &DescriptorFields::base_offset, &DescriptorFields::addr_byte_offset>{};
template <>
inline constexpr auto fields<TileFields> =
    Fields<needed(&TileFields::dtype), needed(&TileFields::shape), needed(&TileFields::major)>{};
template <>
inline constexpr auto fields<Wgmma::MaskedDescriptor> =
    Fields<&Wgmma::MaskedDescriptor::byte_offset, &Wgmma::MaskedDescriptor::mask, &Wgmma::MaskedDescriptor::const_bits>{};

inline constexpr std::tuple wgmma_helpers{
    helper<&Wgmma::fence>(
        "ptx.wgmma.fence", "",
        "`wgmma.fence.sync.aligned`: orders what the warpgroup did to registers and shared memory before its next `mma_async`."),
    helper<&Wgmma::commit_group>("ptx.wgmma.commit_group", "",
                                 "`wgmma.commit_group.sync.aligned`: closes the group of products begun so far."),
    helper<&Wgmma::wait_group>("ptx.wgmma.wait_group", "n: int = 0",
                               "`wgmma.wait_group.sync.aligned n`: waits until at most `n` groups are under way."),
    helper<&Wgmma::mma_async>(
        "ptx.wgmma.mma_async",
        "*, shape: tuple[int, int, int], dtype_d, dtype_a, dtype_b, d, a, b: Reg | SharedAlloc | SharedSlice",
        "`wgmma.mma_async.sync.aligned.mMnNkK.<D>.<A>.<B>`: d = a * b, plus d where `scale_d` is true.\n\n`d` is the thread's "
        "part of the M x N accumulator. `a` and `b` are descriptors in 64-bit registers, or tiles of `smem.wgmma_tile`, whose "
        "descriptors are built here, `a_k_offset` and `b_k_offset` bytes after their start; `a` may be four registers. "
        "`scale_a`, `scale_b` are 1 or -1 for floats, `trans_a`, `trans_b` 1 for MN-major f16 and bf16; an operand that the "
        "types do not have is not written. With `sparse_metadata`, `a` is sparse."),
    helper<&Wgmma::make_descriptor>(
        "ptx.wgmma.make_descriptor", "base|smem_base",
        "A matrix descriptor in a fresh u64 register; offsets in bytes, `swizzle` one of the SWIZZLE constants."),
    helper<&Wgmma::auto_descriptor>(
        "ptx.wgmma.auto_descriptor", "base|smem_base, *, dtype, shape: tuple[int, int]",
        "The descriptor of a tile laid out as `pick_gmma_layout` says: (M or N, K) for major \"K\", (K, N) for \"MN\"."),
    helper<static_cast<ptx::Reg<Type::u64> (Wgmma::*)(const PlaceArg&, const Wgmma::MaskedDescriptor&)>(
        &Wgmma::masked_descriptor)>(
        "ptx.wgmma.masked_descriptor", "addr|smem_addr",
        "A matrix descriptor in a fresh u64 register: the masked address, and all other bits ready-made. The default is a "
        "128-byte swizzle whose groups of 8 rows lie 1024 bytes apart.")};

}  // namespace ptx::write::declare
