"""What an event changes for the asker, and which foreseen question follows it."""

from collections.abc import Callable, Mapping

from poise.studio.asking.asker import Asker
from poise.studio.asking.assistants import counts_now
from poise.studio.asking.foreseeing import NO_ANSWER
from poise.studio.asking.question import NEW_CLASS, Question
from poise.studio.asking.turns import Turns
from poise.studio.log.events import EDITS, RELABELLING, Event
from poise.studio.log.state import State


def changes_predictions(event: Event, after: State) -> bool:
    """Whether predictions from before an event are out of date."""
    if event.kind == "assist":
        return counts_now(after, event.data["by"])
    return event.kind not in {"ask", "class", "assistant"} | (EDITS - RELABELLING)


def renames_labels(event: Event) -> bool:
    """Whether an event may change the classes of items that it does not name."""
    return event.kind == "undo" or event.kind in RELABELLING


def update_asker(
    asker: Asker,
    event: Event,
    before: State,
    after: State,
    nodes: Mapping[str, int],
    restart: Callable[[bool], None],
) -> None:
    """Bring the asker up to date.

    Parameters
    ----------
    nodes : item -> its node
    restart : begins a new session with the labels as they are; called with whether the questions
        asked ahead are still worth asking
    """
    its_nodes = [nodes[item] for item in event.items]
    labelled = any(item in before.labels for item in event.items)
    match event.kind:
        case "label":
            by_label: dict[str, list[int]] = {}
            for item, node in zip(event.items, its_nodes, strict=True):
                by_label.setdefault(after.labels[item].label, []).append(node)
            for label, some in by_label.items():
                asker.tell(some, label)
        case "skip" if not labelled:
            asker.skip(its_nodes)
        case "unsure" if not labelled:
            asker.exclude(its_nodes)
        case "skip" | "unsure" | "clear" | "setting":
            # Rare, and a session is a function of its labels: begin it anew.
            restart(event.kind != "setting")
        case _ if renames_labels(event):
            restart(True)


def foreseen_question(
    asker: Asker, turns: Turns, state: State, event: Event, nodes: Mapping[str, int]
) -> Question | None:
    """The question that follows an answer, if it was foreseen and may be asked.

    Parameters
    ----------
    state : before the answer
    nodes : item -> its node
    """
    if not answers_question(state, event) or asker.demand.several:
        return None  # somebody else may have been asked what was foreseen
    if turns.waiting_item(state, event.annotator, nodes) is not None:
        return None
    node, *others = (nodes[item] for item in event.items)
    if event.kind != "label":
        return asker.foreseen(node, NO_ANSWER, others)
    label = state.known.name(state.known.find(event.data["label"])) or ""
    if any(labelled.label == label for labelled in state.labels.values()):
        return asker.foreseen(node, label, others)
    question = asker.foreseen(node, NEW_CLASS, others)
    return None if question is None else question.named(label)


def answers_question(state: State, event: Event) -> bool:
    """Whether an event answers the question that the model asked its sender.

    Not in an audit, which has questions of its own, nor where several people answer each item.
    """
    held = state.open.get(event.annotator)
    if held is None or event.items[:1] != [held.item]:
        return False
    if held.purpose == "audit" or event.annotator in state.audits:
        return False
    if event.kind not in ("label", "skip", "unsure") or held.item in state.labels:
        return False
    return bool(state.settings["overlap"] == 1)
