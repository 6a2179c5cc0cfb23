"""The subcommands of `course`: a module each, which says its arguments and runs what they ask for.

What a command needs is imported when it runs, so that each of them starts quickly.
"""
