"""The masters, with every solution in place: they run, they pass, and they show the lesson's figures."""

import functools
import json
import re
from typing import Any

import pytest
from execution import MASTERS, ROOT, outputs, run, shown, source_of, warnings

from course.building.versions import for_nbgrader

FIGURES = json.loads((ROOT / "parameters" / "figures.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A master's executed notebook by the number of its section; each is run once."""

    @functools.cache
    def execute(number: int) -> Any:
        master = next(master for name, master in MASTERS.items() if name.startswith(f"{number:02}-"))
        return run(for_nbgrader(master), tmp_path_factory.mktemp(master.name))

    return execute


@pytest.mark.parametrize("number", range(14))
def test_a_master_runs_and_passes_its_own_checks(executed, number):
    """Bug: a reference solution fails a check, a cell needs another notebook, or a page shows a warning."""
    notebook = executed(number)
    assert [f"{error.ename}: {error.evalue}" for error in outputs(notebook, "error")] == []
    assert warnings(notebook) == []


def four(values: list[float]) -> list[str]:
    return [f"{value:.4f}" for value in values]


GREEDY, SAMPLED = FIGURES["greedy"], FIGURES["sampled_seed_0"]
FOUR = FIGURES["four_token_continuations"]
READ = FIGURES["positions_read"]
MASKS = FIGURES["stop_mask_example"]
SHOWN = {
    4: four(FIGURES["first_distribution"]),
    5: four(SAMPLED["probabilities"] + GREEDY["probabilities"]),
    6: [
        *four([*SAMPLED["probabilities"], *GREEDY["probabilities"]]),
        *four([FIGURES["first_distribution_dog_at_temperature_0.5"]]),
        *(f"{run['product']:.6f}" for run in (SAMPLED, GREEDY)),
    ],
    7: [
        *four([*FOUR["best"]["probabilities"], *FOUR["after_dog_dog"].values()]),
        *(f"{FOUR[name]['product']:.6f}" for name in ("greedy", "best")),
        " ".join(FOUR["best"]["tokens"]),
    ],
    8: [
        *(" ".join(run["tokens"]) for run in FIGURES["stopping_runs"] if run["selection"] == "sampling"),
        *four([FIGURES["first_distribution"][FIGURES["end_id"]]]),
    ],
    12: [str(MASKS["lengths"]), str(MASKS["finished"])],
}
COUNTS = {
    7: [FOUR["count"], FOUR["greedy"]["rank"]],
    8: [FIGURES["seeds_0_to_100"]["stop_early_on_the_end_token"], FIGURES["seeds_0_to_100"]["runs"]],
    9: [READ["without_a_cache"], READ["distinct_positions"]],
}


@pytest.mark.parametrize("number", SHOWN)
def test_a_section_shows_the_lessons_figures(executed, number):
    """Bug: a notebook computes something else than the lesson prints."""
    text = " ".join(shown(executed(number)).split())
    assert [figure for figure in SHOWN[number] if figure not in text] == []


@pytest.mark.parametrize("number", COUNTS)
def test_a_section_shows_the_lessons_counts(executed, number):
    """Bug: a notebook counts something else than the lesson does."""
    numbers = re.findall(r"\d+", shown(executed(number)).replace(",", ""))
    assert [count for count in COUNTS[number] if str(count) not in numbers] == []


def decimals(value: object) -> set[str]:
    """Every printed figure with four decimals or more below a part of figures.json."""
    if isinstance(value, dict):
        return set().union(*map(decimals, value.values()))
    if isinstance(value, list):
        return set().union(*map(decimals, value))
    if isinstance(value, float) and f"{value:.2f}" != f"{value:.6f}".rstrip("0"):
        return {f"{value:.4f}" if value > 0.01 else f"{value:.6f}"}
    return set()


@pytest.mark.parametrize("name", MASTERS)
def test_no_figure_is_typed_in(name):
    """Bug: a figure in the text stays as it is when the decoder changes."""
    typed = set(re.findall(r"\d\.\d{4,}", source_of(MASTERS[name])))
    assert typed & decimals(FIGURES) == set()
    assert not re.search(r"\b2,?401\b", source_of(MASTERS[name]))


def test_there_are_figures_to_look_for():
    """Bug: a test that looks for nothing."""
    assert {"0.1756", "0.000140", "0.3835"} <= decimals(FIGURES)
