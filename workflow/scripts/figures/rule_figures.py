"""Draw figures of the catalogue, one after the other."""

import gc

from workflow.scripts.common import logged

gc.disable()  # looking for garbage takes an eighth of the time of a process that ends soon

with logged(snakemake.log[0]):
    from workflow.scripts.figures.drawing import draw

    # Where the tables are: a module may have put a prefix before their paths.
    asked = {
        path for entry in snakemake.params.figures.values() for path in entry["tables"].values()
    }
    there = dict(zip(sorted(asked), snakemake.input.tables, strict=True))
    files = zip(snakemake.output.png, snakemake.output.pdf, strict=True)
    for (name, entry), (png, pdf) in zip(snakemake.params.figures.items(), files, strict=True):
        print(f"drawing {name}", flush=True)
        tables = {name: there[path] for name, path in entry["tables"].items()}
        draw(entry["function"], tables, entry["shows"], png, pdf)
