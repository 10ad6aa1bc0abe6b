"""The foundation of fastrank: options, messages, progress, parallel work, the look of results."""
