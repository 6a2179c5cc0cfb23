"""No NumPy at all: lists, math.log and math.fsum."""

import math


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    if len(continuation) == 0:
        return []
    tokens = [int(t) for t in prompt] + [int(t) for t in continuation]
    answers = []
    rows = model.logits(tokens)
    for position in range(len(prompt), len(tokens)):
        row = [float(x) / temperature for x in rows[position - 1]]
        top = max(row)
        answers.append(row[tokens[position]] - top - math.log(math.fsum(math.exp(x - top) for x in row)))
    return answers


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return math.fsum(token_log_probabilities(model, prompt, continuation, temperature))
