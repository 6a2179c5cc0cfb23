"""The view of what each policy drops when the context is full."""
