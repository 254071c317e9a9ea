"""The forward pass of Google's multilingual universal sentence encoder, version 3, in NumPy.

Tokens are looked up in a table, mixed with their neighbours by three convolutions (2, 3 and 5
tokens wide), summed, and passed through a small residual network; `tanh` and normalisation follow.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

Float = npt.NDArray[np.float32]

#: Length of a vector, of the table's rows and of the result.
DIMENSIONS = 512
#: Channels of each convolution, and the tokens before and after the current one that it sees.
CHANNELS = 256
WINDOWS = {2: (0, 1), 3: (1, 1), 5: (2, 2)}
#: Rows of zeros before, between and after texts: no convolution reaches from one into the next.
GAP_ROWS = 2
#: Parts of the table, each with its scale: token i is row i // N_PARTS of part i % N_PARTS.
N_PARTS = 17


@dataclass(frozen=True)
class Convolution:
    """Two residual layers ``x + relu(window(x) @ W + b)`` of one width."""

    width: int
    layers: tuple[tuple[Float, Float], ...]

    def __call__(self, x: Float, gaps: npt.NDArray[np.intp]) -> Float:
        """Of rows `x`; the rows `gaps` are zero before and after."""
        before, after = WINDOWS[self.width]
        for W, b in self.layers:
            padded = np.zeros((len(x) + before + after, CHANNELS), dtype=np.float32)
            padded[before : before + len(x)] = x
            windows = sliding_window_view(padded.reshape(-1), self.width * CHANNELS)[::CHANNELS]
            change = np.ascontiguousarray(windows) @ W
            change += b
            np.maximum(change, 0, out=change)
            change += x
            change[gaps] = 0
            x = change
        return x


@dataclass(frozen=True)
class UniversalEncoder:
    """The network's weights, ready for use; see `read`."""

    table: npt.NDArray[np.uint8]
    scale: Float
    least: Float
    projection: tuple[Float, Float]
    first_norm: tuple[Float, Float]
    convolutions: tuple[Convolution, ...]
    second_norm: tuple[Float, Float]
    output: tuple[Float, Float]
    dense: tuple[Float, Float, Float, Float]
    shortcuts: tuple[Float, Float]
    eps: float

    def __call__(self, texts: Sequence[Sequence[int]]) -> Float:
        """One vector of length 1 for each text, (n, 512), from its token numbers (at least one)."""
        lengths = np.array([len(tokens) for tokens in texts])
        starts = GAP_ROWS + np.concatenate([[0], np.cumsum(lengths[:-1] + GAP_ROWS)])
        n_rows = int(starts[-1] + lengths[-1]) + GAP_ROWS
        used = np.zeros(n_rows, dtype=bool)
        for start, length in zip(starts, lengths, strict=True):
            used[start : start + length] = True
        gaps = np.flatnonzero(~used)
        tokens = np.zeros(n_rows, dtype=np.int64)
        tokens[used] = np.concatenate([np.asarray(text, dtype=np.int64) for text in texts])

        features = self._features(tokens, gaps)
        sums = np.add.reduceat(features, starts, axis=0)  # gaps are zero and add nothing
        W, b = self.output
        x = sums @ W
        x /= np.sqrt(lengths, dtype=np.float32)[:, None]
        x += np.sqrt(lengths, dtype=np.float32)[:, None] * b
        return self._deep(x)

    def _features(self, tokens: npt.NDArray[np.int64], gaps: npt.NDArray[np.intp]) -> Float:
        """Each token by its own row of the table and its neighbourhoods; the rows `gaps` zero."""
        features = np.empty((len(tokens), DIMENSIONS + len(WINDOWS) * CHANNELS), dtype=np.float32)
        part = tokens % N_PARTS
        own = features[:, :DIMENSIONS]
        np.multiply(self.table[tokens], self.scale[part, None], out=own)
        own += self.least[part, None]
        W, b = self.projection
        x = own @ W
        x += b
        _normalise(x, *self.first_norm, self.eps)
        x[gaps] = 0
        for i, convolution in enumerate(self.convolutions):
            columns = slice(i * CHANNELS, (i + 1) * CHANNELS)
            features[:, DIMENSIONS:][:, columns] = convolution(x[:, columns], gaps)
        _normalise(features, *self.second_norm, self.eps)
        features[gaps] = 0
        return features

    def _deep(self, x: Float) -> Float:
        D0, D1, D2, D3 = self.dense
        P1, P3 = self.shortcuts
        y = np.maximum(x @ P1 + np.maximum(x @ D0, 0) @ D1, 0)
        z = np.tanh(y @ P3 + np.maximum(y @ D2, 0) @ D3)
        z /= np.maximum(np.linalg.norm(z, axis=1, keepdims=True), np.float32(1e-6))
        return np.asarray(z, dtype=np.float32)


def read(content: bytes) -> UniversalEncoder:
    """The encoder from the content of its ``.npz`` file, whose checksum has been verified."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        parts = [stored[f"q{i + 1}"] for i in range(N_PARTS)]
        w: dict[str, Any] = {name: stored[name] for name in stored.files if name[0] != "q"}
    table = np.empty((N_PARTS * len(parts[0]), DIMENSIONS), dtype=np.uint8)
    for i, part in enumerate(parts):
        table[i::N_PARTS] = part

    def joined(name: str, axis: int) -> Float:
        return np.concatenate([w[f"{name}{width}"] for width in WINDOWS], axis=axis)

    return UniversalEncoder(
        table=table,
        scale=w["scale"],
        least=w["lo"],
        projection=(joined("proj", 1), joined("proj_b", 0)),
        first_norm=(joined("ln_g", 0), joined("ln_b", 0)),
        convolutions=tuple(
            Convolution(
                width,
                tuple((w[f"w{layer}_{width}"], w[f"b{layer}_{width}"]) for layer in (1, 2)),
            )
            for width in WINDOWS
        ),
        second_norm=(w["ln_g"], w["ln_b"]),
        output=(w["cnn_W"], w["cnn_b"]),
        dense=(w["d0"], w["d1"], w["d2"], w["d3"]),
        shortcuts=(w["p1"], w["p3"]),
        eps=float(w["eps"]),
    )


def _normalise(x: Float, gain: Float, shift: Float, eps: float) -> None:
    """Layer normalisation of each row, in place."""
    x -= x.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
    x *= (1 / np.sqrt(variance + np.float32(eps)))[:, None]
    x *= gain
    x += shift
