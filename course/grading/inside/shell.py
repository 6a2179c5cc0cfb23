"""Runs cells with IPython, and keeps what they display as a notebook's outputs."""

import base64
import io
import json
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

Output = dict[str, Any]


class Recorder:
    """The outputs of the cell at work, in order, up to a number of bytes.

    most : bytes that are kept; what comes after is left out, with a line that says so.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.start()

    def start(self) -> None:
        """Begin a new cell."""
        self.outputs: list[Output] = []
        self._size, self._full, self._clearing = 0, False, False

    def write(self, stream: str, text: str) -> None:
        """Add to a stream; what follows on the same stream is one output, as in a notebook."""
        room = self._room(len(text))
        if not room:
            return
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == stream:
            last["text"] += text[:room]
        else:
            self.outputs.append({"output_type": "stream", "name": stream, "text": text[:room]})

    def add(self, output: Output) -> None:
        """Add a whole output, or none of it where it is too large."""
        size = len(json.dumps(output, default=str))
        if self._room(size) == size:
            self.outputs.append(output)

    def clear(self, wait: bool) -> None:
        """Forget what there is; if `wait`, when the next output comes."""
        self._clearing = wait
        if not wait:
            self.outputs.clear()

    def _room(self, size: int) -> int:
        """How much of a piece of this size is kept."""
        if self._clearing:
            self.clear(wait=False)
        if self._full:
            return 0
        room = min(size, self.most - self._size)
        self._size += room
        if room < size:
            self._full = True
            note = f"\n[Output beyond {self.most / 2**20:g} MB was left out.]\n"
            self.outputs.append({"output_type": "stream", "name": "stderr", "text": note})
            return 0
        return room


class _Stream(io.TextIOBase):
    """Standard output or standard error of a cell."""

    encoding = "utf-8"

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder, self._name = recorder, name

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._recorder.write(self._name, text)
        return len(text)

    def writable(self) -> bool:
        return True


class _Publisher(DisplayPublisher):
    recorder: Recorder

    def publish(self, data: Any, metadata: Any = None, *others: Any, **named: Any) -> None:
        """See DisplayPublisher.publish. A display that is updated is shown where the update comes."""
        output = {"output_type": "display_data", "data": _texts(data), "metadata": metadata or {}}
        self.recorder.add(output)

    def clear_output(self, wait: bool = False) -> None:
        """See DisplayPublisher.clear_output."""
        self.recorder.clear(wait)


class _Formatter(DisplayFormatter):
    in_words = False

    def format(self, obj: Any, include: Any = None, exclude: Any = None) -> Any:
        """What is displayed: drawn, or in words alone."""
        if self.in_words:
            include = {"text/plain"}
        return super().format(obj, include, exclude)  # type: ignore[no-untyped-call]


class _Hook(DisplayHook):
    recorder: Recorder

    def write_output_prompt(self) -> None:
        """A notebook has no prompt in its output."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Keep the value of a cell's last line."""
        self.recorder.add(
            {
                "output_type": "execute_result",
                "data": _texts(format_dict),
                "metadata": md_dict or {},
                "execution_count": self.prompt_count,
            }
        )

    def finish_displayhook(self) -> None:
        """There is no prompt to end."""


class Shell(InteractiveShell):
    """IPython without a terminal or a kernel: magics, plots and displays work as in a notebook."""

    display_pub_class: Any = Type(_Publisher)
    displayhook_class: Any = Type(_Hook)

    def __init__(self, most: int) -> None:
        settings = Config()
        settings.HistoryManager.enabled = False  # a file and a thread
        settings.InteractiveShell.colors = "nocolor"
        settings.InteractiveShell.cache_size = 1000
        super().__init__(config=settings)  # type: ignore[no-untyped-call]
        self.recorder = Recorder(most)
        publisher: Any = self.display_pub
        hook: Any = self.displayhook
        publisher.recorder = hook.recorder = self.recorder
        self.streams = _Stream(self.recorder, "stdout"), _Stream(self.recorder, "stderr")
        self.system: Any = self.system_piped  # its output belongs into the notebook

    def init_display_formatter(self) -> None:
        """See InteractiveShell.init_display_formatter."""
        self._formatter = self.display_formatter = _Formatter(parent=self)
        self.configurables.append(self._formatter)  # type: ignore[arg-type]

    def enable_gui(self, gui: Any = None) -> None:
        """There is no event loop to join."""

    def ask_exit(self) -> None:
        """`exit` in a cell ends nothing, as in a notebook that is run from top to bottom."""

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        """Keep an error as a notebook does."""
        try:
            message = str(evalue)
        except Exception:
            message = ""
        self.recorder.add(
            {
                "output_type": "error",
                "ename": str(getattr(etype, "__name__", etype)),
                "evalue": message,
                "traceback": [str(line) for line in stb],
            }
        )

    def run(self, source: str, *, in_words: bool = False) -> list[Output]:
        """Run one cell; its outputs.

        in_words : what it displays is kept as text only, and not drawn.
        """
        self.recorder.start()
        self._formatter.in_words = in_words
        self.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        return self.recorder.outputs


def _texts(bundle: Any) -> dict[str, Any]:
    """A MIME bundle as a notebook file holds it: pictures in base64."""
    return {
        str(kind): base64.b64encode(data).decode() if isinstance(data, bytes) else data
        for kind, data in dict(bundle).items()
    }
