"""Where a message sends its reader: sections of the course, by number and title."""

from __future__ import annotations

READ = "Section 4, Read the prefix and select the next token"
APPEND = "Section 5, Append, then predict with the new context"
COMBINE = "Section 6, Combine conditional predictions"
LIMITS = "Section 8, Give the loop explicit limits"
CACHE = "Section 9, Recognize what an inference cache changes"
REUSE = "Section 10, A cache reuses computation from an unchanged prefix"
DIFFERENT_TIMES = "Section 11, Different sequences can finish at different times"
STOPPING_STATE = "Section 12, Retain a per-sequence stopping state"
