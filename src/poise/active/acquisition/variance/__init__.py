"""The variance family: V-Opt, Sigma-Opt, model change and their mixture, in three forms each."""
