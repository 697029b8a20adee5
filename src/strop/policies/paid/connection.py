"""How a server is reached, which of its models is asked, and what that may cost."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Connection:
    """One model behind an OpenAI-compatible server."""

    url: str
    """Up to and with /v1."""
    model: str = ""
    """As the server calls it."""
    temperature: float = 1.0
    max_tokens: int = 4096
    """Of one response."""
    concurrency: int = 16
    """Calls at a time."""
    timeout_seconds: float = 600.0
    """Of one call."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key."""
    price_in: float | None = None
    price_out: float | None = None
    """Per million tokens; None = not known, then no cost is shown."""
    max_cost: float | None = None
