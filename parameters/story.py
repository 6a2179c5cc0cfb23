"""Train the story model: a decoder of words, on stories that `story_grammar.py` writes.

Run as `python -m parameters.story`; needs torch.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import cos, exp, log, pi
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  torch's own abbreviation

from decoder_lib.model import CausalLanguageModel
from decoder_lib.parameters import DATA, Config, Parameters, draw_parameters, fingerprint, save_parameters
from decoder_lib.vocabulary import LESSON_VOCABULARY, Vocabulary
from parameters.story_grammar import Story, stories
from parameters.torch_decoder import flatten, log_probabilities, split, unflatten
from parameters.trained import Sentence, batch, bigram_loss, mean_loss

STORIES = 80_000  # written for training and for holding out, equal ones among them
SEED = 0  # of the stories, of the decoder's draw and of the batches
SHAPE = {"context_length": 64, "n_layers": 3, "n_heads": 4, "d_model": 48}
SCALE = 0.1  # of the draw, near enough to zero for training to start from even shares
STEPS = 2500
ROWS = 64  # of a batch, each as long as the context
LEARNING_RATE = (
    4e-3  # the highest; it rises to it over WARM_UP steps, then falls along a cosine to a hundredth
)
WARM_UP = 100
WEIGHT_DECAY = 0.1
LARGEST_GRADIENT = 1.0  # a longer one is shortened to this norm

THE_CAT = "<start> the cat sat on the"
LAST = "<start> the dog ran and ran . then it was tired . it slept on the floor ."
REPEATED = "<start> the dog ran"


@dataclass(frozen=True)
class Corpus:
    """The stories as ids from `<start>` to `<end>`, in two parts that have no text in common.

    grammar_loss : what the held-out stories' choices cost the grammar itself, in nats a token. No decoder
        can be expected to do better.
    """

    vocabulary: Vocabulary
    training: list[Sentence]
    held_out: list[Sentence]
    grammar_loss: float


def write_corpus() -> Corpus:
    """Let the grammar write, and set the stories aside that are held out."""
    written = list(islice(stories(SEED), STORIES))
    seen = [story for story in written if not story.held_out]
    unseen = [story for story in written if story.held_out]
    *first, end = LESSON_VOCABULARY.tokens  # so that ids of the lesson's words mean the same words here
    others = {word for story in seen for word in story.text.split()} - set(first)
    vocabulary = Vocabulary((*first, *sorted(others), end))
    ids = {token: number for number, token in enumerate(vocabulary.tokens)}

    def encode(story: Story) -> Sentence:
        return tuple(ids[word] for word in ("<start>", *story.text.split(), "<end>"))

    held_out = list(map(encode, unseen))
    predicted = sum(len(one) - 1 for one in held_out)
    grammar_loss = -sum(story.log_probability for story in unseen) / predicted
    return Corpus(vocabulary, list(map(encode, seen)), held_out, grammar_loss)


def train(training: Sequence[Sentence], config: Config) -> Parameters:
    """AdamW on windows of one long row of stories; the parameters after the last step, float32.

    Half of the windows begin where a story does and half somewhere behind, so that the decoder learns every
    position, what follows an end, and to read a prefix that has lost its beginning.
    """
    row = torch.tensor([token for ids in training for token in ids])  # (N,)
    length = config.context_length
    starts = np.cumsum([0, *map(len, training)])  # (stories + 1,)
    starts = starts[starts < len(row) - 2 * length]
    rng = np.random.default_rng(SEED)
    first_draw = flatten(draw_parameters(config, SEED, SCALE), config)
    vector = torch.from_numpy(first_draw).float().requires_grad_()
    optimizer = torch.optim.AdamW([vector], betas=(0.9, 0.99), weight_decay=WEIGHT_DECAY)
    for step in range(STEPS):
        fallen = 0.01 + 0.99 * (1 + cos(pi * step / STEPS)) / 2
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * fallen * min(1.0, (step + 1) / WARM_UP)
        first = rng.choice(starts, ROWS)  # (B,)
        first[::2] += rng.integers(length, size=ROWS // 2)
        window = row[torch.from_numpy(first)[:, None] + torch.arange(length + 1)]  # (B, T + 1)
        log_shares = log_probabilities(split(vector, config), window[:, :-1], config)  # (B, T, V)
        loss = F.nll_loss(log_shares.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([vector], LARGEST_GRADIENT)
        optimizer.step()
        if step % 250 == 0:
            print(f"step {step:<5} loss   {loss.item():.4f}", flush=True)
    return unflatten(vector.detach().numpy(), config)


def decoder_loss(parameters: Parameters, config: Config, sentences: Sequence[Sentence]) -> float:
    """Loss in nats a token, of stories that are each read on their own."""
    vector = torch.from_numpy(flatten(parameters, config))
    total, predicted = 0.0, 0
    with torch.no_grad():
        for begin in range(0, len(sentences), 500):
            some = list(sentences[begin : begin + 500])
            tokens = sum(len(one) - 1 for one in some)
            total += mean_loss(vector, batch(some), config).item() * tokens
            predicted += tokens
    return total / predicted


def unigram_loss(training: Sequence[Sentence], held_out: Sequence[Sentence], n_vocab: int) -> float:
    """Held-out loss in nats a token of counted tokens, with one added to every count."""
    counts = Counter(token for ids in training for token in ids[1:])
    shares = np.array([counts[token] + 1.0 for token in range(n_vocab)])
    log_shares = np.log(shares / shares.sum())
    return -float(np.mean([log_shares[token] for ids in held_out for token in ids[1:]]))


def report(corpus: Corpus, parameters: Parameters, config: Config) -> dict[str, bool]:
    """Print the losses, runs and shares; what a shipped decoder must satisfy, and whether this one does."""
    held_out_loss = decoder_loss(parameters, config, corpus.held_out)
    bigram = bigram_loss(corpus.training, corpus.held_out, config.n_vocab)
    losses = {
        "even shares": log(config.n_vocab),
        "unigram": unigram_loss(corpus.training, corpus.held_out, config.n_vocab),
        "bigram": bigram,
        "decoder": held_out_loss,
        "the grammar itself": corpus.grammar_loss,
        "decoder, training": decoder_loss(parameters, config, corpus.training[: len(corpus.held_out)]),
    }
    print("\nheld-out loss         nats a token   perplexity")
    for name, loss in losses.items():
        print(f"  {name:<20}{loss:12.4f}{exp(loss):13.2f}")

    words = corpus.vocabulary
    model = CausalLanguageModel.from_parameters(parameters, config)
    end = words.id("<end>")

    def shares(prompt: str) -> dict[str, float]:
        """The shares after a prompt, the largest first."""
        logits = model.logits(words.encode(prompt))[-1]  # (V,)
        after = np.exp(logits - logits.max())
        ordered = np.argsort(-after)
        return {words.tokens[token]: float(after[token] / after.sum()) for token in ordered}

    def write(prompt: str, **how: object) -> tuple[str, str]:
        """A run to the end of the story or of the context: its words, and how it ended."""
        ids = words.encode(prompt)
        run = model.generate(ids, config.context_length, end_id=end, use_cache=True, **how)
        return words.decode(run.token_ids), run.finish_reason

    print("\nafter                 shares")
    for prompt in (THE_CAT, f"{THE_CAT} mat .", LAST):
        largest = list(shares(prompt).items())[:5]
        print(f"{prompt}\n  " + ", ".join(f"{word} {share:.4f}" for word, share in largest))
    print("\ngreedy")
    for prompt in (THE_CAT, "<start>", "<start> the dog", REPEATED):
        print(f"{prompt}\n  {' ... '.join(write(prompt, greedy=True))}")
    sampled = [write("<start>", seed=seed) for seed in range(100)]
    ended = sum(how == "stop" for _, how in sampled)
    print(f"\nseeds 0 to 99         {ended} of 100 stories end by the end token, the first five:")
    for text, _ in sampled[:5]:
        print(f"  {text}")
    return {
        "the held-out loss is below half the bigrams'": held_out_loss < bigram / 2,
        "greedy continues `the cat sat on the` by `mat . <end>`": write(THE_CAT, greedy=True)[0]
        == "mat . <end>",
        "greedy repeats `and ran` to the end of the context": write(REPEATED, greedy=True)[1] != "stop",
        "an end after the last full stop is all but certain": shares(LAST)["<end>"] > 0.95,
        "an end within a sentence is all but impossible": shares(THE_CAT)["<end>"] < 0.001,
        "sampled stories end": ended >= 95,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=DATA / "story.npz", help="the words go beside it")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # the order of the sums, and so the last bits, stay the same
    corpus = write_corpus()
    config = Config(len(corpus.vocabulary), **SHAPE)
    both = [*corpus.training, *corpus.held_out]
    counts = f"{len(corpus.training)} for training, {len(corpus.held_out)} held out"
    print(f"stories               {counts}; {len(set(both))} different")
    print(f"tokens                {sum(map(len, both))}; {len(corpus.vocabulary)} different")
    parameters = train(corpus.training, config)
    accepted = report(corpus, parameters, config)
    failed = [name for name, holds in accepted.items() if not holds]
    if failed:
        print(f"\n{options.output} not written, for these fail: {'; '.join(failed)}", file=sys.stderr)
        return 1
    save_parameters(options.output, parameters, config)
    options.output.with_suffix(".txt").write_text(
        "\n".join(corpus.vocabulary.tokens) + "\n", encoding="utf-8"
    )
    print(f"\nwrote {options.output}, fingerprint {fingerprint(parameters)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
