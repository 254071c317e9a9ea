"""The label screen of a notebook, driven without one.

In a notebook, `learner.widget(texts)` at the end of a cell shows the items, and a person presses
keys. Here a function answers instead, with the methods that the keys call.
"""

from sklearn.datasets import load_digits

import poise

X, y = load_digits(return_X_y=True)
images = (X.reshape(-1, 8, 8) * 15).astype("uint8")
graph = poise.knn_graph(X, k=10)
learner = poise.Learner(graph, classes=range(10))

widget = learner.widget(images)
widget.on_answer(lambda item, label: print(f"item {item:4d} is a {label}"))
for _ in range(15):
    item = widget.wait()  # the question that the widget shows
    widget.answer(item, y[item])
widget.undo()
print(f"{len(widget.labels)} labels; the learner knows them:", widget.labels == learner.labels)
print(f"{(learner.predictions == y).mean():.0%} of the digits are predicted correctly")
widget.close()

chart = graph.map(learner=learner, items=images)
chart.observe(lambda change: print("selected on the map:", change["new"]), "selected")
chart.label([3, 13, 23], 3)  # as the key of a class does when points are selected
print("item 23 is labelled", learner.labels[23])
chart.close()
