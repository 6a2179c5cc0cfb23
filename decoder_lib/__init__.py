"""A small GPT-2 style decoder in NumPy, and the loop that makes it write.

    model = CausalLanguageModel(n_vocab=7)
    run = model.generate([0, 1, 2], max_new_tokens=5, seed=0, end_id=6)

Data runs one way, as it does through a step of generation:
text -> `vocabulary` -> ids -> `model` (with `cache`) -> logits -> `selection` -> id -> `generation`.
`scoring`, `search` and `batch` stand beside `generation`; pictures are in `decoder_lib.plots`.
`decoder_lib/README.md` lists the modules in the order in which to read them.
"""

from decoder_lib.batch import BatchGeneration, generate_batch
from decoder_lib.cache import BatchCache, KVCache
from decoder_lib.errors import ContextOverflowError, StaleCacheError
from decoder_lib.generation import Generation, Step, generate
from decoder_lib.internal.moved import answer_old_names
from decoder_lib.model import CausalLanguageModel, load
from decoder_lib.parameters import Config
from decoder_lib.scoring import rank_continuations, sequence_log_probability, token_log_probabilities
from decoder_lib.search import Beam, beam_search
from decoder_lib.selection import Selection
from decoder_lib.truncation import KeepFirst, drop_oldest, stop
from decoder_lib.vocabulary import LESSON_VOCABULARY, STORY_VOCABULARY, Vocabulary

__all__ = [
    "LESSON_VOCABULARY",
    "STORY_VOCABULARY",
    "BatchCache",
    "BatchGeneration",
    "Beam",
    "CausalLanguageModel",
    "Config",
    "ContextOverflowError",
    "Generation",
    "KVCache",
    "KeepFirst",
    "Selection",
    "StaleCacheError",
    "Step",
    "Vocabulary",
    "beam_search",
    "drop_oldest",
    "generate",
    "generate_batch",
    "load",
    "rank_continuations",
    "sequence_log_probability",
    "stop",
    "token_log_probabilities",
]

answer_old_names(__name__)
