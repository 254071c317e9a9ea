"""The paper's experiments: their parameters, claims and costs, and the report on them."""
