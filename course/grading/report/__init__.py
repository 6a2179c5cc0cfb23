"""The report for the instructor: one page about a class, made of the records and what persons gave."""

from course.grading.report.page import report_page
from course.grading.report.write import write_report
from course.grading.standing import Given

__all__ = ["Given", "report_page", "write_report"]
