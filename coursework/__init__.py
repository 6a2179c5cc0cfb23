"""What readers' notebooks need besides the decoder, and what ships with it: bringing them up to date.

It knows no solution and no hidden check. `course` builds on it; it imports nothing of the course.
"""
