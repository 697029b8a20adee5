"""A public suite of hostile answers, each with an honest answer, and the bench that tries them on a grader.

Threat model: the answers try to pass without solving their task, to read secrets, to escape, to outlive their verdict
or to exhaust the host. They are harmless if the grader contains them; floods stop by themselves.
"""
