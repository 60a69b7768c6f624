"""Data sets from files: downloads, arrays on disk, pictures, and tables of factors."""
