"""Judgments that are places in texts, and the chunks of the texts that a retriever finds."""
