"""The audit of a running cluster: its logs judged batch by batch, as they grow."""
