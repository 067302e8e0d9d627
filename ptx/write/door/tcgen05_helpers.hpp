// What the helpers of `ptx.tcgen05` are called and do: see declare.hpp.
#pragma once

#include "ptx/write/door/declare.hpp"

namespace ptx::write::declare {

template <>
inline constexpr auto fields<Tcgen05Options> = Fields<&Tcgen05Options::cta_group, &Tcgen05Options::pred>{};
template <>
inline constexpr auto fields<Tcgen05CommitOptions> =
    Fields<&Tcgen05CommitOptions::cta_group, &Tcgen05CommitOptions::multicast, &Tcgen05CommitOptions::multicast_mask,
           &Tcgen05CommitOptions::space, &Tcgen05CommitOptions::pred>{};
template <>
inline constexpr auto fields<Tcgen05LoadOptions> =
    Fields<&Tcgen05LoadOptions::shape, &Tcgen05LoadOptions::count, word(&Tcgen05LoadOptions::dtype), &Tcgen05LoadOptions::pack,
           &Tcgen05LoadOptions::half_split_offset, &Tcgen05LoadOptions::pred>{};
template <>
inline constexpr auto fields<Tcgen05StoreOptions> =
    Fields<&Tcgen05StoreOptions::shape, &Tcgen05StoreOptions::count, word(&Tcgen05StoreOptions::dtype),
           &Tcgen05StoreOptions::unpack, &Tcgen05StoreOptions::half_split_offset, &Tcgen05StoreOptions::pred>{};
template <>
inline constexpr auto fields<Tcgen05CopyOptions> = Fields<&Tcgen05CopyOptions::cta_group, &Tcgen05CopyOptions::size,
                                                          &Tcgen05CopyOptions::src_is_addr, &Tcgen05CopyOptions::pred>{};
template <>
inline constexpr auto fields<Tcgen05MmaOptions> =
    Fields<&Tcgen05MmaOptions::cta_group, &Tcgen05MmaOptions::kind, &Tcgen05MmaOptions::enable_input_d,
           &Tcgen05MmaOptions::scale_d, &Tcgen05MmaOptions::sparse, &Tcgen05MmaOptions::ashift, &Tcgen05MmaOptions::collector_a,
           &Tcgen05MmaOptions::a_is_tmem, &Tcgen05MmaOptions::sparse_metadata, &Tcgen05MmaOptions::pred_operand,
           &Tcgen05MmaOptions::scale_c, &Tcgen05MmaOptions::disable_output_lane, &Tcgen05MmaOptions::scale_a,
           &Tcgen05MmaOptions::scale_b, &Tcgen05MmaOptions::scale_size, &Tcgen05MmaOptions::pred>{};
template <>
inline constexpr auto fields<Tcgen05DescriptorFields> =
    Fields<&Tcgen05DescriptorFields::byte_offset, needed(&Tcgen05DescriptorFields::stride_bytes),
           &Tcgen05DescriptorFields::leading_bytes, &Tcgen05DescriptorFields::swizzle, &Tcgen05DescriptorFields::version,
           &Tcgen05DescriptorFields::base_offset, &Tcgen05DescriptorFields::lbo_mode>{};
template <>
inline constexpr auto fields<Tcgen05MaskedDescriptor> =
    Fields<&Tcgen05MaskedDescriptor::byte_offset, &Tcgen05MaskedDescriptor::mask, &Tcgen05MaskedDescriptor::const_bits>{};
template <>
inline constexpr auto fields<InstrDescF16Bf16F32> =
    Fields<&InstrDescF16Bf16F32::m, &InstrDescF16Bf16F32::n, word(&InstrDescF16Bf16F32::ab_dtype), &InstrDescF16Bf16F32::a_major,
           &InstrDescF16Bf16F32::b_major, &InstrDescF16Bf16F32::scale_a, &InstrDescF16Bf16F32::scale_b,
           &InstrDescF16Bf16F32::saturate, &InstrDescF16Bf16F32::sparse, &InstrDescF16Bf16F32::max_shift,
           &InstrDescF16Bf16F32::sparsity_selector>{};
template <>
inline constexpr auto fields<layout::InstructionDescriptor> =
    Fields<&layout::InstructionDescriptor::m, &layout::InstructionDescriptor::n, word(&layout::InstructionDescriptor::a_dtype),
           word(&layout::InstructionDescriptor::b_dtype), word(&layout::InstructionDescriptor::d_dtype),
           &layout::InstructionDescriptor::a_major, &layout::InstructionDescriptor::b_major,
           &layout::InstructionDescriptor::scale_a, &layout::InstructionDescriptor::scale_b,
           &layout::InstructionDescriptor::saturate, &layout::InstructionDescriptor::sparse,
           &layout::InstructionDescriptor::max_shift, &layout::InstructionDescriptor::sparsity_selector>{};
template <>
inline constexpr auto fields<layout::ScaledInstructionDescriptor> =
    Fields<&layout::ScaledInstructionDescriptor::m, &layout::ScaledInstructionDescriptor::n,
           word(&layout::ScaledInstructionDescriptor::a_dtype), word(&layout::ScaledInstructionDescriptor::b_dtype),
           word(&layout::ScaledInstructionDescriptor::scale_dtype), &layout::ScaledInstructionDescriptor::a_major,
           &layout::ScaledInstructionDescriptor::b_major, &layout::ScaledInstructionDescriptor::scale_a,
           &layout::ScaledInstructionDescriptor::scale_b, &layout::ScaledInstructionDescriptor::sparse,
           &layout::ScaledInstructionDescriptor::a_scale_id, &layout::ScaledInstructionDescriptor::b_scale_id,
           &layout::ScaledInstructionDescriptor::k96>{};

template <layout::MmaKind kind>
Expected<std::uint32_t> descriptor_of(const layout::InstructionDescriptor& descriptor) {
  return layout::descriptor_bits(kind, descriptor);
}
template <layout::ScaledMmaKind kind>
Expected<std::uint32_t> scaled_descriptor_of(const layout::ScaledInstructionDescriptor& descriptor) {
  return layout::descriptor_bits(kind, descriptor);
}

inline constexpr std::tuple tcgen05_helpers{
    helper<&Tcgen05::alloc>("ptx.tcgen05.alloc", "slot|smem_addr, ncols",
                            "`tcgen05.alloc`: takes columns of tensor memory (a power of two from 32 to 512) and writes their "
                            "address to `slot` in shared memory. One warp."),
    helper<&Tcgen05::dealloc>("ptx.tcgen05.dealloc", "taddr|tmem_addr, ncols",
                              "`tcgen05.dealloc`: gives columns of tensor memory back. One warp."),
    helper<&Tcgen05::relinquish_alloc_permit>("ptx.tcgen05.relinquish_alloc_permit", "",
                                              "`tcgen05.relinquish_alloc_permit`: this CTA will take no more tensor memory."),
    helper<&Tcgen05::mma>(
        "ptx.tcgen05.mma", "d|d_tmem, a_desc: Reg | Address, b_desc: Reg, idesc",
        "`tcgen05.mma`: d = a * b, plus d where `pred_operand`, else `scale_d`, else `enable_input_d` is true. One thread for "
        "all.\n\n`d` is in tensor memory, `a_desc` and `b_desc` are shared-memory descriptors; with `a_is_tmem`, `a_desc` is an "
        "address in tensor memory. `kind` is f16, tf32, i8, f8f6f4, or with `scale_a` and `scale_b` (scales in tensor memory) "
        "mxf8f6f4, mxf4, mxf4nvf4. `collector_a` is fill, use, lastuse or discard. `scale_c` divides d by 2**scale_c before. No "
        "lane of d is left out unless `disable_output_lane` gives a mask of 4 registers (8 for two CTAs)."),
    helper<&Tcgen05::commit>("ptx.tcgen05.commit", "mbar",
                             "`tcgen05.commit`: arrives on the mbarrier when all that the thread has begun is complete; with a "
                             "mask of 16 bits on that of every CTA of the cluster whose bit is set."),
    helper<&Tcgen05::fence_before_thread_sync>(
        "ptx.tcgen05.fence_before_thread_sync", "",
        "`tcgen05.fence::before_thread_sync`: what was begun before comes before what follows a synchronisation of threads."),
    helper<&Tcgen05::fence_after_thread_sync>(
        "ptx.tcgen05.fence_after_thread_sync", "",
        "`tcgen05.fence::after_thread_sync`: what follows comes after what precedes a synchronisation of threads."),
    helper<&Tcgen05::wait_ld>("ptx.tcgen05.wait_ld", "",
                              "`tcgen05.wait::ld`: waits until the registers of the thread's loads hold their values."),
    helper<&Tcgen05::wait_st>("ptx.tcgen05.wait_st", "", "`tcgen05.wait::st`: waits for the thread's stores."),
    helper<&Tcgen05::ld>("ptx.tcgen05.ld", "dst|dst_regs, taddr|tmem_addr",
                         "`tcgen05.ld`: from tensor memory to registers; `wait_ld` before they are read. `pack` puts two 16-bit "
                         "columns in one register."),
    helper<&Tcgen05::st>("ptx.tcgen05.st", "taddr|tmem_addr, src|src_regs", "`tcgen05.st`: from registers to tensor memory."),
    helper<&Tcgen05::cp>("ptx.tcgen05.cp", "taddr|tmem_addr, src|smem_addr",
                         "`tcgen05.cp`: from shared memory, as the descriptor `src` says, to tensor memory. `size` with what "
                         "follows it: \"64x128b.warpx2::02_13\"."),
    helper<&Tcgen05::shift>("ptx.tcgen05.shift", "taddr|tmem_addr", "`tcgen05.shift`: moves rows of tensor memory down by one."),
    helper<&instruction_descriptor>("ptx.tcgen05.make_instr_desc_f16bf16_f32", "",
                                    "The instruction descriptor of a product of f16, bf16 or (kind tf32) tf32 factors into f32. "
                                    "`scale_a`, `scale_b` of -1 negate; majors are \"K\" or \"MN\". Writes no PTX."),
    helper<&Tcgen05::descriptor>("ptx.tcgen05.descriptor", "addr|smem_addr",
                                 "A shared-memory descriptor in a fresh b64 register. Strides in bytes, multiples of 16; "
                                 "`swizzle` is \"NONE\", \"32B\", \"64B\", \"128B\" or \"128B_BASE32B\"."),
    helper<&Tcgen05::masked_descriptor>("ptx.tcgen05.masked_descriptor", "addr|smem_addr",
                                        "A shared-memory descriptor in a fresh b64 register: the masked address, and all other "
                                        "bits ready-made. The default is that of `descriptor(addr, stride_bytes=1024)`."),
    helper<&descriptor_of<layout::MmaKind::f16>>("ptx.tcgen05.make_instr_desc_f16",
                                                 "*, m, n, a_dtype = 'f16', b_dtype = 'f16', d_dtype = 'f16'",
                                                 "The instruction descriptor of kind f16: f16 or bf16 factors into f16 or f32."),
    helper<&descriptor_of<layout::MmaKind::tf32>>("ptx.tcgen05.make_instr_desc_tf32",
                                                  "*, m, n, a_dtype = 'tf32', b_dtype = 'tf32', d_dtype = 'f32'",
                                                  "The instruction descriptor of kind tf32."),
    helper<&descriptor_of<layout::MmaKind::f8f6f4>>(
        "ptx.tcgen05.make_instr_desc_f8f6f4", "*, m, n, a_dtype = 'e4m3', b_dtype = 'e4m3', d_dtype = 'f32'",
        "The instruction descriptor of kind f8f6f4: e4m3, e5m2, e2m3, e3m2 or e2m1 factors into f16 or f32."),
    helper<&descriptor_of<layout::MmaKind::i8>>(
        "ptx.tcgen05.make_instr_desc_i8", "*, m, n, a_dtype = 's8', b_dtype = 's8', d_dtype = 's32'",
        "The instruction descriptor of kind i8: s8 or u8 factors into s32; it may saturate and does not negate."),
    helper<&scaled_descriptor_of<layout::ScaledMmaKind::mxf8f6f4>>(
        "ptx.tcgen05.make_instr_desc_mxf8f6f4", "*, m, n, a_dtype = 'e4m3', b_dtype = 'e4m3', scale_dtype = 'ue8m0'",
        "The instruction descriptor of kind mxf8f6f4: factors as for f8f6f4, scaled by ue8m0; the scale ids are 0 to 3."),
    helper<&scaled_descriptor_of<layout::ScaledMmaKind::mxf4>>(
        "ptx.tcgen05.make_instr_desc_mxf4", "*, m, n, a_dtype = 'e2m1', b_dtype = 'e2m1', scale_dtype = 'ue8m0'",
        "The instruction descriptor of kind mxf4: e2m1 scaled by ue8m0; the scale ids are 0 or 2, of K = 96 0 to 3."),
    helper<&scaled_descriptor_of<layout::ScaledMmaKind::mxf4nvf4>>(
        "ptx.tcgen05.make_instr_desc_mxf4nvf4", "*, m, n, a_dtype = 'e2m1', b_dtype = 'e2m1', scale_dtype = 'ue4m3'",
        "The instruction descriptor of kind mxf4nvf4: e2m1 scaled by ue4m3 or ue8m0; the scale ids are 0 or 2, of K = 96 and "
        "blocks of 32 0 to 3.")};

}  // namespace ptx::write::declare
