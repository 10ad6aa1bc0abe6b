"""The files of other tools: search engines, rating tools, question answering."""
