"""Draw figures of the catalogue, one after the other."""

import gc

from workflow.scripts.common import logged

gc.disable()  # looking for garbage takes an eighth of the time of a process that ends soon

with logged(snakemake.log[0]):
    from workflow.scripts.figures.drawing import draw

    files = zip(snakemake.output.png, snakemake.output.pdf, strict=True)
    for (name, entry), (png, pdf) in zip(snakemake.params.figures.items(), files, strict=True):
        print(f"drawing {name}", flush=True)
        draw(entry["function"], entry["tables"], entry["shows"], png, pdf)
