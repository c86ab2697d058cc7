"""What all tests share: `pytest --hypothesis-profile=quick` draws few examples, while you edit."""

from hypothesis import settings

settings.register_profile("quick", max_examples=10, stateful_step_count=30)
