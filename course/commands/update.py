"""`course update`: a self-learner's own notebooks, made or brought up to date."""

import argparse
import sys

from course.files import ROOT


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    from coursework.update import add_choices

    parser = commands.add_parser(
        "update",
        help="make your own notebooks in my-notebooks/, or bring them up to date",
        description="Make your own copies of the self-study notebooks, in my-notebooks/. When the course has "
        "changed, set your answers and your own cells into the new notebooks. What a notebook was before is "
        "kept in my-notebooks/earlier-versions/.",
    )
    add_choices(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Update, and say in a sentence what was done."""
    from course.building.outputs import OWN, self_study_notebooks
    from coursework.folder import FolderError, why
    from coursework.update import carry_out

    try:
        said = carry_out(ROOT / OWN, self_study_notebooks(ROOT), options)
    except FolderError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Your notebooks could not be updated: {why(error)}.", file=sys.stderr)
        return 1
    print(f"{OWN}/: {said or 'everything is up to date.'}")
    return 0
