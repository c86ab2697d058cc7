"""What a KRaft node keeps on disk: log segments, checkpoints, quorum state and small text files."""
