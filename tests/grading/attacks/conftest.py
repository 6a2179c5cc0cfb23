"""One sandbox for each test file, in an environment that holds what must not be seen."""

from collections.abc import Iterator

import pytest
from attack_bench import ENVIRONMENT, OTHERS_WORK, SEED

from course.building import refresh_masters
from course.files import ROOT
from course.grading.sandbox.sandbox import drop_sandbox


@pytest.fixture(scope="module", autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The masters as they are now; a secret in the environment, and a file of another student."""
    refresh_masters(ROOT)
    folder = tmp_path_factory.mktemp("class") / "submitted" / "s2" / "autoregressive-generation"
    folder.mkdir(parents=True)
    (folder / "12-stop-masks.ipynb").write_text(f"# {OTHERS_WORK}", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_CHECK_SEED", str(SEED))
        patch.setenv("INSTRUCTOR_TOKEN", ENVIRONMENT)
        yield
    drop_sandbox()  # its environment was of this file's making
