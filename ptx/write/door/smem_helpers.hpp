// What the functions of `smem` are called and do: see declare.hpp. C++ has those of a type as templates (smem.hpp).
#pragma once

#include "ptx/write/door/declare.hpp"
#include "ptx/write/door/smem.hpp"

namespace ptx::write::declare {

template <>
inline constexpr auto fields<SharedOptions> = Fields<&SharedOptions::swizzle, &SharedOptions::align, &SharedOptions::name,
                                                     &SharedOptions::gmma_layout, &SharedOptions::gmma_major>{};
template <>
inline constexpr auto fields<TileOptions> = Fields<&TileOptions::align, &TileOptions::name>{};

inline constexpr std::tuple smem_helpers{
    helper<&Smem::allocate>("smem.alloc", "dtype, shape, swizzle, align, name, -gmma_layout, -gmma_major",
                            "Shared memory for elements of that shape, aligned to 128 bytes unless said otherwise. A kernel's "
                            "first 48 KiB are variables of their own; when it has more, all of it lies in `dyn_smem`."),
    helper<&Smem::allocate>("smem.alloc_with_layout", "dtype, shape, swizzle, align, name",
                            "`alloc`, with what wgmma has to know of the layout."),
    helper<&Smem::allocate_tile>("smem.wgmma_tile", "dtype, shape: tuple[int, int], major = 'K'",
                                 "A tile that wgmma reads: (M or N, K) for major \"K\", (K, N) for \"MN\", laid out as "
                                 "`pick_gmma_layout` says."),
    helper<&Smem::mbarrier>("smem.mbarrier", "count, name: str | None = None",
                            "Barriers in shared memory, 8 bytes each; `ptx.mbarrier.init` has to make them ready."),
    helper<&shared_load>("smem.load", "dtype, address|addr", "A value from shared memory, in a fresh register."),
    helper<&shared_store>("smem.store", "dtype, address|addr, value|val", "Writes a register to shared memory.")};

}  // namespace ptx::write::declare
