"""Keeps a project of Label Studio current over its HTTP API: predictions, and what to label next.

`client.py` sends requests, `api.py` names the endpoints, `config.py` reads the labelling
configuration, `tasks.py` a task, `items.py` embeds what tasks show, `planning.py` says what each
prediction should be, and `sync.py` keeps them so while people label.
"""
