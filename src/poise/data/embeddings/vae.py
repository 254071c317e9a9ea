"""A variational autoencoder, as the paper uses for images."""

import io
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.checks import real_number, whole_number
from poise.data import folders
from poise.data.embeddings.items import Items, rows, shares
from poise.data.embeddings.registry import embeddings
from poise.errors import ConvergenceError, InputError
from poise.extras import needed
from poise.progress import NotedProgress

#: Fewer items than this are too few to hold some out.
LEAST_ITEMS_TO_HOLD_OUT = 20
#: Largest share of the time that writing checkpoints may take.
CHECKPOINT_SHARE = 0.05
#: What the seed is combined with; epoch e adds e to the last.
FIRST_WEIGHTS, SPLIT, HELD_OUT_NOISE, EPOCHS = range(4)


@embeddings.register("vae")
@dataclass(frozen=True)
class VAE:
    r"""Means of a variational autoencoder, trained on the items: images of one size (needs torch).

    Encoder ``d -> hidden -> dimensions``, decoder its mirror image, sigmoid at the end. Minimises,
    per item x with values from 0 to 1 (others are scaled to that),

    .. math:: -\mathbb E_{z \sim q(z|x)} \log p(x|z) + \mathrm{KL}(q(z|x) \,\|\, N(0, I)),

    the first term a binary cross-entropy, by Adam. With 784 numbers per item it is the 784-400-20
    network that embeds the images of the paper's experiments (its section 3).

    Parameters
    ----------
    dimensions, hidden : int
        Widths of the code and of the layer before it.
    epochs : int
        Most passes over the items.
    patience : int
        Training stops when the loss on held-out items has not improved for this many epochs, and
        the best weights are used; 0 trains every epoch on all items.
    held_out : float
        Share of the items that are kept for early stopping instead of training.
    batch : int
    learning_rate : float
    seed : int
        Of the initial weights, the order of the items and the noise.
    device : str
        ``"cpu"``, ``"cuda"``, or ``"auto"``: cuda where there is one.

    References
    ----------
    Kingma and Welling, Auto-Encoding Variational Bayes, 2014.
    """

    dimensions: int = 20
    hidden: int = 400
    epochs: int = 100
    patience: int = 10
    held_out: float = 0.1
    batch: int = 128
    learning_rate: float = 1e-3
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("dimensions", "hidden", "epochs", "batch"):
            whole_number(getattr(self, name), name, 1)
        for name in ("patience", "seed"):
            whole_number(getattr(self, name), name, 0)
        between = "it must be a number above 0 and below 1"
        for name in ("held_out", "learning_rate"):
            real_number(getattr(self, name), name, lambda value: 0 < value < 1, between)
        if self.device not in ("auto", "cpu", "cuda"):
            raise InputError(f"device is {self.device!r}: it must be auto, cpu or cuda")

    def __call__(
        self, items: Items, progress: NotedProgress | None = None, checkpoint: Path | None = None
    ) -> npt.NDArray[np.float32]:
        torch = needed("torch", "vae", "the embedding vae")
        X = rows(items, "vae")
        X = X if X.dtype == np.uint8 else shares(X)
        return _Training(self, torch, X, checkpoint).run(progress)


class _Training:
    """One training: everything that the next epoch depends on is in `state()`.

    All random numbers of an epoch come from a generator seeded with the seed and the epoch's
    number, so a training resumed from a checkpoint sees the same order and the same noise.
    """

    def __init__(
        self, options: VAE, torch: Any, X: npt.NDArray[Any], checkpoint: Path | None
    ) -> None:
        self.options, self.torch, self.checkpoint = options, torch, checkpoint
        self.device = self._device()
        self.X = torch.from_numpy(np.array(X, order="C")).to(self.device)
        n = len(X)
        held_out = 0
        if options.patience and n >= LEAST_ITEMS_TO_HOLD_OUT:
            held_out = max(1, round(options.held_out * n))
        order = self._draw(SPLIT).permutation(n)
        self.trained, self.held_out = np.sort(order[held_out:]), np.sort(order[:held_out])
        self.network = self._network(X.shape[1])
        self.adam = torch.optim.Adam(self.network.parameters(), lr=options.learning_rate)
        self.epoch = 0
        self.best_epoch = 0
        self.best_loss = float("inf")
        self.best = self._weights()
        self.written = self.cost = 0.0

    def run(self, progress: NotedProgress | None) -> npt.NDArray[np.float32]:
        """Train what is left to train, then encode."""
        options = self.options
        self._resume()
        while self.epoch < options.epochs and not self._settled():
            loss = self._train()
            note = f"loss {loss:.2f}"
            self.epoch += 1
            if len(self.held_out):
                loss = self._loss_held_out()
                note += f", held out {loss:.2f}"
            if not np.isfinite(loss):
                raise ConvergenceError(
                    f"the vae's loss is {loss} after {self.epoch} epochs: try a smaller "
                    "learning_rate"
                )
            if not len(self.held_out) or loss < self.best_loss:
                self.best_epoch, self.best_loss, self.best = self.epoch, loss, self._weights()
            self._keep()
            if progress:
                progress(self.epoch, options.epochs, note)
        self.network.load_state_dict(self.best)
        return self._means()

    def _settled(self) -> bool:
        """Whether the held-out loss has not improved for long enough."""
        return len(self.held_out) > 0 and self.epoch - self.best_epoch >= self.options.patience

    def _train(self) -> float:
        """Train one epoch; returns the mean loss per item."""
        random = self._draw(EPOCHS + self.epoch)
        order = random.permutation(self.trained)
        noise = self._noise(random, len(order))
        total = 0.0
        for start in range(0, len(order), self.options.batch):
            part = slice(start, start + self.options.batch)
            self.adam.zero_grad()
            loss = self._loss(order[part], noise[part])
            (loss / len(order[part])).backward()
            self.adam.step()
            total += float(loss.detach())
        return total / len(order)

    def _loss_held_out(self) -> float:
        """The mean loss per held-out item, with the same noise every time."""
        noise = self._noise(self._draw(HELD_OUT_NOISE), len(self.held_out))
        total = 0.0
        with self.torch.no_grad():
            for start in range(0, len(self.held_out), 1024):
                part = slice(start, start + 1024)
                total += float(self._loss(self.held_out[part], noise[part]))
        return total / len(self.held_out)

    def _loss(self, chosen: npt.NDArray[np.int64], noise: Any) -> Any:
        """The sum of both terms over the chosen items."""
        torch, network = self.torch, self.network
        x = self._values(torch.from_numpy(chosen).to(self.device))
        hidden = torch.relu(network["encode"](x))
        mean, log_variance = network["mean"](hidden), network["log_variance"](hidden)
        z = mean + noise * torch.exp(log_variance / 2)
        logits = network["out"](torch.relu(network["decode"](z)))
        cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, x, reduction="sum"
        )
        return cross_entropy + (mean**2 + log_variance.exp() - 1 - log_variance).sum() / 2

    def _means(self) -> npt.NDArray[np.float32]:
        torch, network = self.torch, self.network
        parts = []
        with torch.no_grad():
            for part in torch.arange(len(self.X), device=self.device).split(4096):
                hidden = torch.relu(network["encode"](self._values(part)))
                parts.append(network["mean"](hidden).cpu().numpy())
        return np.concatenate(parts).astype(np.float32)

    def _values(self, chosen: Any) -> Any:
        x = self.X[chosen]
        return x.float() / 255 if x.dtype == self.torch.uint8 else x

    def _network(self, d: int) -> Any:
        """Linear layers whose first weights are uniform in +-1/sqrt(inputs)."""
        torch, options = self.torch, self.options
        widths = {
            "encode": (d, options.hidden),
            "mean": (options.hidden, options.dimensions),
            "log_variance": (options.hidden, options.dimensions),
            "decode": (options.dimensions, options.hidden),
            "out": (options.hidden, d),
        }
        random = self._draw(FIRST_WEIGHTS)
        network = torch.nn.ModuleDict()
        for name, (inputs, outputs) in widths.items():
            # Allocated only: torch's own generator is neither used nor moved.
            layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
            with torch.no_grad():
                for weights in (layer.weight, layer.bias):
                    drawn = random.uniform(-1, 1, tuple(weights.shape)) / np.sqrt(inputs)
                    weights.copy_(torch.from_numpy(drawn))
            network[name] = layer
        return network.to(self.device)

    def _draw(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.options.seed, purpose])

    def _noise(self, random: np.random.Generator, n: int) -> Any:
        drawn = random.standard_normal((n, self.options.dimensions), dtype=np.float32)
        return self.torch.from_numpy(drawn).to(self.device)

    def _weights(self) -> dict[str, Any]:
        return {name: value.clone() for name, value in self.network.state_dict().items()}

    def _device(self) -> str:
        has_cuda = self.torch.cuda.is_available()
        if self.options.device == "cuda" and not has_cuda:
            raise InputError("device is cuda and torch finds none: use device=cpu or auto")
        return "cuda" if has_cuda and self.options.device != "cpu" else "cpu"

    def _keep(self) -> None:
        """Write a checkpoint, unless the last one is too recent to be worth the time."""
        if self.checkpoint is None:
            return
        start = time.monotonic()
        if self.written and start - self.written < self.cost / CHECKPOINT_SHARE:
            return
        buffer = io.BytesIO()
        state = {
            "network": self.network.state_dict(),
            "adam": self.adam.state_dict(),
            "best": self.best,
            "best_epoch": self.best_epoch,
            "best_loss": self.best_loss,
            "epoch": self.epoch,
        }
        self.torch.save(state, buffer)
        folders.keep(self.checkpoint, lambda file: file.write(buffer.getbuffer()))
        self.written = time.monotonic()
        self.cost = self.written - start

    def _resume(self) -> None:
        """Resume from the checkpoint, if there is one and it is undamaged."""
        if self.checkpoint is None or not self.checkpoint.is_file():
            return
        fresh = self._weights(), self.adam.state_dict()
        try:
            state = self.torch.load(self.checkpoint, map_location=self.device, weights_only=True)
            self.network.load_state_dict(state["best"])  # of the right shapes?
            self.network.load_state_dict(state["network"])
            self.adam.load_state_dict(state["adam"])
            self.epoch, self.best_epoch = int(state["epoch"]), int(state["best_epoch"])
            self.best_loss, self.best = float(state["best_loss"]), state["best"]
        except Exception:  # whatever is wrong with the file, the remedy is the same
            self.network.load_state_dict(fresh[0])
            self.adam.load_state_dict(fresh[1])
            self.epoch = self.best_epoch = 0
            self.best_loss, self.best = float("inf"), self._weights()
            with suppress(OSError):
                self.checkpoint.unlink()
