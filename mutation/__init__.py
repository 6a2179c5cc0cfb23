"""Mutation testing of the four challenges' reference solutions. See README.md."""
