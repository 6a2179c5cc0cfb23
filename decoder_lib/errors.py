"""The two things that can go wrong between a prefix, a decoder and a cache."""


class ContextOverflowError(ValueError):
    """A prefix is longer than the decoder can read."""


class StaleCacheError(ValueError):
    """A cache does not stand for what it is about to be used for.

    The message says which of the three differs: parameters, position convention, or prefix.
    """
