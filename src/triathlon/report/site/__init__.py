"""The static site: one folder that opens from the file system, with nothing fetched from anywhere."""

from triathlon.report.site.build import write_site

__all__ = ["write_site"]
