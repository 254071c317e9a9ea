"""Label efficiency: how much poise and its rivals know after few answers (`poise bench accuracy`).

`sets` and `trials` say what is labelled, `methods` who asks, `questions` records what was asked;
everything else is measured from those records.
"""
