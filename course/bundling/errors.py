"""How bundling stops."""


class BundleError(Exception):
    """There is no bundle to be made; the message says to the instructor what is wrong and what to do."""
