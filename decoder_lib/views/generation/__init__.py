"""The view of the loop, step by step."""
