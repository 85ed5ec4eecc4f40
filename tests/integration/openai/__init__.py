"""The OpenAI-compatible model and embedder against a scripted server, over real HTTP."""
