"""What of a module's layout is the same in all of them."""

from __future__ import annotations

from .nodes import Comment, Directive, Function


def separated(previous: Directive | None, node: Directive) -> bool:
    """Whether the layout has an empty line before a thing of the module: behind the header, before and behind functions. `parse`
    makes no BlankLine of it."""
    if previous is None:
        return True
    return isinstance(previous, Function) or (isinstance(node, Function) and not isinstance(previous, Comment))
