"""The store: what is kept of a run on disk or at an address. Nothing here needs torch."""

from unweave.store.record import Record, read_record

__all__ = ["Record", "read_record"]
