"""Sets what a reader wrote into a newer version of the same notebook."""

import copy
import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import nbformat

from coursework.origin import KEY, asked, digest, handed_out, is_answer, name_of, version_of

_ALIKE = 0.5  # from this likeness on, a cell that is gone and one that is new are taken for the same one
_BEFORE = (
    "*The question above has changed. Your earlier answer, which doesn't count any more, was:*\n\n"
    "```python\n{}\n```\n\n*Read the question again, and answer it in its cell.*"
)


@dataclass
class Merged:
    """A newer notebook with a reader's work in it, and how much of each kind was set in.

    answers : the cells for answers that hold the reader's own text.
    outdated : the names of answers whose question has changed; they are shown beside it.
    edited : the course's other cells that the reader had changed.
    own : the cells that the reader had added.
    """

    notebook: Any
    answers: int = 0
    outdated: list[str] = field(default_factory=list)
    edited: int = 0
    own: int = 0

    @property
    def holds_work(self) -> bool:
        """Whether anything that the reader wrote is in it."""
        return bool(self.answers or self.outdated or self.edited or self.own)


def merge(mine: Any, new: Any) -> Merged:
    """The notebook `new` with the reader's work from `mine` in it; neither of them is changed.

    The course's cells are those of `new`, in its order. An answer keeps its place unless its question has
    changed: then it is shown beside the question. A cell of the course's that the reader changed keeps the
    reader's text where the course's text is the same as before; where it isn't, the reader's stands below.
    The reader's own cells follow the cell that they followed before, wherever that is now. Outputs stay with
    the code that made them.
    """
    return _Merging(mine, new).result


class _Merging:
    """One merge.

    kept : the reader's cell for each of the new notebook's, by the new one's name.
    followers : the reader's own cells by the name of the new notebook's cell that they follow; None for
        those above all of them.
    """

    def __init__(self, mine: Any, new: Any) -> None:
        self._mine, self._new = mine, new
        self._of_old = version_of(mine) is None
        self._names: list[str | None] = [name_of(cell, self._of_old) for cell in mine.cells]
        self._places = {str(name_of(cell) or cell.id): cell for cell in new.cells}
        for index, name in enumerate(self._names):
            if name is None and str(mine.cells[index].get("id", "")) in self._places:
                self._names[index] = str(mine.cells[index].id)  # an editor dropped the metadata, not the id
        self._texts = {name: cell.source for name, cell in zip(self._names, mine.cells, strict=True) if name}
        self._keep_one_of_each()
        self._pair_renamed()
        self.result = Merged(copy.deepcopy(new))
        self.result.notebook.cells = []
        self._fill(self._followers())
        self._finish()

    def _keep_one_of_each(self) -> None:
        """Of several copies of a cell the last one that was worked on counts; the others are own cells."""
        for name, count in Counter(name for name in self._names if name).items():
            if count > 1:
                places = [index for index, found in enumerate(self._names) if found == name]
                touched = [index for index in places if self._is_edited(index)]
                for index in places:
                    if index != (touched or places)[-1]:
                        self._names[index] = None

    def _pair_renamed(self) -> None:
        """Find the cells whose name is gone but whose text, only reworded, is there under another name."""
        known = set(filter(None, self._names))
        gone = [index for index, name in enumerate(self._names) if name and name not in self._places]
        fresh = [name for name in self._places if name not in known]
        for index in gone:
            cell = self._mine.cells[index]
            likeness = {
                name: _likeness(cell.source, self._places[name].source)
                for name in fresh
                if self._places[name].cell_type == cell.cell_type
            }
            best = max(likeness, key=likeness.__getitem__, default=None)
            if best is not None and likeness[best] >= _ALIKE:
                self._names[index] = best
                fresh.remove(best)

    def _is_edited(self, index: int) -> bool:
        """Whether the reader changed a cell of the course's."""
        cell, name = self._mine.cells[index], self._names[index]
        if (given := handed_out(cell)) is not None:
            return given != digest(cell.source)
        if re.fullmatch(r"[0-9a-f]{12}(-\d+)?", str(cell.get("id"))):
            return True  # of old, the id was the digest of the text that was handed out, and this isn't it
        # From before cells carried a digest: all that can be compared is the course's text of today.
        new = self._places.get(name or "")
        # Of a text, more likely the course's than the reader's; of code, nobody's word is good enough.
        return cell.cell_type == "code" and (new is None or digest(new.source) != digest(cell.source))

    def _followers(self) -> dict[str | None, list[Any]]:
        followers: dict[str | None, list[Any]] = {}
        anchor: str | None = None
        for index, (name, cell) in enumerate(zip(self._names, self._mine.cells, strict=True)):
            if name in self._places:
                anchor = name
            elif cell.source.strip() and (name is None or self._is_edited(index)):
                followers.setdefault(anchor, []).append(cell)
        return followers

    def _fill(self, followers: dict[str | None, list[Any]]) -> None:
        kept = {name: index for index, name in enumerate(self._names) if name in self._places}
        self._add_own(followers.get(None, []))
        for name, cell in self._places.items():
            if name in kept:
                self._add(cell, kept[name], name)
            else:
                self._append(copy.deepcopy(cell))
            self._add_own(followers.get(name, []))

    def _add(self, new: Any, index: int, name: str) -> None:
        mine, cell = self._mine.cells[index], copy.deepcopy(new)
        private = {key: value for key, value in mine.metadata.items() if key not in (KEY, "nbgrader")}
        cell.metadata.update(private)
        if mine.get("attachments"):  # a picture that the reader put into one of the course's texts
            cell["attachments"] = {**cell.get("attachments", {}), **mine.attachments}
        edited = self._is_edited(index)
        if not edited or digest(mine.source) == digest(new.source):
            self._append(_with_outputs(cell, mine))
            return
        if is_answer(new):
            if self._question_changed(mine, new):
                self._append(cell)
                self._append(_note(f"{name}-before", _BEFORE.format(mine.source.strip("\n"))))
                self.result.outdated.append(name)
                return
            self.result.answers += 1
        else:
            self.result.edited += 1
            given = handed_out(mine)
            reworded = given != digest(new.source) if given is not None else self._was_reworded(mine, new)
            if reworded:
                self._append(cell)
                self._append(self._own(mine))
                return
        cell.source = mine.source
        if cell.cell_type != mine.cell_type:  # the reader turned it into another kind of cell
            cell = copy.deepcopy(mine)
            cell.metadata = nbformat.from_dict({**cell.metadata, **new.metadata})  # type: ignore[no-untyped-call]
            cell["id"] = new.id
        self._append(_with_outputs(cell, mine))

    def _was_reworded(self, mine: Any, new: Any) -> bool:
        """Of a cell that does not say what it was: whether the course's text can't be what it was."""
        return mine.get("id") != new.id or "nbgrader" in mine.metadata

    def _question_changed(self, mine: Any, new: Any) -> bool:
        now = asked(new)
        if now is None:
            return False
        before = asked(mine)
        if before is None and (text := self._texts.get(f"{new.id}-text")) is not None:
            before = digest(text)  # of old: the question as it stands in the reader's own notebook
        return before is not None and before != now

    def _add_own(self, cells: list[Any]) -> None:
        for cell in cells:
            self.result.own += 1
            self._append(self._own(cell))

    def _own(self, cell: Any) -> Any:
        """A cell as a reader's own: the course's name on it would make it the course's again."""
        cell = copy.deepcopy(cell)
        for key in (KEY, "nbgrader"):
            cell.metadata.pop(key, None)
        if str(cell.get("id", "")) in self._places:
            cell["id"] = f"own-{cell.id}"[:60]
        return cell

    def _append(self, cell: Any) -> None:
        self.result.notebook.cells.append(cell)

    def _finish(self) -> None:
        """Keep what the notebook itself says, its kernel for one, and give each cell an id of its own."""
        notebook = self.result.notebook
        notebook.metadata = nbformat.from_dict(  # type: ignore[no-untyped-call]
            {**self._mine.metadata, KEY: self._new.metadata[KEY]}
        )
        taken = {str(cell.id) for cell in self._new.cells}
        for number, cell in enumerate(notebook.cells):
            if KEY in cell.metadata and cell.get("id") in taken:
                taken.discard(cell.id)
            else:
                used = {str(other.get("id")) for other in notebook.cells if other is not cell}
                while not cell.get("id") or cell.id in used:
                    cell["id"] = f"{str(cell.get('id') or 'own')[:50]}-{number}"


def _with_outputs(cell: Any, mine: Any) -> Any:
    """A code cell with the outputs of the reader's, if it is the same code."""
    if cell.cell_type == mine.cell_type == "code" and digest(cell.source) == digest(mine.source):
        cell.outputs, cell.execution_count = copy.deepcopy(mine.outputs), mine.execution_count
    return cell


def _likeness(old: str, new: str) -> float:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE:
        return 0.0  # an upper bound, quickly found
    return matcher.ratio()


def _note(cell_id: str, text: str) -> Any:
    data = {"cell_type": "markdown", "id": cell_id[:64], "metadata": {}, "source": text}
    return nbformat.from_dict(data)  # type: ignore[no-untyped-call]
