"""What `nbgrader_config.py` puts into nbgrader: its commands and formgrader take the course's own path."""
