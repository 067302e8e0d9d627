"""How the factors of wgmma lie in shared memory: ``pick_gmma_layout(elem_bytes=2, m_or_n=64, k=64, major=Major.K)``."""

from __future__ import annotations

from ._ptx import GmmaLayout, LayoutType, Major, layout_for_a, layout_for_b, pick_gmma_layout

__all__ = ["GmmaLayout", "LayoutType", "Major", "layout_for_a", "layout_for_b", "pick_gmma_layout"]
