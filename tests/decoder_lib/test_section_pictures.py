"""The pictures of the sections: each draws, and says in words what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

from decoder_lib import LESSON_VOCABULARY as WORDS
from decoder_lib import CausalLanguageModel, KeepFirst, drop_oldest, plots

pytestmark = pytest.mark.filterwarnings("error")
MODEL = CausalLanguageModel(7)
PROMPT = [0, 1, 2]
PLAIN = MODEL.generate(PROMPT, 5, seed=0, end_id=6)
CACHED = MODEL.generate(PROMPT, 5, seed=0, end_id=6, use_cache=True)
GREEDY = MODEL.generate(PROMPT, 5, greedy=True)
WINDOWED = MODEL.generate(PROMPT, 6, seed=2, context_length=6, truncate=drop_oldest)
FIRST = PLAIN[0].distribution

# For each picture: how it is drawn, and what its text alternative must say.
PICTURES: dict[str, tuple[Callable[[], Axes], list[str]]] = {
    "draw": (
        lambda: plots.plot_draw(FIRST, WORDS, PLAIN[0].uniform or 0.0),
        ["dog", f"{PLAIN[0].uniform:.4f}"],
    ),
    "endings": (lambda: plots.plot_endings({"untrained": [PLAIN, GREEDY]}, 5), ["untrained", "2"]),
    "fits": (
        lambda: plots.plot_fits([16, 256], {"step": ([2, 3], [0.25, -2]), "pass": ([5, 70], [0.5, -4])}),
        ["step", "pass", "from 2 to 3", "from 5 to 70", "from 2 to 62", "from 4 to 124", "256 positions"],
    ),
    "growth": (
        lambda: plots.plot_growth([1, 2, 3], {"without": [3, 7, 12], "with": [3, 4, 5]}),
        ["without", "with", "12", "5"],
    ),
    "loop": (plots.plot_loop, ["predict", "select", "append"]),
    "paths": (
        lambda: plots.plot_paths(MODEL, PROMPT, {"greedy": [3, 3, 3, 5], "alternative": [3, 3, 0, 5]}, WORDS),
        ["greedy", "alternative", "0.2450", "0.1921"],
    ),
    "positions read": (
        lambda: plots.plot_positions_read({"without": PLAIN.steps, "with": CACHED.steps}, WORDS),
        ["without", "with", "25", "7"],
    ),
    "rereading": (lambda: plots.plot_rereading({"sampled": (PLAIN, CACHED)}), ["sampled", "25", "7"]),
    "rounds": (
        lambda: plots.plot_rounds([[2, 0], [1, 3, 0], [4, 4, 4]], ["stop", "stop", "length"], list("abcde")),
        ["a", "truncated"],
    ),
    "running product": (
        lambda: plots.plot_running_product({"sampled": PLAIN.steps, "greedy": GREEDY.steps}, WORDS),
        ["sampled", "greedy", "0.2334", "0.3438"],
    ),
    "score rows": (
        lambda: plots.plot_score_rows(MODEL.logits(PROMPT), PROMPT, WORDS),
        ["<start>", "last"],
    ),
    "side by side": (
        lambda: plots.plot_side_by_side({"one": FIRST, "other": PLAIN[1].distribution}, WORDS),
        ["one", "other", "0.2334", "0.2388"],
    ),
    "token rows": (
        lambda: plots.plot_token_rows({"prefix": ["the", "cat"], "next": ["the", "cat", "sat"]}, {"next": 2}),
        ["prefix", "next", "sat"],
    ),
    "visible": (lambda: plots.plot_visible([3, 2]), ["query"]),
    "windows": (lambda: plots.plot_windows(WINDOWED, drop_oldest, 6, WORDS), ["dropped"]),
}


@pytest.fixture(autouse=True)
def _no_screen() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_draws_and_says_what_it_shows(name: str) -> None:
    """Bug: a picture that fails to draw, or whose alternative leaves out what it is there to show."""
    draw, wanted = PICTURES[name]
    picture = plots.show(draw())
    assert picture.png.startswith(b"\x89PNG")
    assert [word for word in wanted if word.lower() not in picture.alternative.lower()] == []
    assert picture.alternative.endswith(".")


def test_every_picture_of_the_package_is_tried() -> None:
    """Bug: a new picture that no test draws."""
    tried = {f"plot_{name.replace(' ', '_')}" for name in PICTURES} | {"plot_distribution", "plot_prefixes"}
    assert {name for name in plots.__all__ if name.startswith("plot_")} == tried


def test_windows_are_those_that_the_run_read() -> None:
    """Bug: the picture of a truncation shows other windows than the run read."""
    windows = plots.windows_of(WINDOWED, drop_oldest, 6)
    text = [*PROMPT, *WINDOWED.token_ids]
    read = [[text[place] for place in window] for window in windows]
    assert read == [step.context.tolist() for step in WINDOWED]
    with pytest.raises(ValueError, match="this policy with a bound of 6 does not give"):
        plots.windows_of(WINDOWED, KeepFirst(2), 6)


def test_fits_draw_the_measured_points_and_the_polynomial() -> None:
    """Bug: the coefficients are read from the lowest power up, or the points are left out."""
    x, points = [1, 2, 4], [3.0, 8.0, 30.0]
    (curve, dots) = plots.plot_fits(x, {"pass": (points, [2.0, -1.0, 1.5])}).lines
    assert np.asarray(dots.get_ydata()).tolist() == points
    assert np.asarray(dots.get_xdata()).tolist() == x
    at, fitted = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    assert fitted == pytest.approx(2.0 * at**2 - at + 1.5)


def test_side_by_side_has_room_for_three() -> None:
    """Bug: a fourth distribution that looks like the first."""
    with pytest.raises(ValueError, match="3"):
        plots.plot_side_by_side({str(n): np.full(7, 1 / 7) for n in range(4)}, WORDS)
