"""Ways of making releases that can be called again and again: commands, functions and protections.

A generator is given some people and makes one release; that is a run. What it is given and what it makes are told by
`Given` and `Made`.
"""

from unveil.protections.generators.about import about, scripts_of
from unveil.protections.generators.choose import generator_from
from unveil.protections.generators.command import Command, with_env
from unveil.protections.generators.function import Function
from unveil.protections.generators.generator import Generator, Given, Made, RunError
from unveil.protections.generators.protection import Protection

__all__ = [
    "Command",
    "Function",
    "Generator",
    "Given",
    "Made",
    "Protection",
    "RunError",
    "about",
    "generator_from",
    "scripts_of",
    "with_env",
]
