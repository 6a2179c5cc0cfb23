"""What students handed in, read as data: which file is which notebook, and which cells are in it."""
