"""What runs in the sandbox.

It imports the standard library, NumPy, IPython and `decoder_lib`, and of the course only
`course.checks.candidate`, the door to a student's functions: nothing else of the course is there.

    warm       has everything imported, and forks a worker for each notebook
    isolation  puts a worker into namespaces and limits of its own
    descendants  finds and ends what a worker started, where there are no namespaces
    syscalls   takes from it the calls to the kernel that go around its limits
    shell      runs cells with IPython, and keeps what they display
    files      runs a plain Python file as a module
    serving    answers the trusted side: runs cells or a file, looks variables up, calls functions
    stand_ins  stand for the models and caches, which stay on the trusted side
    attempts   takes note of what a sandbox refuses anyway
    codec      plain data to JSON and back; both sides use it
    frames     messages on a socket; both sides use it
"""
