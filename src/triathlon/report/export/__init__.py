"""The numbers in other people's forms: CSV, Parquet, JUnit XML, Markdown, Inspect logs."""
