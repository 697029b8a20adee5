"""Formats and protocols of other projects, one file each. Their packages are optional: a file here is imported by the
other project or when it is named.
"""
