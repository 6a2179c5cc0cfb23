"""Seconds to generate, beside other ways to run the same weights on the same processor.

    python -m benchmarks.decoding                        everything
    python -m benchmarks.decoding --only single --shapes tiny small
    python -m benchmarks.decoding --markdown             the tables as they go into benchmarks/README.md
    python -m benchmarks.decoding --profile              where the time of our own runs goes

Contenders take turns and get the same weights; each is shown to agree with ours before it is timed. One
whose packages are missing is left out.
"""

import argparse

from benchmarks.decoding import bandwidth, batch, curves, single, tree
from benchmarks.decoding.machine import describe
from benchmarks.decoding.profiling import profile
from benchmarks.decoding.shapes import SHAPES

PARTS = {
    "batch": batch.tables,
    "tree": tree.tables,
    "curves": curves.tables,
    "bandwidth": bandwidth.tables,
}


def main() -> None:
    """Measure, and print each table as soon as it is there."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.decoding",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), help="of the parts single and --profile"
    )
    parser.add_argument("--only", nargs="+", choices=("single", *PARTS), default=["single", *PARTS])
    parser.add_argument("--rounds", type=int, help="of every part, in place of its own number")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    print(describe() + "\n", flush=True)
    if options.profile:
        profile(options.shapes)
        return
    for part in options.only:
        found = (
            single.tables(options.shapes, options.rounds) if part == "single" else PARTS[part](options.rounds)
        )
        for table in found:
            table.show(options.markdown)


if __name__ == "__main__":
    main()
