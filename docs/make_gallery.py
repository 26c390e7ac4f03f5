"""Run the code of gallery.md, and draw the picture that stands above each piece of it: python docs/make_gallery.py."""

import os
import re
import tempfile
from contextlib import chdir
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
_ENTRY = re.compile(r"^!\[[^\]]*\]\((images/gallery/\w+\.png)\)\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Draw every picture of the gallery."""
    os.environ["MPLBACKEND"] = "Agg"
    from matplotlib import pyplot
    from PIL import Image

    variables: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        for picture, code in _ENTRY.findall((FOLDER / "gallery.md").read_text(encoding="utf-8")):
            with chdir(folder):
                exec(compile(code, picture, "exec"), variables)  # noqa: S102 - the code of this project's own page
            place = FOLDER / picture
            place.parent.mkdir(parents=True, exist_ok=True)
            pyplot.gcf().savefig(place, dpi=80, bbox_inches="tight")
            # A few dozen colours are enough for charts, and make the file several times smaller.
            Image.open(place).convert("RGB").quantize(64).save(place, optimize=True)
            pyplot.close("all")


if __name__ == "__main__":
    main()
