"""Judges plain Python files that define a student's functions: the work behind `course check`.

Files run in the sandbox that grading uses, one worker for each. Where there is no sandbox they run all the
same, with the rights of whoever asked, and each result says so.

    detection  finds the challenge that a file belongs to
    judging    judges one file, and many at the same time
    results    how a file was judged, and the JSON of it
    table      what is printed for people
"""
