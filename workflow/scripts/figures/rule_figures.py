"""Draw figures of the catalogue, one after the other."""

import gc

from workflow.scripts.common import logged

gc.disable()  # looking for garbage takes an eighth of the time of a process that ends soon

with logged(snakemake.log[0]):
    from workflow.scripts.figures.drawing import draw

    figures, out = snakemake.params.figures, snakemake.output
    # Where the tables are: a module may have put a prefix before their paths.
    asked = sorted({path for entry in figures.values() for path in entry["tables"].values()})
    there = dict(zip(asked, snakemake.input.tables, strict=True))
    for (name, entry), *files in zip(figures.items(), out.png, out.pdf, out.page, strict=True):
        print(f"drawing {name}", flush=True)
        tables = {table: there[path] for table, path in entry["tables"].items()}
        draw(name, entry | {"tables": tables}, *files)
