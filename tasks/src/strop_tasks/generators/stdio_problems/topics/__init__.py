"""The kinds of problems, a module a topic."""
