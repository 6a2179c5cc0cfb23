"""The page that a student gets for a notebook: how it stands, what each check found, what to read next."""

from course.grading.feedback.page import feedback_page

__all__ = ["feedback_page"]
