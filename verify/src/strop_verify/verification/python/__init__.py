"""Python answers: the workers that run them, the checks of their results, and the toolchain."""
