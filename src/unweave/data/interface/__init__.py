"""The interface of data sets: their class, identity, labels, and lookup by name."""
