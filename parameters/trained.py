"""Train the lesson decoder's twin: the same shape and vocabulary, on the sentences of `sentences.txt`.

Run as `python -m parameters.trained`; needs torch.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  torch's own abbreviation
from torch import Tensor

from decoder_lib.parameters import DATA, Config, Parameters, draw_parameters, fingerprint, save_parameters
from decoder_lib.vocabulary import LESSON_VOCABULARY
from parameters.acceptance import Decoder, run
from parameters.torch_decoder import flatten, log_probabilities, split, unflatten

SENTENCES = Path(__file__).with_name("sentences.txt")
Sentence = tuple[int, ...]

SEED = 0  # of the draw
SCALE = 0.1  # of the draw, near enough to zero for training to start from even shares
HELD_OUT = slice(2, None, 5)  # lines that training does not see
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 0.2
STEPS = 3000
PATIENCE = 200  # steps without a better held-out loss before training stops
DRAW_MARGIN = 1e-5  # from each draw of the seeds 0 to 100 to the nearest edge of its token's interval
NO_TARGET = -100  # torch's mark for a position that has no target

START, END = LESSON_VOCABULARY.id("<start>"), LESSON_VOCABULARY.id("<end>")
THE_CAT = tuple(LESSON_VOCABULARY.encode("<start> the cat"))
THE_CAT_SAT = tuple(LESSON_VOCABULARY.encode("<start> the cat sat"))


@dataclass(frozen=True)
class Training:
    """The parameters of least held-out loss, their step, and the losses there in nats a token."""

    parameters: Parameters
    step: int
    training_loss: float
    held_out_loss: float


def read_sentences() -> list[Sentence]:
    """Every line as ids, from `<start>` to `<end>`; a sentence's frequency is how often it stands there."""
    lines = SENTENCES.read_text().splitlines()
    return [(START, *LESSON_VOCABULARY.encode(line), END) for line in lines]


def split_sentences(sentences: list[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Set every fifth line aside: (for training, held out).

    Equal sentences stand together in the file, so both parts have them in much the same shares.
    """
    held_out = sentences[HELD_OUT]
    kept = list(sentences)
    del kept[HELD_OUT]
    return kept, held_out


def batch(sentences: list[Sentence]) -> tuple[Tensor, Tensor]:
    """Inputs and targets (B, T), filled up behind each sentence's end."""
    longest = max(map(len, sentences)) - 1
    inputs = torch.full((len(sentences), longest), END)  # (B, T)
    targets = torch.full((len(sentences), longest), NO_TARGET)  # (B, T)
    for row, ids in enumerate(sentences):
        inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])
        targets[row, : len(ids) - 1] = torch.tensor(ids[1:])
    return inputs, targets


def mean_loss(vector: Tensor, sentences: tuple[Tensor, Tensor], config: Config) -> Tensor:
    """Cross-entropy in nats a token."""
    inputs, targets = sentences
    log_shares = log_probabilities(split(vector, config), inputs, config)  # (B, T, V)
    return F.nll_loss(log_shares.flatten(0, 1), targets.flatten(), ignore_index=NO_TARGET)


def train(training: list[Sentence], held_out: list[Sentence], config: Config) -> Training:
    """AdamW on all training sentences at once, stopped early by the held-out loss."""
    seen, unseen = batch(training), batch(held_out)
    start = flatten(draw_parameters(config, SEED, SCALE), config)
    vector = torch.from_numpy(start).requires_grad_()
    optimizer = torch.optim.AdamW([vector], lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    best = (np.inf, np.inf, 0, start)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = mean_loss(vector, seen, config)
        with torch.no_grad():
            held_out_loss = mean_loss(vector, unseen, config).item()
        if held_out_loss < best[0]:
            best = (held_out_loss, loss.item(), step, vector.detach().numpy().copy())
        if step - best[2] >= PATIENCE:
            break
        loss.backward()
        optimizer.step()
    return Training(unflatten(best[3], config), best[2], best[1], best[0])


def prefix_entropy(sentences: list[Sentence]) -> float:
    """Entropy of the next token given its whole prefix, in nats a token: the least loss these allow."""
    after: Counter[tuple[int, ...]] = Counter()
    before: Counter[tuple[int, ...]] = Counter()
    for ids in sentences:
        for end in range(1, len(ids)):
            after[ids[: end + 1]] += 1
            before[ids[:end]] += 1
    return sum(n * log(before[ids[:-1]] / n) for ids, n in after.items()) / before.total()


def bigram_loss(training: list[Sentence], held_out: list[Sentence], n_vocab: int) -> float:
    """Held-out loss in nats a token of counted pairs, with one added to every count."""
    counts = np.ones((n_vocab, n_vocab))
    for ids in training:
        np.add.at(counts, (ids[:-1], ids[1:]), 1)
    log_shares = np.log(counts / counts.sum(1, keepdims=True))
    return -float(np.mean([log_shares[a, b] for ids in held_out for a, b in pairwise(ids)]))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=DATA / "trained.npz")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # the order of the sums, and so the last bits, stay the same
    config = Config(n_vocab=len(LESSON_VOCABULARY))
    sentences = read_sentences()
    training, held_out = split_sentences(sentences)
    trained = train(training, held_out, config)
    bigram = bigram_loss(training, held_out, config.n_vocab)
    counts = f"{len(training)} for training, {len(held_out)} held out; {len(set(sentences))} different"
    print(f"sentences            {counts}")
    print(f"stopped at step      {trained.step}")
    print(f"training loss        {trained.training_loss:.4f} nats a token")
    print(f"  prefix entropy     {prefix_entropy(training):.4f}, the least possible")
    print(f"held-out loss        {trained.held_out_loss:.4f} nats a token")
    print(f"  bigram baseline    {bigram:.4f}")
    print(f"  even shares        {log(config.n_vocab):.4f}")

    decoder = Decoder(trained.parameters, config)
    print("\nshares in the corpus, and the decoder's")
    for prefix in ((START,), THE_CAT[:2], THE_CAT, THE_CAT_SAT, (*THE_CAT_SAT, THE_CAT[1])):
        after = Counter(ids[len(prefix)] for ids in sentences if ids[: len(prefix)] == prefix)
        print(LESSON_VOCABULARY.decode(prefix))
        for token, share in enumerate(decoder(prefix)):
            print(f"  {LESSON_VOCABULARY.tokens[token]:<8} {after[token] / after.total():.4f} {share:.4f}")
    greedy = run(decoder, THE_CAT, 12, END)
    print(f"\ngreedy               {LESSON_VOCABULARY.decode(greedy.tokens)} ({greedy.finish})")
    runs = [run(decoder, THE_CAT, 12, END, seed) for seed in range(101)]
    known = sum((*THE_CAT, *one.tokens) in set(sentences) for one in runs)
    ended = sum(one.tokens[-1] == END for one in runs)
    print(f"seeds 0 to 100       {ended} runs end within 12 tokens, {known} are sentences of the corpus")
    draws = min(one.margin for one in [*runs, *(run(decoder, (START,), 12, END, s) for s in range(101))])
    print(f"least draw margin    {draws:.1e}, runs from `<start>` among them")

    accepted = {
        "greedy continues `the cat` by `sat <end>`": LESSON_VOCABULARY.decode(greedy.tokens) == "sat <end>",
        "an end right after `the cat` is improbable": decoder(THE_CAT)[END] < 0.01,
        "an end after `the cat sat` is probable": decoder(THE_CAT_SAT)[END] > 0.5,
        "the held-out loss is below the bigrams'": trained.held_out_loss < bigram,
        "no draw of these runs is close to an edge": draws >= DRAW_MARGIN,
    }
    failed = [name for name, holds in accepted.items() if not holds]
    if failed:
        print(f"\n{options.output} not written, for these fail: {'; '.join(failed)}", file=sys.stderr)
        return 1
    save_parameters(options.output, trained.parameters, config)
    print(f"\nwrote {options.output}, fingerprint {fingerprint(trained.parameters)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
