"""What is PostgreSQL's own: a server that goes away, a driver that is not there, stricter columns."""

import sys

import pytest
from gradebook_examples import ASSIGNMENT, failed, grades, opened, settings, short, short_record
from postgresql import Server, missing, postgresql  # noqa: F401 - a fixture
from sqlalchemy import inspect

from course.grading.errors import GradingError
from course.grading.gradebook.writer import GradebookWriter


@pytest.fixture
def server():
    """A server that a test may stop."""
    if reason := missing():
        pytest.skip(reason)
    server = Server()
    server.start()
    try:
        yield server
    finally:
        server.stop()
        server.remove()


def test_a_server_that_restarts_or_stops_in_a_run(server):
    """Bug: a broken connection ends a run of hours, or leaves it unable to write when the server is back."""
    url = server.new_database()
    with GradebookWriter(settings(), url) as writer:
        writer.register([short()])
        writer.write(short_record(points=0.0))
        server.stop()
        server.start()
        assert writer.write(short_record()).score == 1.0
        server.stop()
        with pytest.raises(GradingError, match=r"The gradebook's server at .* does not answer: .*kept\.$"):
            writer.write(short_record(points=0.0))
        with pytest.raises(GradingError, match="does not answer"):
            GradebookWriter(settings(), url)
        server.start()
        assert grades(url, short_record())["short-test"][0] == 1.0
        assert writer.write(short_record(points=0.0)).score == 0.0


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_a_missing_driver_is_named(monkeypatch, scheme):
    """Bug: ModuleNotFoundError, and nobody knows what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(GradingError, match=r"driver `psycopg` is not installed.*extra `postgresql`"):
        GradebookWriter(settings(), f"{scheme}://user@host/name")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("gradebook.db", "is no database URL"),
        ("postgresql+psycopg://me:pa55word@127.0.0.1:1/class", "does not answer"),
        ("sybase+odd://me:pa55word@host/class", r"no database of the kind `sybase\+odd`"),
        ("me:pa55word@host", "is no database URL"),
    ],
)
def test_a_wrong_address_is_a_sentence_without_the_password(url, sentence):
    """Bug: a traceback, or the database's password on the screen and in the log."""
    with pytest.raises(GradingError, match=sentence) as error:
        GradebookWriter(settings(), url)
    assert "pa55word" not in str(error.value)


def test_nothing_is_left_open_between_two_records(postgresql):  # noqa: F811
    """Bug: a transaction that stays open while a notebook is graded holds up formgrader and upgrades."""
    url = postgresql.new_database()
    with GradebookWriter(settings(), url) as writer, opened(url) as other:
        writer.register([short()])
        for step in (writer.write, writer.holds, writer.standing):
            step(short_record())
            with other.engine.begin() as connection:
                connection.exec_driver_sql("SET lock_timeout = '2s'")
                connection.exec_driver_sql("LOCK TABLE grade IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(ValueError, match="points for"):
            writer.write(short_record(points=7.0))
        with other.engine.begin() as connection:
            connection.exec_driver_sql("LOCK TABLE grade IN ACCESS EXCLUSIVE MODE NOWAIT")


def test_nbgraders_columns_take_what_sqlite_takes(postgresql):  # noqa: F811
    """Bug: a name of more than 128 characters, or a NUL in a reason, is graded in SQLite only."""
    url = postgresql.new_database()
    with GradebookWriter(settings(), url) as writer:
        writer.register([short()])
        record = failed(short_record("n" * 300), "It wrote \0 at the end.")
        assert writer.write(record).as_record() == record
    with opened(url) as gradebook:
        found = gradebook.find_comment("short", "short", ASSIGNMENT, "n" * 300)
        assert found.auto_comment == "It wrote \N{REPLACEMENT CHARACTER} at the end."
        kinds = {
            column["name"]: column["type"] for column in inspect(gradebook.engine).get_columns("student")
        }
        assert kinds["id"].length is None
        assert gradebook.engine.dialect.driver == "psycopg"
