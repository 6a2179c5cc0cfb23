"""`course build`: make release/, notebooks/ and the sample class from source/."""

import argparse

from course.files import ROOT


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser("build", help="make release/, notebooks/ and the sample class from source/")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a committed file is stale"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Build, or look whether there is something to build."""
    from course.building import build, differences

    if options.check:
        stale = differences(ROOT)
        for line in stale:
            print(line)
        print(
            "Run `course build` and commit what it writes."
            if stale
            else "Everything is as the build makes it."
        )
        return 1 if stale else 0
    changed = build(ROOT)
    for path in changed:
        print(path)
    print(f"{len(changed)} files changed.")
    return 0
