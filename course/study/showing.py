"""Showing something below a cell, in a notebook and in a plain terminal alike."""

from __future__ import annotations

from IPython.display import display


def show(*things: object) -> None:
    """Display each with the richest form that the reader's front end can take."""
    display(*things)  # type: ignore[no-untyped-call]
