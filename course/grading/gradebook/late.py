"""Late penalties, as the plugin that nbgrader is set to use gives them."""

import math
from types import SimpleNamespace
from typing import Any

from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from course.grading.errors import GradingError
from course.grading.gradebook.rows import score_of


class LatePenalties:
    """nbgrader's own step, for one row of the gradebook at a time."""

    def __init__(self, settings: Config) -> None:
        """Set up the plugin. Raises GradingError if that cannot be done."""
        try:
            self._step = AssignLatePenalties(config=settings)
            self._step.init_plugin()
        except Exception as error:
            raise GradingError(
                f"The plugin for late penalties that nbgrader_config.py names cannot be used: {error}"
            ) from error

    def penalty(self, entry: Any, student: str) -> float | None:
        """Points to take off a submitted notebook, never more than it has; None if it came in time.

        Raises GradingError if the plugin does.
        """
        submission = entry.assignment
        # nbgrader adds an extension to a due date that may not be there.
        if not self._step.enabled or submission.assignment.duedate is None:
            return None
        late = submission.total_seconds_late
        if late <= 0:
            return None
        plugin, score = self._step.plugin_inst, score_of(entry.grades)
        try:
            penalty = plugin.late_submission_penalty(student, score, late)
            if penalty is None:
                return None
            if math.isnan(penalty):
                raise ValueError("not a number")
            return float(self._step._check_late_penalty(SimpleNamespace(score=score), penalty))
        except Exception as error:
            raise GradingError(
                f"The late penalty of {student} cannot be worked out: {type(plugin).__name__}, the plugin "
                f"that nbgrader_config.py names, has {type(error).__name__}: {error}"
            ) from error
