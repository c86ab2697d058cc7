"""One verification of everything: models, proofs, fuzzing, recorded traces, real logs; one table.

Each question is a ``Question``: it has a name that stands in the table, and asking it gives a
``Row``. Questions share nothing, so each can be asked again alone by the command in its row.
"""

from krafla.verify.kept_rows import KeptRows, rows_file
from krafla.verify.pace import Pace
from krafla.verify.questions import all_questions, first_questions
from krafla.verify.rows import Kind, Question, Report, Row
from krafla.verify.run import verify

__all__ = [
    "KeptRows", "Kind", "Pace", "Question", "Report", "Row", "all_questions", "first_questions",
    "rows_file", "verify",
]  # fmt: skip
