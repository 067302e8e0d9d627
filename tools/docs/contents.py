"""Which pages the site has, in order."""

GUIDE = [
    "installing", "first_kernel", "indexing", "shared_memory", "warps", "atomics", "async_copies", "tma", "wgmma", "testing",
    "timeline", "declaring", "modules", "kernels", "launching", "shipping", "executor", "from_triton", "from_cuda", "from_pyptx",
]  # fmt: skip
REFERENCE = ["isa/README", "rules/README", "api/python/index", "api/cpp/index", "failures"]
BACKGROUND = ["performance", "facts", "ARCHITECTURE", "CONTRIBUTING"]
