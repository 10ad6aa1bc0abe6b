"""Where the value of a measure comes from: what each document adds."""
