"""Small copies of the figures for the README's gallery.

python -m tools.gallery figures docs/gallery [PREFIX NAME...]

With names, only these figures are copied, those that exist; the names of copies begin with PREFIX.
"""

import io
from pathlib import Path

from PIL import Image

from workflow.scripts.common import InputError, program, written

LIMIT = 700 * 1024  # bytes, of all copies together
SCALES = (0.62, 0.56, 0.5, 0.44, 0.38)  # of a figure's size; text stays readable down to 0.5
COLORS = 128


def small(path, scale):
    """The bytes of a smaller PNG with few colours."""
    with Image.open(path) as image:
        size = [round(side * scale) for side in image.size]
        copy = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    copy = copy.quantize(COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    copy.save(buffer, format="png", optimize=True)
    return buffer.getvalue()


def main(figures, out, prefix="", *names):
    """Write a copy of every PNG under `figures`; figures/datasets/foods: datasets-foods.

    All have one scale, the largest at which they stay below LIMIT together.
    """
    paths = {
        prefix + "-".join(path.relative_to(figures).parts): path
        for path in sorted(Path(figures).rglob("*.png"))
        if not names or path.stem in names
    }
    if not paths:
        raise InputError(f"there is no PNG under {figures}; make the figures first")
    for scale in SCALES:
        copies = {name: small(path, scale) for name, path in paths.items()}
        if sum(map(len, copies.values())) < LIMIT:
            break
    else:
        raise InputError(
            f"{len(paths)} figures do not fit into {LIMIT // 1024} KiB at the smallest scale; "
            f"move some out of {figures}"
        )
    for name, data in copies.items():
        with written(Path(out) / name, "wb") as file:
            file.write(data)


if __name__ == "__main__":
    program(main)
