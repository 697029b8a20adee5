"""Servers: code search (docs/search.md), next-edit suggestions (docs/next-edit.md), a policy behind OpenAI's API."""
