"""What the tests of nodes leave as it was."""

import logging

import pytest


@pytest.fixture(autouse=True)
def logging_as_before():
    """Undo what a server in this process does to the logging of all."""
    logger = logging.getLogger("kraft")
    before = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.level, logger.propagate = before
