# %% [markdown]
# # Auditing a synthetic table in pandas
#
# A synthetic table is not private because it is synthetic: a generator may have learned people by heart. This notebook
# audits two generators of the same table, one that copies and one that does not, and ends with a test that stops the first.
#
# ## The people
#
# 360 made-up people. Half of them are given to the generator; the other half are kept apart, so that an attack on them shows
# what can be guessed about anybody of that kind, in the data or not.

# %%
import numpy as np
import pandas as pd

import unveil

rng = np.random.default_rng(7)
n = 360
age = rng.integers(18, 90, n)
people = pd.DataFrame(
    {
        "age": age,
        "town": rng.choice(["Ulm", "Bonn", "Kiel", "Trier", "Jena"], n),
        "children": rng.poisson(np.clip(age - 18, 0, 30) / 15),
        "income": (500 + 60 * age + rng.gamma(2.0, 300.0, n)).round(),
    }
)
given, others = people[: n // 2], people[n // 2 :]
given.head(3)

# %% [markdown]
# ## A generator that learned by heart
#
# It draws people with replacement and moves their income by a few euros: every row looks made up, and most are somebody.


# %%
def memorising(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    drawn = table.sample(len(table), replace=True, random_state=rng)
    return drawn.assign(income=drawn["income"] + rng.integers(-3, 4, len(drawn)))


def independent(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame({name: rng.permutation(column) for name, column in table.items()})


settings = {
    "kind": "synthetic",
    "attacks": ["linkability", "inference", "membership", "utility"],
    "sensitive": ["income"],
}
answer = unveil.audit(given, memorising(given, rng), others, **settings)
answer

# %% [markdown]
# The answer in a notebook is the whole report; here it is linked. As a table, one row for each attack and adversary:

# %%
answer.to_polars().select("attack", "secret", "attack_rate", "control_rate", "excess_over_control", "proved")

# %% [markdown]
# And as a picture: how often each attack succeeds on people in the data, beside people who are not in it.

# %%
axes = answer.plot()

# %% [markdown]
# ## A generator that mixes
#
# Every column on its own: no row is anybody's, and nothing that columns have to do with one another is kept.

# %%
mixed = unveil.audit(given, independent(given, rng), others, **settings)
mixed

# %% [markdown]
# Nothing is proved now, and the other side of the coin is the loss of use: 0 is a release that is as good as the original.

# %%
for name, each in {"memorising": answer, "independent": mixed}.items():
    print(f"{name}: loss of use {each.findings.releases[0].utility.loss:.2f}")

# %% [markdown]
# ## As a test
#
# `assert_release_ok` is the same audit for a test suite: it raises an `AssertionError` that says which limit is not kept.

# %%
try:
    unveil.assert_release_ok(
        given,
        memorising(given, rng),
        {"membership.excess_over_control": 0.1},
        others,
        kind="synthetic",
        attacks=["membership"],
    )
except AssertionError as error:
    print(error)
