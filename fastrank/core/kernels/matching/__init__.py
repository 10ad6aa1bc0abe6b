"""Judgments and rankings into ranks and grades."""
