"""The files of a KRaft node: log segments, checkpoints, quorum state and small text files."""
