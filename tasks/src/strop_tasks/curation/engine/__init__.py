"""Shared by the builders, the audit and the pipeline: from candidates to verified tasks."""
