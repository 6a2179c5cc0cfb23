"""Packs files into a zip whose bytes depend on nothing but them."""

import io
import zipfile
from collections.abc import Mapping

_MOMENT = (2026, 1, 1, 0, 0, 0)
_UNIX = 3
_ORDINARY_FILE = 0o100644


def zipped(files: Mapping[str, bytes], folder: str) -> bytes:
    """A zip of files in a folder, in the order of their names, without times or rights of their own."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{name}", _MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = _UNIX
            entry.external_attr = _ORDINARY_FILE << 16
            archive.writestr(entry, files[name], compresslevel=9)
    return out.getvalue()
