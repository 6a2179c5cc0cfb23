"""A class as a learning platform knows it: submissions as Canvas and Moodle hand them out, and who is who."""
