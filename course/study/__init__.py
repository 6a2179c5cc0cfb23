"""What self-study notebooks call: checks that answer with a card, questions, and progress that is kept.

Grading knows nothing of this: graded cells call `course.checks`. What a reader has passed stays on the
reader's own machine.
"""

from course.study.checking import check
from course.study.overview import progress, reset_progress
from course.study.quizzes import quiz

__all__ = ["check", "progress", "quiz", "reset_progress"]
