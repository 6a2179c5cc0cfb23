"""The view of the tree of continuations and what a beam keeps of it."""
