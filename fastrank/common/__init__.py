"""What all of fastrank uses: options, messages, progress, parallel work, what results look like."""
