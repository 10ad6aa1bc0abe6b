"""Results of evaluations: values, means, tables, frames and groups of queries."""
