"""The class cycle: submissions in, scores, feedback and a table out. Knows nbgrader, and no challenge."""
