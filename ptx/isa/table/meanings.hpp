// What operands mean where their name and the row's one sentence do not say it: in our own words, from the manual's chapters.
#pragma once

#include "ptx/isa/meanings.hpp"

namespace ptx::isa::table {

inline constexpr std::string_view lane_mask =
    "the lanes that take part, bit i for lane i; each of them executes the same instruction";
inline constexpr std::string_view barrier_number = "the barrier's number, 0 to 15";
inline constexpr std::string_view barrier_threads = "how many threads take part, a multiple of 32; left out: all of the block";
inline constexpr std::string_view barrier_value = "this thread's predicate, which is reduced over all threads that take part";
inline constexpr std::string_view combined = "joined with the comparison's result by `.and`, `.or` or `.xor`";
inline constexpr std::string_view shared_descriptor = "a matrix in shared memory, by its descriptor";

inline constexpr Meaning all_meanings[] = {
    // warps
    {"", "membermask", lane_mask},
    {"shfl", "b", "how far (`.up`, `.down`), the mask for xor (`.bfly`), or the lane (`.idx`)"},
    {"shfl", "c",
     "bits 0 to 4: the last lane of a segment, or the first for `.up`; bits 8 to 12: the segment mask. Whole warps: 31, and 0 "
     "for "
     "`.up`; segments of n lanes: `(32 - n) << 8 | 31`, and `(32 - n) << 8` for `.up`"},
    {"shfl", "p", "true where the source lane lies in the segment; elsewhere d is the lane's own a"},
    {"elect", "d", "the number of the lane that was chosen"},
    {"elect", "p", "true in the lane that was chosen"},
    {"match.any", "d", "the members that have the same a"},
    {"match.all", "d", "all members if they have the same a, else 0"},
    {"match.all", "p", "true if all members have the same a"},
    {"fns", "mask", "the word whose set bits are counted"},
    {"fns", "base", "the bit to begin at, 0 to 31"},
    {"fns", "offset", "which set bit: positive ones upwards from base, negative ones downwards, 0 base itself"},

    // bits
    {"lop3", "lut", "the truth table: `(0xF0 & 0xCC) | 0xAA` for `(a & b) | c`, and so for any function of a, b and c"},
    {"lop3", "q", "joined with `d != 0` into p"},
    {"prmt", "c",
     "four bits for each byte of d: bits 0 to 2 pick a byte of b:a, bit 3 its sign eight times over; with a mode, the two lowest "
     "bits say where"},
    {"bfe", "b", "the position of the field's lowest bit, 0 to 255"},
    {"bfe", "c", "the field's length in bits, 0 to 255"},
    {"bfi", "a", "the bits to put in"},
    {"bfi", "b", "what they are put into"},
    {"bfi", "c", "the position, 0 to 255"},
    {"bfi", "e", "how many bits, 0 to 255"},
    {"bmsk", "a", "the position of the mask's lowest bit"},
    {"bmsk", "b", "how many bits are set"},
    {"szext", "b", "how many of the low bits stay"},
    {"shf", "a", "the lower half of what is shifted"},
    {"shf", "b", "the upper half"},
    {"shf", "c", "by how many bits"},
    {"slct", "c", "a where this is at least 0, else b"},
    {"selp", "c", "a where this is true, else b"},
    {"set", "c", combined},
    {"setp", "c", combined},
    {"setp", "q", "p for the opposite comparison; of packed types, the result of the upper half"},
    {"dp2a", "c", "added to the sum of products"},
    {"dp4a", "c", "added to the sum of products"},
    {"sad", "c", "added to the absolute difference"},
    {"cvt", "rbits", "random bits that decide the rounding"},
    {"cvt", "scale", "two scale factors (`.ue8m0x2`)"},

    // barriers and flow
    {"bar", "a", barrier_number},
    {"bar", "b", barrier_threads},
    {"bar", "c", barrier_value},
    {"barrier", "a", barrier_number},
    {"barrier", "b", barrier_threads},
    {"barrier", "c", barrier_value},
    {"nanosleep", "t", "for about so many nanoseconds, at most 1 ms; up to twice as long"},
    {"bra", "t", "where to go on"},
    {"brx", "index", "which of the targets, from 0"},
    {"brx", "targets", "a list of labels: `.branchtargets`"},
    {"call", "callee", "a function's name, or a register with its address"},
    {"call", "args", "what the function is given, in the order of its parameters"},
    {"call", "results", "where its results go"},
    {"call", "prototype", "what a function called by address looks like: a `.callprototype`, or a `.calltargets` list"},
    {"setmaxnreg", "n", "registers of each thread from here on, a multiple of 8 from 24 to 256"},
    {"alloca", "ptr", "the address in local memory"},
    {"alloca", "size", "in bytes"},
    {"alloca", "align", "of the address in bytes, a power of two"},

    // memory
    {"", "policy", "how the L2 cache keeps the line: a policy made by `createpolicy`, used with `.L2::cache_hint`"},
    {"", "size", "in bytes"},
    {"", "addr", "the address"},
    {"", "dst", "the destination's address"},
    {"", "src", "the source's address"},
    {"", "mbar", "the mbarrier, in shared memory, that hears of the completion"},
    {"st", "initval", "the value of each byte: 0"},
    {"atom", "c", "what is stored where b is found"},
    {"createpolicy", "a", "where the range begins"},
    {"createpolicy", "primary_size", "bytes from a on that have the primary priority"},
    {"createpolicy", "total_size", "bytes from a on that the policy is for; the rest has the secondary priority"},
    {"createpolicy", "fraction", "which part of the accesses has the primary priority, up to 1.0 (left out: all)"},
    {"createpolicy", "property", "an access property of the CUDA runtime"},
    {"mapa", "a", "an address in this block's shared memory"},
    {"mapa", "b", "the rank of the block in the cluster"},
    {"getctarank", "a", "an address in the shared memory of a block of the cluster"},

    // asynchronous copies
    {"", "dstMem", "the destination, aligned to 16 bytes (tensors in shared memory: 128)"},
    {"", "srcMem", "the source, aligned to 16 bytes (tensors in shared memory: 128)"},
    {"cp.async.bulk", "size", "in bytes, a multiple of 16"},
    {"cp.reduce.async.bulk", "size", "in bytes, a multiple of 16"},
    {"cp", "src_size", "bytes that are read; the rest of the destination becomes 0"},
    {"cp", "ignore_src", "where true nothing is read, and the destination becomes 0"},
    {"cp.async.wait_group", "n", "how many of the youngest groups may still be under way"},
    {"cp.async.bulk.wait_group", "n", "how many of the youngest bulk groups may still be under way"},
    {"wgmma.wait_group", "n", "how many of the youngest wgmma groups may still be under way"},
    {"", "ctaMask", "blocks of the cluster that receive the copy, bit i for rank i, each at the same offset"},
    {"", "byteMask", "which bytes of each 16 are written, bit i for byte i"},
    {"cp", "ignoreLeft", "bytes at the beginning that are not copied"},
    {"cp", "ignoreRight", "bytes at the end that are not copied"},
    {"cp", "tensorMap", "the tensor's descriptor, a `CUtensorMap`, and the box's first element: coordinates, innermost first"},
    {"cp", "offsets", "the offsets of im2col, 16 bits each"},

    // mbarrier
    {"", "state", "an opaque word that names the phase, from an arrive"},
    {"mbarrier.init", "count", "arrivals that end a phase, 1 to 1048575"},
    {"mbarrier", "count", "how many arrivals this one is; 1 if left out"},
    {"", "tx", "bytes of copies that the phase also waits for"},
    {"", "parity", "of the phase to wait for: 0 for the first, then 1, 0, 1 …"},
    {"", "time", "at most how long the thread sleeps, in nanoseconds"},
    {"", "report", "true if an operation of the phase failed"},
    {"mbarrier.test_wait", "p", "true when the phase is over"},
    {"mbarrier.try_wait", "p", "true when the phase is over; false after the time limit: ask again"},

    // tensor maps and blocks that are cancelled
    {"", "new_val", "the field's new value, coded as for the driver's `cuTensorMapEncode…`"},
    {"", "ord", "which dimension, innermost 0"},
    {"", "response", "the 16 bytes that `try_cancel` wrote"},

    // textures
    {"", "compare", "the depth that is compared with the texture's"},
    {"", "lod", "the level of detail: of the mipmap"},
    {"", "dPdx", "derivatives of the coordinates in x"},
    {"", "dPdy", "derivatives of the coordinates in y"},
    {"tex", "offset", "added to the coordinates, in texels, -8 to 7"},
    {"tld4", "offset", "added to the coordinates, in texels"},
    {"tex", "p", "true where the texture is resident"},
    {"tld4", "p", "true where the texture is resident"},

    // matrices
    {"ldmatrix", "p", "a row's address: lane i gives row i of the first matrix, lane 8 + i of the second, and so on"},
    {"stmatrix", "p", "a row's address: lane i gives row i of the first matrix, lane 8 + i of the second, and so on"},
    {"wmma", "p", "the address of the tile, the same in all lanes"},
    {"wmma", "stride", "elements from row to row (column to column); left out: rows lie behind each other"},
    {"mma", "e", "the sparsity metadata: which elements of each group a has"},
    {"mma", "f", "which lanes of a quad give the metadata"},
    {"", "sa", "the scale factors of a"},
    {"", "ida", "byte and thread that give the scale factors of a"},
    {"", "sb", "the scale factors of b"},
    {"", "idb", "byte and thread that give the scale factors of b"},
    {"wgmma", "b", shared_descriptor},
    {"wgmma", "e", "the sparsity metadata: which elements of each group a has"},
    {"wgmma", "f", "which lanes of a quad give the metadata"},
    {"wgmma", "scale_d", "false: d = a x b, what d held is not read; true: d = a x b + d"},
    {"wgmma", "scale_a", "1, or -1 to negate a"},
    {"wgmma", "scale_b", "1, or -1 to negate b"},
    {"", "trans_a", "1 if a lies column by column (M-major) in shared memory, else 0"},
    {"", "trans_b", "1 if b lies row by row (N-major) in shared memory, else 0"},
    {"tcgen05", "taddr", "an address in tensor memory: lane in the upper 16 bits, column in the lower"},
    {"tcgen05", "columns", "how many columns, a power of two from 32 to 512"},
    {"tcgen05.alloc", "dst", "where in shared memory the address of what was allocated is written"},
    {"tcgen05.cp", "source", shared_descriptor},
    {"tcgen05", "cta_mask", "blocks of the cluster whose mbarrier hears of it, bit i for rank i"},
    {"tcgen05", "value", "the smallest or largest of what this thread loaded"},
    {"tcgen05", "half_split_offset", "the second half of the data lies so many columns behind the first"},
    {"tcgen05.mma", "d", "the accumulator, in tensor memory"},
    {"tcgen05.mma", "b", shared_descriptor},
    {"tcgen05.mma", "e", "the sparsity metadata, in tensor memory"},
    {"tcgen05.mma", "idesc", "the instruction descriptor: shapes, types, transposition, sparsity"},
    {"tcgen05.mma", "enable", "false: d = a x b, what d held is not read; true: d = a x b + d"},
    {"tcgen05.mma", "disable", "lanes of d that are not written, a bit for each"},
    {"tcgen05.mma", "scale", "d is divided by two to this power first, 0 to 15"},
    {"tcgen05.mma", "scale_a", "the scale factors of a, in tensor memory"},
    {"tcgen05.mma", "scale_b", "the scale factors of b, in tensor memory"},
    {"tcgen05.mma", "zero_columns", "columns of b that count as 0, by their descriptor"},
};

}  // namespace ptx::isa::table
