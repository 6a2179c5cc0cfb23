"""The three things the build does with nbformat, which has no types."""

from typing import Any

import nbformat

from course.text import storable


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


def to_bytes(notebook: Any) -> bytes:
    """A notebook as nbgrader itself writes it: sorted keys, UTF-8 where it can, one newline at the end."""
    text: str = nbformat.writes(notebook, version=4)  # type: ignore[no-untyped-call]
    return (storable(text).rstrip("\n") + "\n").encode()
