"""From texts and vectors to runs and values: search, embeddings, data sets, tasks."""
