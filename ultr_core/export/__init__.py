"""Things to take away: figures as files."""

from ultr_core.export.figure_files import FILE_FORMATS, FileFormat

__all__ = ["FILE_FORMATS", "FileFormat"]
