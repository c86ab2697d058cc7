"""One verification of everything: models, proofs, fuzzing, recorded traces, real logs; one table.

Each question is a ``Question``: it has a name that stands in the table, and asking it gives a
``Row``. Questions share nothing, so each can be asked again alone by the command in its row.
"""

from krafla.verify.questions import all_questions
from krafla.verify.rows import Kind, Question, Report, Row
from krafla.verify.run import verify

__all__ = ["Kind", "Question", "Report", "Row", "all_questions", "verify"]
