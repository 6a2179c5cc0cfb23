"""The chain-rule view as an object: which runs it offers, and what it says of two."""

from __future__ import annotations

import pytest
from views import control, page, parts, press, said, table, text, told

from decoder_lib.views.runs import run_of
from decoder_lib.views.scoring.compute import settings_in_words
from decoder_lib.views.scoring.draw import chain_rule_view
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State
from decoder_lib.views.view import View

pytestmark = pytest.mark.usefixtures("no_screen")


def offered(view: View) -> list[str]:
    return [key for _, key in control(view, "First run").options]


def test_the_run_and_its_twin_side_by_side() -> None:
    """Bug: one run is shown twice, or a product or log-sum is missing."""
    view = chain_rule_view()
    for situation in (Situation(), Situation(greedy=True)):
        run = run_of(situation)
        *steps, foot = table(view, settings_in_words(situation))[1:]
        assert [row[2] for row in steps] == [f"{step.probability:.4f}" for step in run]
        assert (foot[3], foot[5]) == (f"{run.probability:.6f}", f"−{-run.log_probability:.4f}")
    assert "The greedy run is 8.35 times as probable as this run" in said(view)


def test_runs_of_unequal_length_are_not_ranked() -> None:
    """Bug: the shorter run is called the more probable one."""
    state = State(step=2)
    view = chain_rule_view(state)
    state.change(branch=(1, 6), on_branch=True)
    control(view, "Second run").value = "branch"
    assert "Not ranked: the branch at step 2 has 2 factors, this run has 5." in said(view)
    assert "fewer factors has the advantage" in said(view)


def test_a_branch_that_is_dropped_gives_way() -> None:
    """Bug: the view asks for a run that is no more."""
    state = State(branch=(1, 6))
    view = chain_rule_view(state)
    control(view, "First run").value = "branch"
    control(view, "Second run").value = "run"
    state.change(seed=5)
    assert offered(view) == ["run", "twin"]
    assert (control(view, "First run").value, control(view, "Second run").value) == ("run", "run")
    assert "the same tokens" in said(view)


def test_keeping_a_run() -> None:
    """Bug: a kept run changes with the settings, or cannot be held against what they give now."""
    view = chain_rule_view()
    press(view, "Keep this run")
    assert control(view, "Second run").value == "kept 1"
    view.state.change(seed=9)
    assert offered(view) == ["run", "twin", "kept 1"]
    strips = [strip["aria-label"] for strip in page(view).select('.strip[role="img"]')]
    for situation, strip in zip((Situation(seed=9), Situation()), strips, strict=True):
        assert f"log-sum −{-run_of(situation).log_probability:.4f}" in strip
    press(view, "Keep this run")
    assert offered(view) == ["run", "twin", "kept 1", "kept 2"]
    press(view, "Forget kept runs")
    assert offered(view) == ["run", "twin"]
    assert control(view, "Second run").value == "twin"


def test_another_policy_is_no_other_run() -> None:
    """Bug: after a change of the truncation policy the same run is kept twice, or refused without a word."""
    view = chain_rule_view()
    press(view, "Keep this run")
    view.state.change(policy="stop")
    press(view, "Keep this run")
    assert told(view) == "This run is kept already, as kept run 1."
    assert offered(view) == ["run", "twin", "kept 1"]


def test_a_kept_branch() -> None:
    """Bug: keeping while the branch is followed keeps the run, or the branch loses its token."""
    state = State(branch=(1, 6), on_branch=True)
    view = chain_rule_view(state)
    press(view, "Keep this run")
    state.change(branch=None)
    assert "<end> taken at step 2" in text(view)
    state.change(branch=(1, 6), on_branch=True, step=1)
    press(view, "Keep this run")
    assert "This run is kept already, as kept run 1" in told(view)


def test_the_run_s_controls_are_there_where_no_other_view_has_them() -> None:
    """Bug: a view alone can show one pair of runs only, or two views carry the same controls."""

    def names(view: View) -> set[str]:
        return {part.description for part in parts(view.widget) if getattr(part, "description", "")}

    assert {"Prompt", "Seed", "Temperature"} < names(chain_rule_view())
    assert names(chain_rule_view(State())) == {
        "First run",
        "Second run",
        "Keep this run",
        "Forget kept runs",
    }


def test_the_lengths_are_of_one_scale() -> None:
    """Bug: each run's logarithms fill the whole width, so that both look equally probable."""
    view = chain_rule_view()
    strips = page(view).select('.strip[role="img"]')
    sums = [run_of(Situation()).log_probability, run_of(Situation(greedy=True)).log_probability]
    widths = [sum(float(part["style"].split("width:")[1].rstrip("%")) for part in strip) for strip in strips]
    assert widths == pytest.approx([100.0, 100.0 * sums[1] / sums[0]], abs=0.05)


@pytest.mark.parametrize("settings", [{"context_length": 3}, {"max_new_tokens": 1}, {"temperature": 1e-306}])
def test_extremes_can_be_drawn(settings: dict[str, float]) -> None:
    """Bug: no factors, a single one, or factors of 1 and 0 end in a traceback."""
    view = chain_rule_view(**settings)
    if run_of(view.state.situation):
        view.state.change(branch=(0, 4))
        control(view, "Second run").value = "branch"
    assert "all" in text(view)
    bundle, _ = view._repr_mimebundle_()
    assert bundle["image/png"]


def test_without_a_front_end() -> None:
    """Bug: the picture shows other runs than the table."""
    view = chain_rule_view()
    bundle, _ = view._repr_mimebundle_()
    assert "this run: step 1, dog" in bundle["text/html"]
    assert "the greedy run: step 1, dog" in bundle["text/html"]
    assert view.drawing(view.state.situation) in bundle["text/html"]
    assert bundle["text/plain"].startswith("The greedy run is 8.35 times as probable")
