"""Arrow's columns as Spark names them: what a task yields and what Spark expects are one schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
    from pyspark.sql.types import StructType

__all__ = ["as_spark"]


def as_spark(schema: pa.Schema) -> StructType:
    """Return Arrow's columns as Spark names them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
