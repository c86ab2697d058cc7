"""The engine of `krafla fuzz`: it draws, judges, shrinks, keeps and reports the runs of a system."""
