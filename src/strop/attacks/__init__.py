"""A public suite of hostile answers, each with an honest twin, and the bench that tries them on a grader.

Threat model: the answers try to pass without solving their task, to read what they must not, to get out, to outlive
their verdict or to exhaust the host. They are harmless to a host whose grader holds; floods stop by themselves.
"""
