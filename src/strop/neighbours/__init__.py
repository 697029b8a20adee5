"""Formats and protocols of other projects, one file each. Their packages are optional: a file here is imported only by
the other project or on demand.
"""
