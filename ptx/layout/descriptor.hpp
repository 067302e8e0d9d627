// The descriptors of tensor-core instructions as numbers: where a matrix lies in shared memory, and what tcgen05.mma computes
// (manual: "Matrix Descriptor Format" of wgmma; "Shared Memory Descriptor" and "Instruction Descriptor" of tcgen05).
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/base/brief.hpp"

namespace ptx::layout {

// ---- matrices in shared memory ----------------------------------------------------------------------------------------------

/// The address field of both formats: an address in the shared window, shifted right by 4, and this mask.
inline constexpr std::uint64_t address_field = 0x3FFF;

/// wgmma's descriptor but for the address.
struct WgmmaDescriptor {
  std::int64_t leading_byte_offset = 0, stride_byte_offset = 0;  ///< multiples of 16
  std::int64_t swizzle = 0;                                      ///< 0 to 3: the value of a LayoutType
  std::int64_t base_offset = 0;                                  ///< 0 to 7
};
/// Its bits: leading offset / 16 at 16, stride offset / 16 at 32, base offset at 49, swizzle at 62. Kind bad_descriptor.
Expected<std::uint64_t> descriptor_bits(const WgmmaDescriptor& descriptor);

/// tcgen05's descriptor but for the address.
struct Tcgen05Descriptor {
  std::int64_t stride_bytes = 0, leading_bytes = 16;  ///< multiples of 16
  std::string_view swizzle = "128B";                  ///< NONE, 32B, 64B, 128B, 128B_BASE32B (atoms of 32 bytes)
  std::int64_t version = 1;                           ///< 1 is all that there is
  std::int64_t base_offset = 0;                       ///< 0 to 7
  std::int64_t lbo_mode = 0;                          ///< 0: the leading offset is relative; 1: it is an absolute address
};
/// Its bits: leading offset / 16 at 16, stride offset / 16 at 32, version at 46, base offset at 49, leading mode at 52, swizzle
/// at
/// 61. Kind bad_descriptor.
Expected<std::uint64_t> descriptor_bits(const Tcgen05Descriptor& descriptor);

// ---- what tcgen05.mma computes
// --------------------------------------------------------------------------------------------------

/// The kinds of tcgen05.mma whose instruction descriptor has one format.
enum class MmaKind : std::uint8_t { f16, tf32, f8f6f4, i8 };

/// Shape, formats and options of a dense or sparse product. Formats by PTX's names of types.
struct InstructionDescriptor {
  std::int64_t m = 128, n = 256;
  std::string_view d_dtype = {}, a_dtype = {}, b_dtype = {};  ///< empty: f16, tf32 into f32, e4m3 into f32, s8 into s32
  std::string_view a_major = "K", b_major = "K";              ///< K or MN
  std::int64_t scale_a = 1, scale_b = 1;                      ///< 1, or -1 to negate the matrix
  bool saturate = false, sparse = false;
  std::int64_t sparsity_selector = 0;  ///< 0 to 3
  std::int64_t max_shift = 0;          ///< 0 to 3: none, 8, 16, 32; of .ws alone
};
/// Its bits: sparsity selector at 0, sparse 2, saturate 3, d's format 4, a's 7, b's 10, negated a 13 and b 14, major a 15 and b
/// 16, n / 8 at 17, m / 16 at 24, shift 30. Kind bad_descriptor.
Expected<std::uint32_t> descriptor_bits(MmaKind kind, const InstructionDescriptor& descriptor);

/// The kinds of tcgen05.mma whose operands have scales in tensor memory.
enum class ScaledMmaKind : std::uint8_t { mxf8f6f4, mxf4, mxf4nvf4 };

struct ScaledInstructionDescriptor {
  std::int64_t m = 128, n = 256;
  std::string_view a_dtype = {}, b_dtype = {};    ///< empty: e4m3; mxf4 and mxf4nvf4 have e2m1 alone
  std::string_view scale_dtype = {};              ///< ue8m0; of mxf4nvf4 ue4m3 (empty) or ue8m0
  std::string_view a_major = "K", b_major = "K";  ///< MN for mxf8f6f4 alone
  std::int64_t scale_a = 1, scale_b = 1;          ///< 1, or -1 to negate the matrix
  bool sparse = false;
  std::int64_t a_scale_id = 0,
               b_scale_id = 0;  ///< which byte of a column of scales; mxf8f6f4 and K = 96 0 to 3, the others 0 or 2
  bool k96 = false;             ///< mxf4, mxf4nvf4, dense: K is 96 and not 64
};
/// Its bits: sparse 2, b's scale id 4, a's format 7, b's 10, negated a 13 and b 14, major a 15 and b 16, n / 8 at 17, scale
/// format 23, m / 128 at 27, a's scale id 29, K 31. Kind bad_descriptor.
Expected<std::uint32_t> descriptor_bits(ScaledMmaKind kind, const ScaledInstructionDescriptor& descriptor);

/// What an instruction descriptor says. Formats by PTX's names of types, empty where the descriptor has no such field.
struct DecodedMma {
  int m = 0, n = 0;
  std::string_view d_dtype, a_dtype, b_dtype, scale_dtype;
  bool a_transposed = false, b_transposed = false, a_negated = false, b_negated = false;
  bool saturate = false, sparse = false, k96 = false;
  int sparsity_selector = 0, max_shift = 0, a_scale_id = 0, b_scale_id = 0;
};
/// Reads what descriptor_bits makes, and M = 32 of .ws. Kind bad_descriptor: a field has a value without a meaning.
Expected<DecodedMma> read_instruction_descriptor(MmaKind kind, std::uint32_t bits);
Expected<DecodedMma> read_instruction_descriptor(ScaledMmaKind kind, std::uint32_t bits);

}  // namespace ptx::layout
