"""A call of next_logits a token."""

# misconception: None
# fails first: single_pass
# fails: single_pass

import math


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    prompt, continuation = list(prompt), list(continuation)
    answer = []
    for t, token in enumerate(continuation):
        row = [float(s) / temperature for s in model.next_logits([prompt + continuation[:t]])[0]]
        top = max(row)
        answer.append(row[token] - top - math.log(sum(math.exp(s - top) for s in row)))
    return answer


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return math.fsum(token_log_probabilities(model, prompt, continuation, temperature))
