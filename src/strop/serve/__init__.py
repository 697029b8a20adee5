"""What people and other programs ask: where in a folder something is, in the terminal or over MCP. docs/search.md."""
