"""Stores at addresses such as s3://bucket/path."""
