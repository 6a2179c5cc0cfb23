"""The page for a student whose notebook could not be graded."""

from html import escape

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{notebook}: not graded</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }}
blockquote {{ border-left: .25rem solid #b3261e; margin: 1rem 0; padding: .25rem 1rem; }}
</style>
</head>
<body>
<h1>{notebook} was not graded</h1>
<p>It has no score. This is not a zero. What went wrong:</p>
<blockquote>{problem}</blockquote>
<h2>What to do</h2>
<ol>
<li>Open your notebook, restart its kernel and run all cells. Each should end within {timeout} seconds.</li>
<li>If it does not open, take a new copy of the notebook and put your solution into it.</li>
<li>Save it as <code>{notebook}.ipynb</code> and hand it in again.</li>
</ol>
<p>If that does not help, show this page to your instructor.</p>
</body>
</html>
"""


def failure_page(notebook: str, problem: str, timeout: int) -> bytes:
    """What went wrong and what to do about it, as a small HTML page."""
    return _PAGE.format(notebook=escape(notebook), problem=escape(problem), timeout=timeout).encode()
