"""From `source/` to everything that is read or released: masters, students' notebooks, self-study notebooks.

`build` writes, `differences` only compares, `refresh_masters` is the part that nbgrader needs at hand.
"""

from course.building.master import MasterError
from course.building.outputs import build, differences, refresh_masters
from course.building.versions import CODE_STUB

__all__ = ["CODE_STUB", "MasterError", "build", "differences", "refresh_masters"]
