"""Generators that can be called repeatedly: commands, functions, and protections.

A generator is given some people and makes one release; that is a run. What it is given and what it makes are told by
`SourceTable` and `GeneratedRelease`.
"""

from unveil.protections.generators.about import about, scripts_of
from unveil.protections.generators.choose import generator_from
from unveil.protections.generators.command import CommandGenerator, with_env
from unveil.protections.generators.function import FunctionGenerator
from unveil.protections.generators.generator import GeneratedRelease, Generator, RunError, SourceTable
from unveil.protections.generators.protection import ProtectionGenerator

__all__ = [
    "CommandGenerator",
    "FunctionGenerator",
    "GeneratedRelease",
    "Generator",
    "ProtectionGenerator",
    "RunError",
    "SourceTable",
    "about",
    "generator_from",
    "scripts_of",
    "with_env",
]
