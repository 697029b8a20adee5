"""The bug factory: faults put into code that has tests, kept where the tests notice them."""
