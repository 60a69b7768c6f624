"""A command that refuses an option that is given twice, where otherwise the last one would win silently."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from unweave.errors import InputError


class Once(TyperCommand):
    """A command whose options, unless they can be repeated, are given at most once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check the words before they are parsed."""
        single = {
            word: parameter.name
            for parameter in self.params
            if getattr(parameter, "multiple", True) is False
            for word in getattr(parameter, "opts", ())
            if word.startswith("-")
        }
        seen: set[str] = set()
        for word in args:
            name = single.get(word.partition("=")[0])
            if name is not None and name in seen:
                raise InputError(f"{word.partition('=')[0]} is given twice: give it once.")
            if name is not None:
                seen.add(name)
        return super().parse_args(ctx, args)
