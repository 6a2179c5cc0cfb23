"""What `nbgrader_config.py` says about grading."""

import os
from dataclasses import asdict
from pathlib import Path

from sqlalchemy import make_url
from traitlets.config import Config
from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

from course.checks import NOTEBOOK_SEED, SEED_VARIABLE
from course.grading.errors import GradingError
from course.grading.limits import Limits

CONFIG = "nbgrader_config.py"


def load_settings(root: Path) -> Config:
    """The course's `nbgrader_config.py`, as nbgrader reads it. Raises GradingError if there is none."""
    try:
        return Config(PyFileConfigLoader(CONFIG, path=str(root)).load_config())
    except ConfigFileNotFound:
        raise GradingError(f"There is no {CONFIG} in {root}.") from None


def database_url(settings: Config, folder: Path, asked_for: str | None = None) -> str:
    """Where the gradebook is: what was asked for, else what the settings say, else a file in the folder."""
    configured = settings.CourseDirectory.get("db_url")
    return asked_for or configured or f"sqlite:///{folder / 'gradebook.db'}"


def shown_database(db_url: str) -> str:
    """The gradebook's place as it may be printed: its file, or its URL without a password."""
    url = make_url(db_url)
    return url.database or "memory" if url.get_backend_name() == "sqlite" else url.render_as_string()


def limits_of(settings: Config) -> Limits:
    """What one notebook may use: `c.Execute.timeout`, nbgrader's own, and `c.GradingLimits` for the rest.

    Raises GradingError if a limit has a name that there is not, or is no number above 0.
    """
    asked_for = dict(settings.GradingLimits)
    if timeout := settings.Execute.get("timeout"):
        asked_for = {"cell_seconds": float(timeout)} | asked_for
    known = {name: type(value) for name, value in asdict(Limits()).items()}
    for name, value in asked_for.items():
        if name not in known:
            raise GradingError(f"{CONFIG}: there is no c.GradingLimits.{name}; there are {', '.join(known)}.")
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise GradingError(
                f"{CONFIG}: c.GradingLimits.{name} is {value!r}; it should be a number above 0."
            )
    return Limits(**{name: known[name](value) for name, value in asked_for.items()})


def check_seed() -> int:
    """The seed of the checks' inputs, as `nbgrader_config.py` put it into the environment.

    Raises GradingError if it is no whole number.
    """
    text = os.environ.get(SEED_VARIABLE, str(NOTEBOOK_SEED))
    try:
        return int(text)
    except ValueError:
        raise GradingError(f"{SEED_VARIABLE} is {text!r}; it should be a whole number.") from None
