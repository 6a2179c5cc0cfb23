"""Opens nbgrader's gradebook in SQLite or PostgreSQL, and says in a sentence what is wrong with one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from nbgrader.api import Base, Gradebook
from sqlalchemy import URL, Engine, String, Text, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError

from course.grading.errors import GradingError

PATIENCE = 30.0  # seconds that a write waits for another program that is writing
_NO_COLUMN = re.compile(r"no such column|no column named|column .* does not exist")
_CONNECTING = 10  # seconds until a server that does not answer is given up


def open_gradebook(db_url: str, course_id: str, patience: float = PATIENCE) -> Gradebook:
    """nbgrader's gradebook at a URL; a new one is set up.

    Raises GradingError if the URL is none, its driver is missing, or the database does not answer.
    """
    url = _completed(db_url, patience)
    try:
        with in_sentences(url):
            gradebook = Gradebook(url, course_id)
            _take_long_names(gradebook.engine)
            return gradebook
    except NoSuchModuleError:
        raise GradingError(
            f"There is no database of the kind `{url.drivername}`. A gradebook is in SQLite, "
            "sqlite:////folder/gradebook.db, or in PostgreSQL, postgresql+psycopg://user@host/name."
        ) from None
    except ModuleNotFoundError as error:
        raise GradingError(
            f"The gradebook's driver `{error.name}` is not installed. For PostgreSQL give a URL that begins "
            "with postgresql+psycopg:// and install the course's extra `postgresql`: "
            "pip install 'psycopg[binary]'"
        ) from None


def _completed(db_url: str, patience: float) -> URL:
    try:
        url = make_url(db_url)
    except ArgumentError:  # the text is not repeated: there may be a password in it
        raise GradingError(
            "The gradebook's address is no database URL. It looks like sqlite:////folder/gradebook.db "
            "or postgresql+psycopg://user:password@host/name."
        ) from None
    waits = {"sqlite": {"timeout": str(patience)}, "postgresql": {"connect_timeout": str(_CONNECTING)}}
    wait = waits.get(url.get_backend_name(), {})
    return url.update_query_dict(wait | dict(url.query))


@contextmanager
def in_sentences(url: URL) -> Iterator[None]:
    """Turn what a database has to complain of into a GradingError."""
    try:
        yield
    except DBAPIError as error:
        raise GradingError(_sentence(url, error)) from error


def _sentence(url: URL, error: DBAPIError) -> str:
    shown = {key: value for key, value in url.query.items() if key in ("host", "port")}
    name = url.set(query=shown).render_as_string(hide_password=True)
    reason = (str(error.orig).strip() or type(error.orig).__name__).splitlines()[0]
    if "is locked" in reason:
        return (
            f"Another program is writing to the gradebook {name}, and did not finish in time. Close it, or "
            "wait until it is done, and run the same command again; what has been graded is kept."
        )
    if _NO_COLUMN.search(reason):
        return (
            f"The gradebook {name} was made by an older nbgrader ({reason}). Make a copy of it, then run "
            "`nbgrader db upgrade`."
        )
    if url.get_backend_name() == "sqlite":
        return f"The gradebook {name} cannot be used: {reason}."
    what = "does not answer" if isinstance(error, OperationalError) else "refuses what was asked of it"
    return (
        f"The gradebook's server at {name} {what}: {reason}. "
        "Run the same command again when it does; what has been graded is kept."
    )


def _take_long_names(engine: Engine) -> None:
    """Let names be of any length: nbgrader's columns have 128 characters, which SQLite does not mind."""
    if engine.dialect.name != "postgresql":
        return
    columns = inspect(engine)
    quote = engine.dialect.identifier_preparer.quote
    with engine.begin() as connection:
        for table, names in _NAMES.items():
            kinds = {column["name"]: column["type"] for column in columns.get_columns(table)}
            for name in names:
                if not isinstance(kinds[name], Text):
                    change = f"ALTER TABLE {quote(table)} ALTER COLUMN {quote(name)} TYPE TEXT"
                    connection.execute(text(change))


# What people choose; a key that nbgrader makes has 32 characters.
_NAMES = {
    table.name: [
        column.name for column in table.columns if type(column.type) is String and column.type.length == 128
    ]
    for table in Base.metadata.sorted_tables
}
