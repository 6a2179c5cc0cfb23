"""CSV files of other programs: read as they come, and written back with only the filled-in rows changed."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from course.grading.errors import GradingError

_MARK = "\ufeff"  # some programs need it to see that a file is UTF-8


@dataclass
class Sheet:
    """A CSV file's rows, the first of them its header, and how the file was written."""

    rows: list[list[str]]
    delimiter: str = ","
    newline: str = "\n"
    mark: str = ""
    _as_read: list[tuple[list[str], str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Sheet":
        """Read a file.

        Raises GradingError if it cannot be opened or is no CSV in UTF-8 with a header.
        """
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            raise GradingError(f"{path} is not in UTF-8. Save it as 'CSV UTF-8'.") from None
        except OSError as error:
            raise GradingError(f"{path} cannot be read: {error.strerror}.") from None
        mark, text = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
        lines = io.StringIO(text, newline="").readlines()
        header = lines[0] if lines else ""
        delimiter = max(",;\t", key=header.count)
        as_read: list[tuple[list[str], str]] = []
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        done = 0
        try:
            for row in reader:
                as_read.append((row, "".join(lines[done : reader.line_num])))
                done = reader.line_num
        except csv.Error as error:
            raise GradingError(f"{path} is no CSV: line {reader.line_num}, {error}.") from None
        if not as_read or len(as_read[0][0]) < 2:
            raise GradingError(f"{path} has no header of at least two columns.")
        newline = "\r\n" if header.endswith("\r\n") else "\n"
        return cls([list(row) for row, _ in as_read], delimiter, newline, mark, as_read)

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [name.strip() for name in self.rows[0]]

    def column(self, *names: str) -> int | None:
        """Where the first of these columns stands that there is; case does not matter."""
        header = [name.casefold() for name in self.header]
        return next((header.index(name.casefold()) for name in names if name.casefold() in header), None)

    def cell(self, row: list[str], *names: str) -> str:
        """What a row has in the first of these columns that there is; nothing if there is none."""
        index = self.column(*names)
        return row[index].strip() if index is not None and index < len(row) else ""

    def to_bytes(self) -> bytes:
        """The file; a row that was not changed is written as it was read."""
        parts = [self.mark]
        for index, row in enumerate(self.rows):
            read, raw = self._as_read[index] if index < len(self._as_read) else ([], "")
            parts.append(raw if row == read and raw else self._written(row))
        return "".join(parts).encode()

    def _written(self, row: list[str]) -> str:
        file = io.StringIO(newline="")
        # The writer quotes what is in its own line end, and a carriage return ends a line for every reader.
        csv.writer(file, delimiter=self.delimiter, lineterminator="\r\n").writerow(row)
        return file.getvalue().removesuffix("\r\n") + self.newline
