import base64
import io

import numpy as np
import pytest
from PIL import Image  # the oracle: an independent reader of the format

from poise.errors import InputError
from poise.experiments.drawing.images import ink_uri


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (3, 17)])
def test_another_reader_sees_the_same_image(shape: tuple[int, int]) -> None:
    ink = np.random.default_rng(0).random(shape)
    head, content = ink_uri(ink).split(",")
    assert head == "data:image/png;base64"
    with Image.open(io.BytesIO(base64.b64decode(content))) as image:
        image.load()
        assert image.mode == "LA"
        pixels = np.asarray(image)
    assert (pixels[..., 0] == 0).all()
    np.testing.assert_array_equal(pixels[..., 1], np.rint(255 * ink))


def test_ink_outside_its_range_is_clipped() -> None:
    assert ink_uri([[-1.0, 2.0]]) == ink_uri([[0.0, 1.0]])


@pytest.mark.parametrize("shape", [(0, 3), (4,), (2, 2, 3)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="height, width"):
        ink_uri(np.zeros(shape))
