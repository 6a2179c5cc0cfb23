"""The pictures: what they show, and that nothing in them is told by colour alone."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from decoder_lib import LESSON_VOCABULARY, CausalLanguageModel
from decoder_lib.plots import plot_distribution, plot_prefixes, show

pytestmark = pytest.mark.filterwarnings("error")
SHARES = np.array([0.1, 0.2, 0.3, 0.15, 0.05, 0.1, 0.1])


@pytest.fixture(autouse=True)
def _no_screen() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def hatched(ax: Axes) -> list[int]:
    return [place for place, patch in enumerate(ax.patches) if patch.get_hatch()]


def test_bars_show_the_distribution() -> None:
    """Bug: bars stand in another order than their labels."""
    ax = plot_distribution(SHARES, LESSON_VOCABULARY, title="After <start> the cat")
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [bar.get_width() for bar in bars] == SHARES.tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(LESSON_VOCABULARY.tokens)
    assert [bar.get_y() + bar.get_height() / 2 for bar in bars] == pytest.approx(ax.get_yticks())
    assert ax.yaxis_inverted()
    assert texts(ax) == [f"{share:.4f}" for share in SHARES]
    assert ax.get_title(loc="left") == "After <start> the cat"
    assert ax.get_xlabel()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("selected", [0, 3, np.int64(6)])
def test_the_selected_bar_is_marked_by_hatch_and_word(selected: int) -> None:
    """Bug: the selected token is told by its colour, or token 0 is taken for none."""
    ax = plot_distribution(SHARES, LESSON_VOCABULARY, selected)
    assert hatched(ax) == [selected]
    assert [place for place, text in enumerate(texts(ax)) if "selected" in text] == [selected]


def test_nothing_is_marked_unless_asked() -> None:
    """Bug: a distribution alone has a token marked as selected."""
    ax = plot_distribution(SHARES, LESSON_VOCABULARY)
    assert hatched(ax) == []
    assert not any("selected" in text for text in texts(ax))


@pytest.mark.parametrize("shares", [np.eye(7)[2], np.full(7, 1e-9)], ids=["certain", "tiny"])
def test_extreme_shares_fit_the_axes(shares: np.ndarray) -> None:
    """Bug: the longest bar or its label ends outside the picture."""
    ax = plot_distribution(shares, LESSON_VOCABULARY, 2)
    assert ax.get_xlim()[0] == 0.0
    assert ax.get_xlim()[1] > shares.max() * 1.2
    ax.figure.canvas.draw()


@pytest.mark.parametrize("selected", [7, -1])
def test_a_token_that_is_not_there_can_not_be_marked(selected: int) -> None:
    """Bug: -1 hatches the last bar without a word beside it."""
    with pytest.raises(ValueError, match=f"selected is {selected}"):
        plot_distribution(SHARES, LESSON_VOCABULARY, selected)


def test_given_axes_are_drawn_on() -> None:
    """Bug: a new figure is opened though axes were given, so that two pictures can't stand side by side."""
    figure, (left, right) = plt.subplots(1, 2)
    run = CausalLanguageModel(n_vocab=7, seed=0).generate([0, 1], 2)
    assert plot_distribution(SHARES, LESSON_VOCABULARY, ax=left) is left
    assert plot_prefixes(run, LESSON_VOCABULARY, ax=right) is right
    assert plt.get_fignums() == [figure.number]


def test_a_row_a_pass(model: CausalLanguageModel) -> None:
    """Bug: boxes show the prefix after the append, or the selected token is told by colour alone."""
    run = model.generate([0, 1, 2], 3, seed=0)
    ax = plot_prefixes(run, LESSON_VOCABULARY)
    rows = [[*step.context, step.token_id] for step in run]
    assert texts(ax) == [LESSON_VOCABULARY.tokens[token_id] for row in rows for token_id in row]
    assert hatched(ax) == [3, 8, 14]
    widths = [patch.get_linewidth() for patch in ax.patches]
    assert min(widths[3], widths[8], widths[14]) > widths[0] == max(np.delete(widths, [3, 8, 14]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["step 1", "step 2", "step 3"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "3", "4", "5", "6"]
    ax.figure.canvas.draw()


def test_a_run_of_no_steps_can_be_drawn() -> None:
    """Bug: an empty run gives axes of no height, and a warning."""
    ax = plot_prefixes([], LESSON_VOCABULARY)
    assert texts(ax) == []
    ax.figure.canvas.draw()


def test_the_label_says_what_the_bars_show() -> None:
    """Bug: a reader who can't see the picture gets no shares, or not which token was selected."""
    label = plot_distribution(SHARES, LESSON_VOCABULARY, 3, title="Step 1").get_label()
    for token, share in zip(LESSON_VOCABULARY.tokens, SHARES, strict=True):
        assert f"{token} {share:.4f}" in label
    assert "Step 1" in label
    assert "Selected: dog" in label
    assert "Selected" not in plot_distribution(SHARES, LESSON_VOCABULARY).get_label()


def test_the_label_says_what_each_pass_read(model: CausalLanguageModel) -> None:
    """Bug: the words beside the staircase are of another run, or leave a step out."""
    run = model.generate([0, 1, 2], 3, seed=0)
    label = plot_prefixes(run, LESSON_VOCABULARY).get_label()
    for number, step in enumerate(run, 1):
        read = LESSON_VOCABULARY.decode(step.context)
        assert f"step {number} read {read} and selected {LESSON_VOCABULARY.tokens[step.token_id]}" in label


def test_a_picture_carries_its_words() -> None:
    """Bug: a token like <end> or a quotation mark breaks the page, or the figure is shown a second time."""
    ax = plot_distribution(SHARES, LESSON_VOCABULARY, title='"x" & <y>')
    picture = show(ax)
    assert plt.get_fignums() == []
    assert picture.png.startswith(b"\x89PNG")
    assert repr(picture) == picture.alternative == ax.get_label()
    data, metadata = picture._repr_mimebundle_(include=None, exclude=None)
    alternative = data["text/html"].split(' alt="')[1].split('" style=')[0]
    assert not set('<>"') & set(alternative)
    assert html.unescape(alternative) == picture.alternative == metadata["image/png"]["alt"]
    assert base64.b64decode(data["image/png"]) == picture.png


@pytest.mark.parametrize("size", [6, 8])
def test_a_distribution_of_another_size_is_refused(size: int) -> None:
    """Bug: bars without a label, or a failure after half the picture is drawn."""
    with pytest.raises(ValueError, match=f"distribution has {size} shares"):
        plot_distribution(np.full(size, 1 / size), LESSON_VOCABULARY)
    assert plt.get_fignums() == []
