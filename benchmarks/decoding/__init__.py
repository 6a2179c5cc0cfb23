"""How fast the decoder generates, beside other ways to run the same weights."""

from benchmarks.decoding.threads import set_threads

set_threads()  # here, since libraries of linear algebra read it once, as they are imported
