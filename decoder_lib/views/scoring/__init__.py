"""The view of the chain rule, with the factors of two runs side by side."""
