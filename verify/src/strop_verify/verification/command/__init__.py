"""Any toolchain that is a list of commands: languages described in YAML, and tasks with their own steps."""
