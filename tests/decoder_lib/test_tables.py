"""Runs and distributions as tables."""

from __future__ import annotations

import numpy as np
import pytest

from decoder_lib import LESSON_VOCABULARY, CausalLanguageModel, Vocabulary
from decoder_lib.tables import Table, distribution_table, step_table


def test_html_escapes_every_cell() -> None:
    """Bug: a token like <end> is taken for a tag and vanishes from the page."""
    html = Table("a < b", ("<head>",), (("<end>",), ("&",)))._repr_html_()
    for raw, escaped in (("a < b", "a &lt; b"), ("<head>", "&lt;head&gt;"), ("<end>", "&lt;end&gt;")):
        assert raw not in html
        assert escaped in html
    assert "&amp;" in html
    assert html.count("<tr>") == 3


def test_text_is_aligned() -> None:
    """Bug: columns are as wide as their header and not as their longest cell."""
    table = Table("Caption", ("a", "b"), (("long cell", "1"), ("x", "22")))
    assert str(table).splitlines() == [
        "Caption",
        "a          b",
        "------------",
        "long cell  1",
        "x          22",
    ]
    assert repr(table) == str(table)


def test_a_table_without_rows() -> None:
    """Bug: a run of no steps can't be shown."""
    table = step_table([], LESSON_VOCABULARY)
    assert table.rows == ()
    assert len(str(table).splitlines()) == 3
    assert "prefix read" in table._repr_html_()


def test_a_row_a_step(model: CausalLanguageModel) -> None:
    """Bug: a row shows the prefix after its token was appended, or another row's probability."""
    run = model.generate([0, 1, 2], 3, seed=0)
    table = step_table(run, LESSON_VOCABULARY)
    assert table.header == ("step", "prefix read", "selected token", "probability")
    assert table.rows[0][:2] == ("1", "<start> the cat")
    for number, (step, row) in enumerate(zip(run, table.rows, strict=True), 1):
        prefix = LESSON_VOCABULARY.decode([0, 1, 2, *run.token_ids[: number - 1]])
        word = LESSON_VOCABULARY.tokens[step.token_id]
        assert row == (str(number), prefix, word, f"{step.probability:.4f}")


def test_a_column_a_distribution() -> None:
    """Bug: rows and columns are exchanged, or digits cut."""
    table = distribution_table(
        {"model": np.array([0.25, 0.75]), "policy": [0.00004, 0.99996]}, Vocabulary(("<a>", "b")), "Shares"
    )
    assert table.caption == "Shares"
    assert table.header == ("candidate", "model", "policy")
    assert table.rows == (("<a>", "0.2500", "0.0000"), ("b", "0.7500", "1.0000"))


@pytest.mark.parametrize("size", [1, 3])
def test_a_distribution_of_another_size_is_refused(size: int) -> None:
    """Bug: a distribution longer than the vocabulary loses its last shares in silence."""
    with pytest.raises(ValueError, match="model"):
        distribution_table({"model": np.full(size, 1 / size)}, Vocabulary(("a", "b")), "Shares")
