"""Who answers: the transformers engine, vLLM, any OpenAI-compatible server, and a scripted policy for tests."""
