"""The demonstration: simulated labelling of scikit-learn's digits, and the page that shows it."""
