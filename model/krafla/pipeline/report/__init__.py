"""The report on a store: small tables by Spark SQL, shown as a page, as Markdown, as Parquet."""
