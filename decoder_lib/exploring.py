"""The old name of the computing side of `decoder_lib.views`."""

from decoder_lib.plots.moved import answer

_VIEWS = "decoder_lib.views"
_TOPICS = {
    "steps": "generation",
    "chain": "scoring",
    "tree": "search",
    "cached": "cache",
    "rounds": "batch",
    "windows": "truncation",
}
answer(
    __name__,
    {old: f"{_VIEWS}.{topic}.compute" for old, topic in _TOPICS.items()}
    | {same: f"{_VIEWS}.{same}" for same in ("runs", "situation", "state")},
)
