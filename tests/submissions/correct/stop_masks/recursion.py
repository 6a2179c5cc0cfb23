"""One recursive call a round."""

import numpy as np


def account(choices, end_id):
    def walk(t, lengths, finished):
        if t == len(choices):
            return lengths, finished
        lengths = [n + (not done) for n, done in zip(lengths, finished)]
        finished = [bool(done or token == end_id) for done, token in zip(finished, choices[t])]
        return walk(t + 1, lengths, finished)

    B = np.shape(choices)[1]
    return walk(0, [0] * B, [False] * B)


def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):
    B = len(prompts)

    def go(left, new, finished):
        live = [
            b for b in range(B) if not finished[b] and len(prompts[b]) + len(new[b]) < model.context_length
        ]
        if left == 0 or len(live) == 0:
            return new, finished
        logits = model.next_logits([list(prompts[b]) + new[b] for b in live])
        for i, b in enumerate(live):
            z = logits[i] - max(logits[i])
            if rngs is None:
                token = int(np.argmax(z))
            else:
                token = int(rngs[b].choice(len(z), p=np.exp(z) / np.exp(z).sum()))
            new = new[:b] + [new[b] + [token]] + new[b + 1 :]
            finished = finished[:b] + [token == end_id] + finished[b + 1 :]
        return go(left - 1, new, finished)

    new, finished = go(max_new_tokens, [[] for _ in range(B)], [False] * B)
    return [new, [len(row) for row in new], finished]
