"""Small copies of the figures for the README's gallery.

python -m tools.gallery figures docs/gallery [PREFIX NAME...]

With names, only those figures are copied that are there; PREFIX begins the names of their copies.
"""

import io
import sys
from pathlib import Path

from PIL import Image

from workflow.scripts.common import InputError, written

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


def main(figures_dir, out_dir, prefix="", *names):
    """Write a copy of every PNG under `figures_dir`; figures/datasets/foods: datasets-foods.

    All have one scale, the largest at which they stay below LIMIT together.
    """
    figures_dir = Path(figures_dir)
    paths = sorted(figures_dir.rglob("*.png"))
    if names:
        paths = [path for path in paths if path.stem in names]
    if not paths:
        raise InputError(f"there is no PNG under {figures_dir}; make the figures first")
    for scale in SCALES:
        copies = {
            prefix + "-".join(path.relative_to(figures_dir).parts): small(path, scale)
            for path in paths
        }
        if sum(map(len, copies.values())) < LIMIT:
            break
    else:
        raise InputError(
            f"{len(paths)} figures do not fit into {LIMIT // 1024} KiB at the smallest scale; "
            f"move some out of {figures_dir}"
        )
    for name, data in copies.items():
        with written(Path(out_dir) / name, "wb") as file:
            file.write(data)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")
