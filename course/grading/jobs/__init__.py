"""Grades one notebook: rebuilds it, runs its cells in a sandbox, and gives the points. Touches no file."""
