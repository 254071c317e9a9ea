"""Programs that answer questions, and their answers: kept beside the labels, never among them."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field

from poise.errors import InputError
from poise.studio.log.events import Event
from poise.studio.log.shared import SharedDict


@dataclass(frozen=True)
class Answer:
    """What an assistant said about an item.

    Attributes
    ----------
    by : name of the assistant
    number : of the class, which keeps it whatever its name; None if the assistant does not know
    confidence : its own, as it stated it
    """

    by: str
    number: int | None
    confidence: float | None
    time: str


@dataclass
class Assistants:
    """All assistants after some events. `apply` changes them.

    Attributes
    ----------
    audits : name -> how many of its answers people judge before they count
    answers : item -> the answer about it; the first one that names a class stays
    """

    audits: dict[str, int] = field(default_factory=dict)
    answers: MutableMapping[str, Answer] = field(default_factory=dict)

    def copy(self) -> "Assistants":
        """The same, which can be changed without changing this one."""
        answers = self.answers
        shared = answers if isinstance(answers, SharedDict) else SharedDict(dict(answers))
        return Assistants(self.audits.copy(), shared.copy())

    def has_answer(self, item: str, name: str) -> bool:
        """Whether an assistant need not be asked about an item: any answered it, or it passed."""
        answer = self.answers.get(item)
        return answer is not None and (answer.number is not None or answer.by == name)

    def check(self, event: Event) -> None:
        """Refuse an answer of an unknown assistant, or discarding what it never said."""
        name = event.data["by" if event.kind == "assist" else "name"]
        if name not in self.audits:
            known = ", ".join(self.audits) or "none"
            raise InputError(f"there is no assistant {name!r}: this project has {known}")

    def apply(self, event: Event, number: int | None) -> None:
        """Apply an event about an assistant; `number` is that of the class it names."""
        data = event.data
        match event.kind:
            case "assistant":
                self.audits[data["name"]] = data["audit"]
            case "assist" if not self.has_answer(data["item"], data["by"]):
                confidence = data.get("confidence")
                self.answers[data["item"]] = Answer(data["by"], number, confidence, event.time)
            case "discard":
                name = data["name"]
                kept = {item: each for item, each in self.answers.items() if each.by != name}
                self.answers = kept
