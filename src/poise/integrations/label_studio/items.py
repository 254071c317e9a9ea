"""What tasks show, as a graph: texts as they are, images fetched from Label Studio once."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from poise import Graph, embed, knn_graph
from poise.data import folders
from poise.data.embeddings.items import Images, Items
from poise.data.images import UnreadableError, decode
from poise.errors import InputError
from poise.integrations.label_studio.client import BrokenError, Client
from poise.progress import Begin, Progress, without_note
from poise.studio.source.comparing import Compared, comparison

#: Fewest tasks that make a graph.
LEAST_TASKS = 3


class Pool:
    """The tasks that can be compared, and their graph.

    Parameters
    ----------
    client : fetches images
    embedding : its name; None: what suits the items

    Attributes
    ----------
    ids : of the tasks that are nodes, in order
    graph : None while there are fewer than three
    left_out : id of a task -> why it is no node, as the end of a sentence
    compared : how they are compared; None before there is a graph
    """

    def __init__(self, client: Client, embedding: str | None) -> None:
        self._client, self._embedding = client, embedding
        self._shown: dict[int, str] = {}
        self._shows_images = False
        self._unusable: dict[str, str] = {}
        self.ids: tuple[int, ...] = ()
        self.graph: Graph | None = None
        self.left_out: dict[int, str] = {}
        self.compared: Compared | None = None

    def update(self, shown: Mapping[int, str | None], shows_images: bool, begin: Begin) -> None:
        """Make a new graph if the tasks are no longer those of the graph so far.

        Parameters
        ----------
        shown : id of every task -> its text or the address of its image
        """
        empty = "it has no text or image under the key of the configuration"
        self.left_out = {task: empty for task, value in shown.items() if value is None}
        usable = {task: value for task, value in shown.items() if value is not None}
        paths: dict[int, Path] = {}
        if shows_images:
            paths = self._images(usable, begin("fetching images"))
            usable = {task: usable[task] for task in paths}
        if shows_images != self._shows_images:
            self.compared, self._shows_images = None, shows_images
        elif usable == self._shown:
            return
        # Nothing is left of the graph so far, so that an interrupted call is made again.
        self._shown, self.ids, self.graph = {}, (), None
        if len(usable) >= LEAST_TASKS:
            items: Items = Images(tuple(paths.values())) if paths else list(usable.values())
            self.graph = self._joined(items, begin)
        self._shown, self.ids = usable, tuple(usable)

    def _joined(self, items: Items, begin: Begin) -> Graph:
        # What suits the items is decided once: another embedding would change every distance.
        wanted = self._embedding if self.compared is None else self.compared.embedding
        made = comparison(items, {}, embedding=wanted, k=None, metric=None)
        if self.compared is not None:
            made = made._replace(why=self.compared.why)
        progress = without_note(begin("embedding"))
        features = embed(items, made.embedding, progress=progress)
        graph = knn_graph(features, k=made.k, metric=made.metric, progress=begin("joining"))
        self.compared = made
        return graph

    def _images(self, addresses: Mapping[int, str], progress: Progress) -> dict[int, Path]:
        """The files of the images that Label Studio serves; the others are left out."""
        paths: dict[int, Path] = {}
        for number, (task, address) in enumerate(addresses.items(), 1):
            if address not in self._unusable:
                path = self._file(address)
                if path.exists() or self._fetched(address, path):
                    paths[task] = path
            if address in self._unusable:
                self.left_out[task] = self._unusable[address]
            progress(number, len(addresses))
        return paths

    def _file(self, address: str) -> Path:
        digest = hashlib.sha256(f"{self._client.address}\n{address}".encode()).hexdigest()
        return folders.cache() / "label-studio" / digest[:32]

    def _fetched(self, address: str, path: Path) -> bool:
        """Keep an image in the cache, or note why it cannot be used."""
        try:
            content = self._client.content(address)
            if content is None:
                self._unusable[address] = "its image is not served by Label Studio"
                return False
            decode(content, ("RGB", 64), lambda picture, _: None)
        except UnreadableError as error:
            self._unusable[address] = f"its image cannot be read: {error}"
            return False
        except (InputError, BrokenError) as error:
            self._unusable[address] = f"its image cannot be fetched: {error}"
            return False
        folders.keep(path, lambda file: file.write(content))
        return True
