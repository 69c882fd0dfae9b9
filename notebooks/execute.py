"""Run every notebook from top to bottom; stop with its error when a cell raises.

    python notebooks/execute.py                 all of them
    python notebooks/execute.py 02_the_gap      some of them
        --keep FOLDER   also write them with their output, and their pictures as .png

The notebooks are scripts in jupytext's percent format, so that no output is ever committed: open them in Jupyter
with the jupytext extension, or turn one into an .ipynb with `jupytext --to ipynb notebooks/02_the_gap.py`.
"""

from __future__ import annotations

import argparse
import base64
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def execute(script: Path) -> Any:
    """The notebook of *script* with its output; raises what its first failing cell raised."""
    import jupytext  # type: ignore[import-untyped]
    from nbclient import NotebookClient

    notebook = jupytext.read(script)
    client = NotebookClient(
        notebook,
        timeout=200,
        kernel_name="python3",
        resources={"metadata": {"path": str(HERE)}},
        extra_arguments=["--IPKernelApp.log_level=40"],  # it warns of itself at every start
    )
    client.execute()
    return notebook


def pictures(notebook: Any) -> list[bytes]:
    """The pictures among the outputs of *notebook*, in order."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    found = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [base64.b64decode(data) for data in found]


def warnings_of(notebook: Any) -> list[str]:
    """What the cells wrote to standard error, such as a missing glyph."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output["text"] for output in outputs if output.get("name") == "stderr"]


def keep(folder: Path, name: str, notebook: Any) -> None:
    """Write *notebook* and its pictures into *folder*."""
    import nbformat

    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")  # type: ignore[no-untyped-call]
    for number, data in enumerate(pictures(notebook), 1):
        (folder / f"{name}_{number}.png").write_bytes(data)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="without .py")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    scripts = [HERE / f"{name}.py" for name in options.names] or sorted(HERE.glob("[0-9]*.py"))
    for script in scripts:
        start = time.perf_counter()
        try:
            notebook = execute(script)
        except Exception as error:
            sys.exit(f"{script.name} failed:\n{error}")
        if told := warnings_of(notebook):
            sys.exit(f"{script.name} warned:\n{''.join(told)}")
        if options.keep is not None:
            keep(options.keep, script.stem, notebook)
        print(
            f"{script.name}: {len(pictures(notebook))} pictures, {time.perf_counter() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
