"""nbgrader's gradebook, in SQLite or PostgreSQL, with one writer."""
