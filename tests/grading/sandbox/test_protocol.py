"""Answers that are false, out of turn, endless or missing, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from course.checks import StudentError, checks_of, run_check
from course.checks.models import HistoryScript, ScriptedModel
from course.checks.scripted_cache import CachingModel
from course.grading.sandbox import SandboxedCandidate, Worker, WorkerEndedError

CHANNEL = """
import gc, json, os, socket, struct
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket) and item.fileno() >= 0)
channel.settimeout(None)
def say(data):
    channel.sendall(struct.pack(">I", len(data)) + data)
def tell(**message):
    say(json.dumps(message).encode())
"""
LIES = {
    "garbage": "channel.sendall(b'garbage' * 10)",
    "no JSON": "say(b'{')",
    "no object": "say(b'[1]')",
    "deep": "say(b'[' * 100_000)",
    "endless numbers": "say(b'{\"result\": ' + b'9' * 100_000 + b'}')",
    "gigabytes": "channel.sendall(struct.pack('>I', 2**31)); channel.sendall(bytes(10**6))",
    "half a message": "channel.sendall(struct.pack('>I', 100) + b'{'); channel.close()",
    "nothing of a result": "say(b'{}')",
    "an unknown kind": "tell(result={'$': 'x'}, arguments=[3], keywords={}, warnings=[])",
    "other arguments": "tell(result=1, arguments=[], keywords={}, warnings=[])",
    "a false error": "tell(raised={'kinds': [], 'message': 3})",
    "a question about nothing": "tell(ask={'number': 7, 'name': 'logits', 'arguments': []})",
    "no question": "tell(ask=3)",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_lie_ends_the_worker_and_no_more(worker: Worker, lie: str) -> None:
    """Bug: a message that nobody agreed on raises in the trusted process, fills its memory or stops it."""
    worker.run_cell(CHANNEL + f"def f(x):\n    {lie}\n    return x", 20)
    with pytest.raises(WorkerEndedError):
        SandboxedCandidate(worker, 5, {}).call("f", 3)
    with pytest.raises(WorkerEndedError):  # and it stays ended
        SandboxedCandidate(worker, 5, {}).call("f", 3)


@pytest.mark.parametrize(
    "name", ["_script", "calls", "__class__", "__dict__", "offers", "rows", "_count", "__init__"]
)
def test_of_a_model_nothing_but_what_it_offers_can_be_had(worker: Worker, name: str) -> None:
    """Bug: the expected logits are read from the script behind the model."""
    forged = {"number": 0, "name": name}
    source = f"""
def f(model):
    question = {{"ask": {forged!r}}}
    say(json.dumps(question).encode())
    (length,) = struct.unpack(">I", channel.recv(4))
    return channel.recv(length).decode()
"""
    worker.run_cell(CHANNEL + source, 20)
    answer = SandboxedCandidate(worker, 5, {}).call("f", ScriptedModel(HistoryScript(5, 0), 8)).result
    assert '"raised"' in str(answer)
    assert "AttributeError" in str(answer)


def test_a_call_that_does_not_end_is_ended(worker: Worker) -> None:
    """Bug: an endless loop in a function holds the grader up."""
    worker.run_cell("def f():\n    while True: pass", 20)
    with pytest.raises(WorkerEndedError, match="it took too long") as caught:
        SandboxedCandidate(worker, 0.3, {}).call("f")
    assert caught.value.kind == "time"


def test_questions_do_not_lengthen_a_call(worker: Worker) -> None:
    """Bug: a loop that asks the model again and again gets the whole time anew with each question."""
    worker.run_cell(
        "def f(model):\n    while True:\n        try: model.logits([1])\n        except RuntimeError: pass",
        20,
    )
    with pytest.raises(WorkerEndedError, match="it took too long"):
        SandboxedCandidate(worker, 0.5, {}).call("f", ScriptedModel(HistoryScript(5, 0), 8))


def test_a_copy_of_the_worker_does_not_answer(worker: Worker) -> None:
    """Bug: a function that forks answers twice, and the second answer is taken for the next call's."""
    worker.run_cell("import os\ndef f(x):\n    os.fork()\n    return x", 20)
    candidate = SandboxedCandidate(worker, 5, {})
    assert [candidate.call("f", number).result for number in range(5)] == [0, 1, 2, 3, 4]


def test_models_and_caches_stay_the_trusted_ones(worker: Worker) -> None:
    """Bug: a copy of a cache is filled, or another object comes back than went out."""
    source = """
def f(model, prompt, cache=None):
    cache = model.new_cache() if cache is None else cache
    row = model.logits(prompt, cache=cache)[-1]
    prompt.append(9)
    return row, cache, cache.length, cache.token_ids, (model.n_vocab, model.context_length)
"""
    worker.run_cell(source, 20)
    candidate = SandboxedCandidate(worker, 5, {})
    model = CachingModel(HistoryScript(5, 0), 8)
    first = candidate.call("f", model, [1, 2])
    row, cache, length, token_ids, bounds = first.result  # type: ignore[misc]
    assert (length, token_ids, bounds) == (2, [1, 2], (5, 8))
    assert cache.token_ids == [1, 2]
    assert first.arguments == (model, [1, 2, 9])
    second = candidate.call("f", model, [3], cache=cache)
    assert second.result[1] is cache  # type: ignore[index]
    assert cache.token_ids == [1, 2, 3]
    assert np.allclose(row, HistoryScript(5, 0).rows((1, 2))[-1], rtol=1e-9)


def test_errors_of_the_model_reach_the_student_as_what_they_are(worker: Worker) -> None:
    """Bug: `except ContextOverflowError` in a solution does not catch what the model raises."""
    source = """
from decoder_lib import ContextOverflowError
def f(model):
    try:
        model.logits([0] * 9)
    except ContextOverflowError as error:
        return str(error)
def g(model):
    return model.wte
"""
    worker.run_cell(source, 20)
    candidate = SandboxedCandidate(worker, 5, {})
    model = ScriptedModel(HistoryScript(5, 0), 8)
    assert "reads at most 8" in str(candidate.call("f", model).result)
    with pytest.raises(StudentError, match="only the names in the challenge"):
        candidate.call("g", model)


def test_what_is_not_defined_is_said_as_in_a_notebook(worker: Worker) -> None:
    """Bug: a missing function or answer looks like a crash."""
    with pytest.raises(StudentError, match="`generate` is not defined; a function is needed"):
        SandboxedCandidate(worker, 5, {}).call("generate")
    with pytest.raises(StudentError, match="NameError: name 'answer' is not defined"):
        worker.value("answer", 5)
    worker.run_cell("answer, generate = 'E', 3", 20)
    assert worker.value("answer", 5) == "E"
    with pytest.raises(StudentError, match="of type int"):
        SandboxedCandidate(worker, 5, {}).call("generate")


def test_other_names_than_the_checks(worker: Worker) -> None:
    """Bug: `require(..., generate=my_loop)` in a master looks for `generate`."""
    worker.run_cell("def my_loop(): return 7", 20)
    assert SandboxedCandidate(worker, 5, {"generate": "my_loop"}).call("generate").result == 7


def test_warnings_and_global_state_are_told(worker: Worker) -> None:
    """Bug: a draw from NumPy's global state, or an overflow, goes unseen in the sandbox."""
    worker.run_cell(
        "import numpy as np\ndef f():\n    np.random.rand()\n    return np.exp(np.array([1e9]))", 20
    )
    call = SandboxedCandidate(worker, 5, {}).call("f")
    assert call.used_global_state
    assert call.warnings == ("RuntimeWarning: overflow encountered in exp",)


def test_a_lost_candidate_is_no_failed_check(worker: Worker) -> None:
    """Bug: a dead worker looks like a wrong answer to each check after it."""
    worker.run_cell("import os\ndef generate(*arguments, **keywords): os._exit(0)", 20)
    with pytest.raises(WorkerEndedError, match="ended its own process"):
        run_check(checks_of("generation_loop")[0], SandboxedCandidate(worker, 5, {}), 5)
