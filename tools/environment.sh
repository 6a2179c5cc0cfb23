#!/bin/sh
# Makes .venv with exactly the versions of requirements.lock. Run by the Makefile; needs Python 3.11 or newer.
set -eu

PYTHON=${PYTHON:-python3}

if ! command -v "$PYTHON" >/dev/null 2>&1; then
    echo "No '$PYTHON' here. Install Python 3.11 or newer (Debian: apt install python3 python3-venv)," >&2
    echo "or name one: make lab PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "'$PYTHON' is $("$PYTHON" --version 2>&1); the course needs Python 3.11 or newer." >&2
    echo "Name another: make lab PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
    # Debian ships Python without venv; as root we can add it ourselves.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        apt-get update -qq && apt-get install -y -qq "python$version-venv" >/dev/null
    else
        echo "Python's venv module is missing. Install it with: sudo apt install python3-venv" >&2
        exit 1
    fi
fi

# Grading runs student code in bubblewrap. Everything else does without it.
if [ "$(uname)" = Linux ] && ! command -v bwrap >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        apt-get update -qq && apt-get install -y -qq bubblewrap >/dev/null
    else
        echo "To grade a class you will need bubblewrap as well: sudo apt install bubblewrap" >&2
    fi
fi

echo "Making the environment in .venv (a minute or two the first time) ..." >&2
# An environment that was moved or half made is of no use: its scripts name another folder.
if ! .venv/bin/python -c '' 2>/dev/null || [ "$(head -c 2 .venv/bin/pip 2>/dev/null)" != '#!' ] ||
    ! grep -q "$(pwd)/.venv" .venv/bin/pip; then
    rm -rf .venv
    "$PYTHON" -m venv .venv
fi
export PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m pip install --quiet --require-hashes -r requirements.lock
.venv/bin/python -m pip install --quiet --no-deps --editable .
touch .venv/ready
