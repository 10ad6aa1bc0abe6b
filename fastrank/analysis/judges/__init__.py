"""Judgments by several judges: how far they agree, and how to merge and compare them."""
