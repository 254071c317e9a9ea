"""Models in the form that the pretrained encoders come in, of a few hundred bytes each.

An ONNX file is a protocol buffer: fields of a number, a kind and a value, written out below as far
as one node needs them.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

FLOAT, INT64 = 1, 7


def varint(value: int) -> bytes:
    more = value >> 7
    return bytes([value & 0x7F | 0x80]) + varint(more) if more else bytes([value])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def fields(number: int, values: Sequence[int | str | bytes]) -> bytes:
    return b"".join(field(number, value) for value in values)


def tensor_type(name: str, kind: int, dimensions: Sequence[str]) -> bytes:
    shape = fields(1, [field(2, dimension) for dimension in dimensions])
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def onnx(node: bytes, given: bytes, returned: bytes, constants: Sequence[bytes] = ()) -> bytes:
    graph = field(1, node) + field(2, "tiny") + fields(5, constants)
    graph += field(11, given) + field(12, returned)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def text_model(folder: Path, words: Sequence[str]) -> Path:
    """Every word is a random vector; a text is its first word."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    names = ["[PAD]", "[UNK]", *words]
    tokenizer = Tokenizer(
        models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 16, "pad_token": "[PAD]"})
    )
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))
    table = np.random.default_rng(0).normal(size=(len(names), 8)).astype("<f4")
    constant = fields(1, table.shape) + field(2, FLOAT) + field(8, "table")
    constant += field(9, table.tobytes())
    node = fields(1, ["table", "input_ids"]) + field(2, "states") + field(4, "Gather")
    content = onnx(
        node,
        tensor_type("input_ids", INT64, ["items", "words"]),
        tensor_type("states", FLOAT, ["items", "words", "numbers"]),
        [constant],
    )
    (folder / "model_optimized.onnx").write_bytes(content)
    return folder


def image_model(folder: Path) -> Path:
    """An image is its mean colour."""
    folder.mkdir()
    (folder / "preprocessor_config.json").write_text(
        json.dumps(
            {
                "image_processor_type": "CLIPImageProcessor",
                "do_resize": True,
                "size": {"shortest_edge": 8},
                "resample": 2,
                "do_center_crop": True,
                "crop_size": {"height": 8, "width": 8},
                "do_rescale": True,
                "do_normalize": True,
                "image_mean": [0.4, 0.4, 0.4],
                "image_std": [0.3, 0.3, 0.3],
            }
        )
    )
    node = field(1, "pixels") + field(2, "means") + field(4, "GlobalAveragePool")
    content = onnx(
        node,
        tensor_type("pixels", FLOAT, ["items", "colours", "height", "width"]),
        tensor_type("means", FLOAT, ["items", "colours", "one", "one_"]),
    )
    (folder / "model.onnx").write_bytes(content)
    return folder
