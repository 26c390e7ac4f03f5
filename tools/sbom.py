"""Write all that unveil is made of as CycloneDX JSON, from constraints.txt: the same list gives the same bytes."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Run as a file, this folder is on the path and the project is not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.environment import CONSTRAINTS, ROOT, project
from tools.licences import Package, is_spdx, read_lock


def main(arguments: list[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="where to write it")
    path = Path(parser.parse_args(arguments).file)
    content = bill_of_materials(project()["project"], read_lock(ROOT / CONSTRAINTS))
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(f"{path} lists {len(content['components'])} packages.")


def bill_of_materials(about: dict[str, Any], packages: list[Package]) -> dict[str, Any]:
    """Return the list in the form of CycloneDX 1.5.

    It has no serial number and no time, which the form allows, so that nothing but a changed list changes it.
    """
    itself = _component(about["name"], about["version"], about["license"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": itself},
        "components": [_component_of(package, about["optional-dependencies"]) for package in packages],
    }


def _component(name: str, version: str, licence: str) -> dict[str, Any]:
    address = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "licenses": [{"expression": licence} if is_spdx(licence) else {"license": {"name": licence}}],
        "purl": address,
    }


def _component_of(package: Package, extras: Iterable[str]) -> dict[str, Any]:
    parts = {*package.needed_by}
    # What only tests, comparisons and builds need is no part of what runs.
    scope = "required" if "core" in parts else "optional" if parts & {*extras} else "excluded"
    return {
        **_component(package.name, package.version, package.licence),
        "scope": scope,
        "hashes": [{"alg": "SHA-256", "content": value} for value in package.hashes],
        "properties": [{"name": "unveil:needed-by", "value": part} for part in package.needed_by],
    }


if __name__ == "__main__":
    main()
