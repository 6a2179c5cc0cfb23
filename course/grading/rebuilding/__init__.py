"""Puts a student's cells back into the master's frame; what a master asks for."""
