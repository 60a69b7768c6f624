"""What every data set offers, and how one is found, named and opened again."""
