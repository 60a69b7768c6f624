"""The store: what is kept of a run on disk or at an address. Nothing here needs torch."""
