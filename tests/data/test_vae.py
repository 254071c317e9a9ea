"""The variational autoencoder: what it learns, and the same numbers again, even if killed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import poise
from poise.errors import InputError, MissingExtraError

SMALL = {"hidden": 16, "dimensions": 3, "epochs": 8, "batch": 32}


def two_kinds(n=160):
    """Pictures of 8 x 8 pixels that are bright on the left or on the right."""
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=n)
    X = rng.integers(0, 60, size=(n, 8, 8))
    X[kind == 0, :, :4] += 180
    X[kind == 1, :, 4:] += 180
    return X.astype(np.uint8), kind


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POISE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "embeddings"


def test_without_torch_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r"needs torch.*pip install 'poise\[vae\]'"
    ) as caught:
        poise.embed(np.zeros((3, 4)), "vae")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"dimensions": 0},
        {"hidden": 2.5},
        {"epochs": "many"},
        {"patience": -1},
        {"held_out": 1.0},
        {"learning_rate": 0},
        {"batch": True},
        {"seed": -1},
        {"device": "abacus"},
    ],
)
def test_parameters_are_checked_before_anything_else(parameters):
    (name,) = parameters
    with pytest.raises(InputError, match=f"{name} is .*it must be"):
        poise.embed(np.zeros((3, 4)), "vae", **parameters)


class TestTraining:
    @pytest.fixture(autouse=True)
    def one_thread(self):
        torch = pytest.importorskip("torch", reason="needs torch: install the extra vae")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)

    def test_tells_kinds_apart_and_reports_the_loss(self):
        X, kind = two_kinds()
        reports = []
        Z = poise.embed(X, "vae", progress=lambda *given: reports.append(given), **SMALL)
        assert Z.shape == (160, 3)
        assert Z.dtype == np.float32
        apart = np.linalg.norm(Z[kind == 0].mean(axis=0) - Z[kind == 1].mean(axis=0))
        assert apart > 2 * Z[kind == 0].std(axis=0).max()
        assert [done for done, _, _ in reports] == list(range(1, 9))
        assert {total for _, total, _ in reports} == {8}
        losses = [float(note.split()[1].rstrip(",")) for _, _, note in reports]
        assert losses[-1] < losses[0]
        assert "held out" in reports[0][2]

    def test_same_numbers_whatever_else_is_drawn_and_reported(self):
        import torch

        X, _ = two_kinds()
        first = poise.embed(X, "vae", cached=False, **SMALL)
        torch.manual_seed(5)
        state = torch.get_rng_state()
        again = poise.embed(X, "vae", cached=False, progress=lambda *given: None, **SMALL)
        np.testing.assert_array_equal(first, again)
        assert torch.equal(torch.get_rng_state(), state)
        other = poise.embed(X, "vae", cached=False, seed=1, **SMALL)
        assert not np.allclose(first, other)

    def test_bytes_and_their_shares_are_the_same_picture(self):
        X, _ = two_kinds()
        as_bytes = poise.embed(X, "vae", **SMALL)
        np.testing.assert_allclose(
            poise.embed(X / np.float32(255), "vae", **SMALL), as_bytes, atol=1e-4
        )

    def test_numbers_outside_0_to_1_are_scaled(self):
        X, _ = two_kinds()
        scaled = (X.astype(float) - X.min()) / (int(X.max()) - int(X.min()))
        np.testing.assert_allclose(
            poise.embed(X * 1e9 - 3e8, "vae", **SMALL),
            poise.embed(scaled, "vae", **SMALL),
            atol=1e-4,
        )

    def test_stops_when_the_held_out_loss_no_longer_improves(self):
        rng = np.random.default_rng(0)
        noise = rng.integers(0, 2, size=(60, 30)) * 255
        options = SMALL | {"epochs": 400, "hidden": 200, "learning_rate": 0.01}
        reports = []
        poise.embed(
            noise.astype(np.uint8),
            "vae",
            patience=3,
            progress=lambda *given: reports.append(given),
            **options,
        )
        assert 4 <= len(reports) < 100
        held_out = [float(note.split()[-1]) for _, _, note in reports]
        assert np.argmin(held_out) == len(held_out) - 4

    @pytest.mark.parametrize("n", [1, 2, 19, 20])
    def test_few_items(self, n):
        Z = poise.embed(two_kinds()[0][:n], "vae", **SMALL)
        assert Z.shape == (n, 3)
        assert np.isfinite(Z).all()

    def test_constant_items(self):
        assert np.isfinite(poise.embed(np.full((30, 5), 7.0), "vae", **SMALL)).all()

    def test_refuses_a_device_that_is_not_there(self):
        import torch

        if torch.cuda.is_available():
            pytest.skip("there is a cuda device")
        with pytest.raises(InputError, match="cuda and torch finds none"):
            poise.embed(two_kinds()[0], "vae", device="cuda", **SMALL)

    def test_a_killed_training_resumes_and_ends_with_the_same_numbers(self, own_cache):
        X, _ = two_kinds()
        whole = poise.embed(X, "vae", cached=False, **SMALL)
        code = (
            "import sys, time, numpy as np, poise\n"
            "def report(done, total, note):\n"
            "    print(done, flush=True)\n"
            "    if done == 4: time.sleep(600)\n"
            "X = np.load(sys.argv[1])\n"
            f"poise.embed(X, 'vae', progress=report, **{SMALL!r})"
        )
        path = own_cache.parent / "X.npy"
        path.parent.mkdir()
        np.save(path, X)
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line == "4\n":
                    break
            process.kill()
        assert process.returncode == -signal.SIGKILL
        assert [kept.suffix for kept in own_cache.iterdir()] == [".checkpoint"]

        reports = []
        resumed = poise.embed(X, "vae", progress=lambda *given: reports.append(given), **SMALL)
        assert 1 < reports[0][0] <= 5  # not from the start
        np.testing.assert_array_equal(resumed, whole)
        assert [kept.suffix for kept in own_cache.iterdir()] == [".npy"]

    @pytest.mark.parametrize("damage", ["nothing", "half", "noise", "another"])
    def test_a_damaged_checkpoint_is_started_again_from(self, own_cache, damage):
        import torch

        X, _ = two_kinds()
        whole = poise.embed(X, "vae", cached=False, **SMALL)

        class Stop(Exception):
            pass

        def stop(done, total, note):
            raise Stop

        with pytest.raises(Stop):
            poise.embed(X, "vae", progress=stop, **SMALL)
        (checkpoint,) = own_cache.iterdir()
        content = checkpoint.read_bytes()
        if damage == "another":
            state = torch.load(checkpoint, weights_only=True)
            state["network"]["mean.bias"] = torch.zeros(9)
            torch.save(state, checkpoint)
        else:
            written = {"nothing": b"", "half": content[: len(content) // 2], "noise": b"x" * 999}
            checkpoint.write_bytes(written[damage])
        reports = []
        again = poise.embed(X, "vae", progress=lambda *given: reports.append(given), **SMALL)
        assert reports[0][0] == 1
        np.testing.assert_array_equal(again, whole)

    def test_ctrl_c_leaves_a_checkpoint_and_no_output(self, own_cache, tmp_path):
        code = (
            "from poise.cli import main, progress; import sys\n"
            "progress.QUIET_SECONDS = 1e6; main.main(sys.argv[1:])"
        )
        line = f"embed digits --with vae --set epochs=99999 --set hidden=8 -o {tmp_path}/X.npy"
        line += " --set patience=0"
        with subprocess.Popen(
            [sys.executable, "-c", code, *line.split()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        ) as process:
            while process.poll() is None and not list(own_cache.glob("*.checkpoint")):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err.strip()) == (130, "", "poise: interrupted")
        assert not list(tmp_path.glob("X*"))
        assert list(own_cache.glob("*.checkpoint"))

    @pytest.mark.data
    @pytest.mark.slow
    def test_digits_are_closer_to_their_own_kind_than_by_principal_components(self):
        dataset = poise.load_dataset("mnist")
        chosen = np.random.default_rng(0).permutation(dataset.n_points)[:10_000]
        X, y = dataset.X[chosen], dataset.clusters[chosen]

        def accuracy(Z):
            import faiss

            index = faiss.IndexFlatL2(Z.shape[1])
            index.add(Z)
            return (y[index.search(Z, 2)[1][:, 1]] == y).mean()

        pca = accuracy(poise.embed(X, "pca", dimensions=20))
        assert accuracy(poise.embed(X, "vae")) > pca
