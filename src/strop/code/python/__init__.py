"""Python source."""
