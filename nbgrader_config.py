"""nbgrader's settings for this course; `nbgrader` and `course grade` both read them.

No assignment id is set: nbgrader refuses one that is given both here and on its command line
(`nbgrader autograde autoregressive-generation`).
"""

import os
import sys
from pathlib import Path

from course.building import CODE_STUB, MasterError, refresh_masters
from course.building.preprocessors import release_steps
from course.grading.nbgrader_side.converters import install
from course.grading.nbgrader_side.formgrader import FILTERS, TEMPLATES, EscapeNames

c = get_config()  # noqa: F821 - nbgrader puts it there

# nbgrader calls `alembic` by name to set up a gradebook, which fails where the environment is not activated.
programs = str(Path(sys.executable).parent)
if programs not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join(filter(None, [programs, os.environ.get("PATH")]))

# The inputs of the hidden checks are drawn from this seed; the open checks of the self-study notebooks use
# another. Change it each term, and keep it through a term: another seed can change a mark.
os.environ.setdefault("COURSE_CHECK_SEED", "20260901")

c.CourseDirectory.course_id = "autoregressive-generation"
# The masters as notebooks. nbgrader wants them so; `source/` holds the text they are made from.
c.CourseDirectory.source_directory = "build/source"
c.CourseDirectory.release_directory = "release"
c.CourseDirectory.submitted_directory = "submitted"
c.CourseDirectory.autograded_directory = "autograded"
c.CourseDirectory.feedback_directory = "feedback"

c.ClearSolutions.code_stub = {"python": CODE_STUB}
c.GenerateAssignment.preprocessors = release_steps()
# release/ is committed, so it is there already: nbgrader would skip it, and its gradebook would stay empty.
c.GenerateAssignment.force = True

c.Execute.timeout = 30  # seconds a cell
c.Execute.kernel_name = "python3"
c.Execute.shutdown_kernel = "immediate"  # a kernel that hangs is not waited for

# `nbgrader autograde`, `nbgrader generate_feedback` and formgrader's buttons do what `course grade` does.
install(Path(__file__).resolve().parent)

# formgrader runs with the rights of whoever grades: what students wrote must not run there.
c.HTMLExporter.filters = FILTERS
c.HTMLExporter.preprocessors = [EscapeNames]
c.HTMLExporter.sanitize_html = True  # shows no script and no widget
c.HTMLExporter.extra_template_basedirs = TEMPLATES  # nothing is fetched from another host

# What nbgrader would delete to make room is set aside.
c.ExchangeFactory.collect = "course.grading.nbgrader_side.exchanging.KeepingCollect"
c.ExchangeFactory.release_assignment = "course.grading.nbgrader_side.exchanging.KeepingRelease"

c.ExportApp.plugin_class = "course.grading.export.StatusExport"
c.ZipCollectApp.collector_plugin = "course.grading.lms.plugin.LmsCollector"

try:
    refresh_masters(Path(__file__).resolve().parent)
except MasterError as error:
    # Said here, because nbgrader answers an error in this file by dropping every setting in it and going on.
    print(f"A master cannot be built, so nbgrader finds none:\n{error}", file=sys.stderr)
