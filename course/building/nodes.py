"""The two things the build does with nbformat, which has no types."""

from typing import Any

import nbformat


def node(data: dict[str, Any]) -> Any:
    """A dictionary as nbformat keeps it: entries are attributes as well."""
    return nbformat.from_dict(data)  # type: ignore[no-untyped-call]


def markdown_cell(source: str, cell_id: str, metadata: dict[str, Any] | None = None) -> Any:
    """A text cell with an id of our choice, where nbformat would draw one at random."""
    return node({"cell_type": "markdown", "id": cell_id, "metadata": metadata or {}, "source": source})


def code_cell(source: str, cell_id: str, metadata: dict[str, Any]) -> Any:
    """A code cell that has not been run, with an id of our choice."""
    return node(
        {
            "cell_type": "code",
            "execution_count": None,
            "id": cell_id,
            "metadata": metadata,
            "outputs": [],
            "source": source,
        }
    )
