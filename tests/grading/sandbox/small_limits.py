"""Limits that a test can reach."""

from course.grading.limits import MEBI, Limits

LIMITS = Limits(memory=512 * MEBI, processes=16, disk=4 * MEBI, output=100_000, message=4 * MEBI)
