"""The zip that students get: the released notebooks, the decoder as a wheel, and how to start."""
