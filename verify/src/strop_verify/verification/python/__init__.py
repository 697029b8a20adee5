"""Python answers: the workers that run them, the checks on what they return, and the toolchain of both."""
