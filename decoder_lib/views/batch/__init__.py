"""The view of rows that finish at different times."""
