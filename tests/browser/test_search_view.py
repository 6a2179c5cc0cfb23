"""The search view in JupyterLab, by mouse and by keyboard, against the library's answers."""

import math

from lab import Lab
from live import BOTH, LiveView, open_view
from playwright.sync_api import Page
from runs import MODELS, UNKNOWN, WORDS, small

from decoder_lib import beam_search, generate, rank_continuations

DEPTH = 4


class Search:
    """What the library finds among the continuations of a prompt."""

    def __init__(self, prompt: str, parameters: str, width: int) -> None:
        self.prompt, self.width = prompt, width
        ids, model = WORDS.encode(prompt), MODELS[parameters]
        self.depth = min(DEPTH, model.context_length - len(ids))
        self.rankings = []  # by length: the continuations, the most probable first
        for length in range(1, self.depth + 1):
            continuations, scores = rank_continuations(model, ids, length)
            self.rankings.append(list(map(tuple, continuations.tolist())))
        self.scores = dict(zip(self.rankings[-1], scores.tolist(), strict=True))
        self.beams = [
            [beam.token_ids for beam in beam_search(model, ids, length, width)]
            for length in range(1, self.depth + 1)
        ]
        greedy = tuple(generate(model, ids, self.depth, greedy=True).token_ids)
        self.paths = {
            "greedy": greedy,
            "most probable": self.rankings[-1][0],
            "best in the beam": self.beams[-1][0],
        }

    def place(self, path: tuple[int, ...]) -> int:
        """Among all continuations of this length."""
        return self.rankings[len(path) - 1].index(path) + 1

    @property
    def said(self) -> str:
        """Where greedy stands, and what the beam finds."""
        place = self.place(self.paths["greedy"])
        stands = "comes first" if place == 1 else f"takes place {place:,}"
        sentence = f"Of {7**self.depth:,} continuations, greedy {stands}. A beam of width {self.width} "
        best = self.paths["most probable"]
        held = [best[: length + 1] in beam for length, beam in enumerate(self.beams)]
        if all(held):
            return f"{sentence}finds the most probable one."
        lost = held.index(False) + 1
        tokens = "token stands" if lost == 1 else f"{lost} tokens stand"
        return (
            f"{sentence}finds place {self.place(self.paths['best in the beam']):,}. It has lost the most "
            f"probable one, whose first {tokens} at place {self.place(best[:lost]):,} of {7**lost:,}."
        )

    @property
    def tables(self) -> list:
        """The three paths, and what the beam keeps after each token."""
        ways = [
            [way, WORDS.decode(path), small(math.exp(self.scores[path])), str(self.place(path))]
            for way, path in self.paths.items()
        ]
        rows = []
        for number in range(max(map(len, self.beams))):
            held = [beam[number] if number < len(beam) else None for beam in self.beams]
            cells = [f"{WORDS.decode(path)} (place {self.place(path):,})" if path else "" for path in held]
            rows.append([str(number + 1), *cells])
        lengths = range(1, self.depth + 1)
        heads = [f"{length} token{'s' * (length > 1)}, of {7**length:,}" for length in lengths]
        return [
            [
                f"Three ways to choose among {7**self.depth:,} continuations",
                ["way", "continuation", "probability", "place"],
                *ways,
            ],
            [
                f"What a beam of width {self.width} keeps after each token",
                ["in the beam", *heads],
                *rows,
            ],
        ]

    @property
    def drawn(self) -> list[str]:
        """Some of the words in the tree."""
        greedy, best = self.paths["greedy"], self.paths["most probable"]
        names = ["greedy, most probable"] if greedy == best else ["greedy", "most probable"]
        ends = [
            f"{name}, place {self.place(path):,}" for name, path in zip(names, (greedy, best), strict=False)
        ]
        words = [WORDS.tokens[token_id] for token_id in (*greedy, *best)]
        return [*words, small(math.exp(self.scores[best])), *ends]


def look(view: LiveView, prompt: str, parameters: str, width: int, *notes: str) -> None:
    """The view shows a search."""
    found = Search(prompt, parameters, width)
    view.expect(
        said=found.said,
        problem="",
        tables=found.tables,
        pictures=[f"Tree of continuations of {prompt}. {found.said} The tables below say what it shows."],
        drawn=found.drawn,
        notes=list(notes),
        values={"Prompt": prompt, "Parameters": parameters, "Beam width": str(width)},
    )


@BOTH
def test_every_control(lab: Lab, page: Page, hand) -> None:
    """Bug: the tree of another prompt, decoder or beam than the controls say."""
    view = open_view(lab, page, "search_view()")
    reader = hand(view)
    look(view, "<start> the cat", "untrained", 1)
    for width in (2, 3, 7, 1):
        reader.count("Beam width", width)
        look(view, "<start> the cat", "untrained", width)
    reader.choose("Parameters", "trained")
    look(view, "<start> the cat", "trained", 1)
    reader.write("Prompt", "<start> the dog sat")
    look(view, "<start> the dog sat", "trained", 1)
    reader.write("Prompt", "the bird")
    view.expect(problem=UNKNOWN, said=Search("<start> the dog sat", "trained", 1).said)
    long = " ".join(["<start>", *["the cat"] * 6, "sat"])
    reader.write("Prompt", long)
    look(view, long, "trained", 1, "The context bound of 16 positions leaves room for 2 more.")
    view.expect_all_used()
