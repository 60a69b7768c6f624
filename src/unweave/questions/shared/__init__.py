"""What several questions share: the form of a question, rank correlations and scatter plots."""
