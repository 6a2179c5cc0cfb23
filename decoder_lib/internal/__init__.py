"""What a reader of the decoder need not read: argument checks, messages, file formats and a faster pass."""
