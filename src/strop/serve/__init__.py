"""What people and other programs ask: where something is (docs/search.md), what to type next (docs/next-edit.md)."""
