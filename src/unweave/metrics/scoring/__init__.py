"""The scorer: which metrics are asked for, what they need, and the plan that encodes each image once."""
