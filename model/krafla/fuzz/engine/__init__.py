"""The engine of `krafla fuzz`: it plays, judges, shrinks, keeps and reports runs."""
