"""Tasks to repair: programs with one fault put in, the compiler's message, and the tests of the task they come from."""
