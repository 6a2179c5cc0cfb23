"""Hands the work to the library."""

# misconception: None
# fails first: greedy
# fails: greedy, budget, end_token, context, finish_reason, sampling, temperature, passes


def generate(model, prompt, max_new_tokens, end_id=None, rng=None, temperature=1.0):
    run = model.generate(
        prompt, max_new_tokens, end_id=end_id, seed=rng, greedy=rng is None, temperature=temperature
    )
    return run.token_ids, run.finish_reason
