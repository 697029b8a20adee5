"""Verdicts over HTTP: many training nodes share the CPUs of a few machines. `protocol` has the wire format."""
