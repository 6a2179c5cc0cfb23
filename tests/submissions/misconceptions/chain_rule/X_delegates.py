"""Hands the work to a method that the model does not have."""

# misconception: None
# fails first: rows
# fails: rows, only_continuation, sum, temperature, stability, empty, single_pass


def token_log_probabilities(model, prompt, continuation, temperature=1.0):
    return model.token_log_probabilities(prompt, continuation, temperature)


def sequence_log_probability(model, prompt, continuation, temperature=1.0):
    return model.sequence_log_probability(prompt, continuation, temperature)
