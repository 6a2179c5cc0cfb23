"""`python -m course` is the `course` command."""

from course.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
