"""All continuations of a prompt: the tree of `rank_continuations`, a pass for each, and all in one batch."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.tables import Table, ratios, verdict
from benchmarks.decoding.timing import interleave, say
from decoder_lib import CausalLanguageModel, load, rank_continuations, sequence_log_probability
from decoder_lib.transformer import forward, log_softmax, unembed

PROMPT = [0, 1, 2]
LENGTH = 4
ROUNDS = 5
TOLERANCE = 1e-12  # float64

TREE = "rank_continuations"
EACH = "a pass for each (sequence_log_probability)"
BATCH = "all in one batch"
TARGETS = {EACH: 200.0, BATCH: 10.0}


def tables(rounds: int | None) -> list[Table]:
    """Equal scores first, then the seconds."""
    say("tree")
    model = load("lesson")
    ids, scores = rank_continuations(model, PROMPT, LENGTH)  # (N, length), (N,)
    runs = {
        TREE: lambda: rank_continuations(model, PROMPT, LENGTH),
        EACH: lambda: [sequence_log_probability(model, PROMPT, row) for row in ids],
        BATCH: lambda: scores_in_one_batch(model, ids),
    }
    agreement = Table(
        f"Agreement, {len(ids):,} continuations", ("", "largest difference of log probabilities", "")
    )
    for name in (EACH, BATCH):
        difference = float(np.abs(np.array(runs[name]()) - scores).max())
        agrees = difference <= TOLERANCE
        agreement.add(name, f"{difference:.1e} nats", verdict(agrees))
        if not agrees:
            del runs[name]

    seconds = interleave(runs, rounds or ROUNDS)
    title = f"All {len(ids):,} continuations of {LENGTH} tokens, the lesson's decoder, float64"
    return [agreement, ratios(title, seconds, TARGETS)]


def scores_in_one_batch(model: CausalLanguageModel, continuations: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log probabilities in nats of N continuations (N, length), every one read from its prompt on: (N,)."""
    count, length = continuations.shape
    prompts = np.tile(PROMPT, (count, 1))
    read = np.hstack([prompts, continuations[:, :-1]])  # (N, T): the last token is scored, never read
    hidden = forward(read, model.parameters, model.config).reshape(*read.shape, -1)  # (N, T, d)
    read_after = hidden[:, -length:].reshape(count * length, -1)  # (N length, d)
    rows = unembed(read_after, model.parameters["wte"].T)  # (N length, V)
    chosen = log_softmax(rows)[np.arange(count * length), continuations.ravel()]  # (N length,)
    return chosen.reshape(count, length).sum(axis=1)
