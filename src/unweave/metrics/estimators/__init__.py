"""Estimators that several metrics share: trees, nearest neighbours, binned information."""
