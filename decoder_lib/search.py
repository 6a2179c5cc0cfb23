"""Beam search: a few partial sequences kept side by side instead of one."""

from __future__ import annotations

from dataclasses import dataclass

from decoder_lib.internal.arguments import TokenIds, as_prompt, check_fits, check_integer, check_limits
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.selection import Selection


@dataclass(frozen=True)
class Beam:
    """A continuation that the search kept.

    token_ids : the selected tokens, including the end token where it was selected.
    log_probability : of the continuation given the prompt, in nats.
    finished : whether it selected the end token.
    """

    token_ids: tuple[int, ...]
    log_probability: float
    finished: bool


def beam_search(
    model: LanguageModel, prompt: TokenIds, max_new_tokens: int, beam_width: int, end_id: int | None = None
) -> list[Beam]:
    """The `beam_width` best continuations that the search finds, most probable first.

    Each round extends every kept sequence by every token and keeps the `beam_width` most probable results;
    ties go to the one whose ids come first. A sequence that selected `end_id` is kept as it is and competes
    on. It stops after `max_new_tokens` rounds, when every kept sequence has finished, or when the context is
    full. A width of 1 is greedy decoding; a width of V**(max_new_tokens - 1) is exhaustive where no sequence
    ends early. Scores are plain log probabilities: where lengths differ, the shorter sequence has the
    advantage of fewer factors (Wu et al. 2016, section 7, scale it away; this does not).
    Raises ValueError naming the argument, its value and what is allowed; ContextOverflowError for a prompt
    that is longer than the context.
    """
    ids = as_prompt("prompt", prompt, model.n_vocab)
    check_fits("prompt", ids, model.context_length)
    check_limits(max_new_tokens, end_id, None, model.n_vocab, model.context_length)
    check_integer("beam_width", beam_width, 1)
    beams = [Beam((), 0.0, False)]
    for made in range(max_new_tokens):
        going = [beam for beam in beams if not beam.finished]
        if not going or ids.size + made >= model.context_length:
            break
        logits = model.next_logits([[*ids.tolist(), *beam.token_ids] for beam in going])  # (beams, V)
        candidates = [beam for beam in beams if beam.finished]
        for beam, row in zip(going, Selection().log_distribution(logits), strict=True):
            candidates += [
                Beam((*beam.token_ids, token_id), beam.log_probability + score, token_id == end_id)
                for token_id, score in enumerate(row.tolist())
            ]
        beams = sorted(candidates, key=lambda beam: (-beam.log_probability, beam.token_ids))[:beam_width]
    return beams
