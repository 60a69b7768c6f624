"""The engines that carry out a study: worker processes on this machine, or a Ray cluster."""
