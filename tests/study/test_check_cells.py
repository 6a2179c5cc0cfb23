"""What the build makes of check cells for self-study: each opens with its card."""

import re

from course.building.masters import read_masters
from course.building.versions import for_nbgrader, for_self_study, for_students
from course.checks import CHALLENGES, checks_of
from course.files import ROOT

MASTERS = read_masters(ROOT)
CALL = re.compile(r"^check\(\s*\"(\w+)\",\s*\"(\w+)\"", re.MULTILINE)


def test_each_check_is_asked_once_and_before_the_visible_cases() -> None:
    """Bug: a visible assert that fails first, and so a traceback where the card should be."""
    cells = [cell for master in MASTERS for cell in for_self_study(master).cells if cell.cell_type == "code"]
    asked = [cell.source for cell in cells if CALL.search(cell.source)]
    assert sorted(CALL.findall("\n".join(asked))) == sorted(
        (challenge, check.name) for challenge in CHALLENGES for check in checks_of(challenge)
    )
    for source in asked:
        title, door, *_ = source.split("\n")
        assert title.startswith("# Check: ")
        assert door == "from course.study import check"
        compile(source, "cell", "exec")
    assert not any("course.checks" in cell.source or "require(" in cell.source for cell in cells)


def test_graded_cells_know_nothing_of_it() -> None:
    """Bug: a hidden test that writes progress into the home of whoever grades."""
    for master in MASTERS:
        for notebook in (for_nbgrader(master), for_students(master)):
            assert not any("course.study" in cell.source for cell in notebook.cells)
