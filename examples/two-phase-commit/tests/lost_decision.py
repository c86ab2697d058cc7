"""Tell the story of a coordinator that forgets its decision: ``python -m tests.lost_decision``."""

import sys

from krafla.testing import SpecViolation
from tests.commit_machine import CommitMachine
from tests.stories import commit_and_forget

try:
    commit_and_forget(CommitMachine())
except SpecViolation as violation:
    sys.exit(str(violation))
