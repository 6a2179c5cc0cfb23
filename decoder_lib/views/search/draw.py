"""The tree of continuations, the paths of greedy and of the most probable one, and what a beam keeps."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import ipywidgets as widgets
from matplotlib.axes import Axes

from decoder_lib.plots import plot_paths, plot_token_rows
from decoder_lib.views.controls import bind, control, decoder_control, prompt_control, row
from decoder_lib.views.markup import page, paragraph, small, table
from decoder_lib.views.search.compute import Level, Node, Tree, tree_of
from decoder_lib.views.situation import Situation
from decoder_lib.views.state import State
from decoder_lib.views.view import View, state_of
from decoder_lib.vocabulary import Vocabulary

WIDEST_BEAM = 12  # unless a wider one is set from the start

_ROOT, _BOX, _GAP, _HIGH, _PITCH, _TOP = 56, 152, 28, 26, 34, 52  # pixels
_ENDS = 225  # for the words behind the last column
_LONGEST = 9  # letters of a word that a box has room for

_STYLE = """<style>
.gen .tree-legend { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; padding: 0;
  margin: .5rem 0; }
.gen .tree-legend svg { vertical-align: middle; margin-right: .4rem; }
.gen .tree-beam td { white-space: nowrap; }
.gen svg.tree text { fill: currentColor; font-size: 13px; }
.gen svg.tree .small { font-size: 12px; fill: var(--jp-ui-font-color2, #616161); }
.gen svg.tree .number { font-size: 12px; font-variant-numeric: tabular-nums; text-anchor: end; }
.gen svg.tree .strong { font-weight: 700; }
.gen svg .box { fill: var(--jp-layout-color1, #fff); stroke: var(--jp-ui-font-color2, #616161); }
.gen svg .box.kept { stroke: currentColor; stroke-width: 2.4; }
.gen svg .badge { fill: currentColor; }
.gen svg .badge-number, .gen svg.tree .badge-number { fill: var(--jp-layout-color1, #fff); font-size: 11px;
  font-weight: 700; text-anchor: middle; }
.gen svg .cross { stroke: currentColor; stroke-width: 1.8; }
.gen svg .edge { fill: none; stroke: var(--jp-ui-font-color2, #616161); shape-rendering: crispEdges; }
.gen svg .greedy { fill: none; stroke: currentColor; stroke-width: 3.2; }
.gen svg .best { fill: none; stroke: currentColor; stroke-width: 2.4; stroke-dasharray: 6 3.5; }
</style>"""


class SearchView(View):
    """The tree of continuations, the paths through it, and what a beam of some width keeps."""

    name = "search view"

    def controls(self) -> Sequence[widgets.Widget]:
        """The prompt, the decoder and the beam's width."""
        # Not a slider: JupyterLab takes the arrow keys from it, and its handle has no name to be read out.
        width = control(
            widgets.BoundedIntText,
            "Beam width",
            "How many partial continuations the search keeps side by side; 1 is greedy selection",
            "10.5em",
            min=1,
            max=WIDEST_BEAM,
        )

        def limit(situation: Situation) -> None:
            width.max = max(width.max, situation.beam_width)

        bind(self.state, width, "beam_width", self.complain, adjust=limit)
        prompt = prompt_control(self.state, self.complain)
        return [row([prompt, decoder_control(self.state, self.complain), width])]

    def sentence(self, situation: Situation) -> str:
        """The place of the greedy continuation, and whether the beam finds the most probable one."""
        return tree_of(situation).sentence

    def drawing(self, situation: Situation) -> str:
        """The tree, and below it the paths and the beam as tables."""
        tree, words = tree_of(situation), situation.words
        if not tree.levels:
            return page(paragraph(tree.note))
        return page(
            _STYLE,
            paragraph(tree.note) if tree.note else "",
            _legend(),
            _drawn(tree, words, words.decode(situation.prompt)),
            _paths(tree, words),
            _beam(tree, words),
            '<p class="quiet">Boxes show the probability of all tokens up to there, under the decoder\'s own '
            "shares: temperature and seed make no difference. An end token counts as any other.</p>",
        )

    def picture(self, situation: Situation) -> Axes:
        """The paths of the three ways to choose, those that agree drawn as one."""
        tree = tree_of(situation)
        if not tree.levels:
            return plot_token_rows({"prompt": [situation.words.tokens[i] for i in situation.prompt]})
        names: dict[tuple[int, ...], list[str]] = {}
        for name, node in tree.paths.items():
            names.setdefault(node.token_ids, []).append(name)
        paths = {", ".join(said): token_ids for token_ids, said in names.items()}
        return plot_paths(situation.decoder.model, situation.prompt, paths, situation.words)


def search_view(state: State | None = None, **settings: Any) -> View:
    """A live view of the tree of continuations, for the last line of a cell.

    state : shared with other views; a new one is made if none is given.
    settings : what to set in it, see `State` and `Situation`. ValueError outside the controls' ranges.
    """
    return SearchView(state_of(state, settings))


def _legend() -> str:
    """A key to the lines and frames."""
    frame = '<rect class="box kept" x="2" y="2" width="24" height="14" rx="4"/>'
    samples = (
        ('<path class="greedy" d="M0 9H28"/>', "path of greedy selection"),
        ('<path class="best" d="M0 9H28"/>', "path of the most probable continuation"),
        (frame + _badge(4, 9, "1"), "kept by the beam, and its place there"),
        (_cross(14, 9), "on one of the paths, and no longer in the beam"),
    )
    items = (
        f'<li><svg width="28" height="18" aria-hidden="true">{mark}</svg>{escape(said)}</li>'
        for mark, said in samples
    )
    return f'<ul class="tree-legend">{"".join(items)}</ul>'


def _drawn(tree: Tree, words: Vocabulary, prompt: str) -> str:
    """The tree as a picture; the tables say the same in words."""
    rows = 1 + max(node.row for level in tree.levels for node in level.nodes)
    width = _left(tree.depth) + _BOX + _ENDS
    height = _TOP + rows * _PITCH
    said = f"Tree of continuations of {prompt}. {tree.sentence} The tables below say what it shows."
    root = f'<text x="0" y="{_middle(0) + 4}" class="strong">prompt</text>'
    edges = (_edge(tree, node) for level in tree.levels for node in level.nodes)
    nodes = (_node(node, words) for level in tree.levels for node in level.nodes)
    heads = (_head(level, length) for length, level in enumerate(tree.levels, 1))
    ends = (_end(tree, node) for node in tree.levels[-1].nodes)
    return (
        f'<div class="scroll" tabindex="0"><svg class="tree" role="img" aria-label="{escape(said)}" '
        f'width="{width}" height="{height}">{root}{"".join((*edges, *nodes, *heads, *ends))}</svg></div>'
    )


def _left(length: int) -> int:
    """The left edge of the boxes of a length, in pixels."""
    return _ROOT + _GAP + (length - 1) * (_BOX + _GAP)


def _middle(row: int) -> int:
    """The middle of a row, in pixels from the top."""
    return _TOP + row * _PITCH + _HIGH // 2


def _head(level: Level, length: int) -> str:
    """The heading of a column: how many prefixes exist, and how many of them are not drawn."""
    left_out = f"{level.not_drawn:,} not drawn" if level.not_drawn else "all drawn"
    tokens = "1 token" if length == 1 else f"{length} tokens"
    return (
        f'<text x="{_left(length)}" y="14" class="strong">{tokens}: {level.count:,}</text>'
        f'<text x="{_left(length)}" y="32" class="small">{left_out}</text>'
    )


def _edge(tree: Tree, node: Node) -> str:
    """The line from the node's parent; that of a marked path is heavy, one beside the other where both go."""
    length = len(node.token_ids)
    parent = tree.levels[length - 2].node(node.token_ids[:-1]).row if length > 1 else 0
    start = _left(length - 1) + _BOX if length > 1 else _ROOT
    kinds = [kind for kind, on_it in (("greedy", node.greedy), ("best", node.best)) if on_it] or ["edge"]
    lines = []
    for number, kind in enumerate(kinds):
        aside = 5 * number - 5 * (len(kinds) - 1) // 2
        turn = start + _GAP // 2 - aside
        top, bottom = _middle(parent) + aside, _middle(node.row) + aside
        lines.append(f'<path class="{kind}" d="M{start} {top}H{turn}V{bottom}H{_left(length)}"/>')
    return "".join(lines)


def _node(node: Node, words: Vocabulary) -> str:
    """A box: the place in the beam, the last token, and the probability of all tokens up to there."""
    left, middle = _left(len(node.token_ids)), _middle(node.row)
    word = words.tokens[node.token_ids[-1]]
    short = word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"
    marked = node.greedy or node.best
    mark = ""
    if node.kept is not None:
        mark = _badge(left + 6, middle, str(node.kept))
    elif marked:
        mark = _cross(left + 14, middle)
    return (
        f'<rect class="box{"" if node.kept is None else " kept"}" x="{left}" y="{middle - _HIGH // 2}" '
        f'width="{_BOX}" height="{_HIGH}" rx="6"/>{mark}'
        f'<text x="{left + 27}" y="{middle + 5}"{" class=strong" if marked else ""}>{escape(short)}</text>'
        f'<text x="{left + _BOX - 7}" y="{middle + 5}" class="number">{small(node.probability)}</text>'
    )


def _badge(left: int, middle: int, number: str) -> str:
    return (
        f'<rect class="badge" x="{left}" y="{middle - 8}" width="16" height="16" rx="4"/>'
        f'<text class="badge-number" x="{left + 8}" y="{middle + 4}">{number}</text>'
    )


def _cross(middle_x: int, middle: int) -> str:
    x, y = middle_x - 5, middle - 5
    return f'<path class="cross" d="M{x} {y}l10 10m0 -10l-10 10"/>'


def _end(tree: Tree, node: Node) -> str:
    """The words behind a continuation: its place among all, and whose path ends there."""
    names = [name for name, end in tree.paths.items() if end == node and name != "best in the beam"]
    x, y = _left(tree.depth) + _BOX + 10, _middle(node.row) + 5
    told = ", ".join([*names, f"place {node.place:,}"])
    return f'<text x="{x}" y="{y}" class="{"strong" if names else "small"}">{told}</text>'


def _paths(tree: Tree, words: Vocabulary) -> str:
    """A table of where the three paths end."""
    rows = (
        (name, words.decode(node.token_ids), small(node.probability), node.place)
        for name, node in tree.paths.items()
    )
    caption = f"Three ways to choose among {tree.count:,} continuations"
    return table(caption, ("way", "continuation", "probability", "place"), rows)


def _beam(tree: Tree, words: Vocabulary) -> str:
    """A table of what the beam keeps, one column per round."""
    kept = [level.kept for level in tree.levels]

    def cell(held: Sequence[Node], number: int) -> str:
        if number >= len(held):
            return ""
        node = held[number]
        return f"{words.decode(node.token_ids)} (place {node.place:,})"

    rows = ((number + 1, *(cell(held, number) for held in kept)) for number in range(max(map(len, kept))))
    heads = ["in the beam"]
    for length, level in enumerate(tree.levels, 1):
        heads.append(f"{length} token{'s' if length > 1 else ''}, of {level.count:,}")
    kept_after = table(f"What a beam of width {tree.beam_width} keeps after each token", heads, rows)
    return f'<div class="tree-beam">{kept_after}</div>'
