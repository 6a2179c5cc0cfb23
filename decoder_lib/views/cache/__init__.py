"""The view of a cache that fills, and an edit of an earlier token."""
