# %% [markdown]
# # Audit a synthetic table in pandas
#
# A synthetic table is not private because it is synthetic: a generator may have memorized people. This notebook audits two
# generators of the same table, one that copies and one that does not, and ends with a test that stops the first.
#
# ## The people
#
# 1,000 invented people. The generator gets half of them. The other half is the control group: an attack on them shows the
# success of guessing without the release.

# %%
import numpy as np
import pandas as pd

import unveil

rng = np.random.default_rng(7)
n = 1000
age = rng.integers(18, 90, n)
people = pd.DataFrame(
    {
        "age": age,
        "town": rng.choice(["Ulm", "Bonn", "Kiel", "Trier", "Jena"], n),
        "children": rng.poisson(np.clip(age - 18, 0, 30) / 15),
        "income": (500 + 60 * age + rng.gamma(2.0, 300.0, n)).round(),
    }
)
given, control = people[: n // 2], people[n // 2 :]
given.head(3)

# %% [markdown]
# ## A generator that memorizes
#
# It draws people with replacement and moves their income by a few euros: every row looks invented, and most belong to a person.


# %%
def memorizing(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    drawn = table.sample(len(table), replace=True, random_state=rng)
    return drawn.assign(income=drawn["income"] + rng.integers(-3, 4, len(drawn)))


def independent(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    mixed = pd.DataFrame({name: rng.choice(column, len(table)) for name, column in table.items()})
    return mixed.assign(income=mixed["income"].round(-2))


settings = {
    "release_type": "synthetic",
    "sensitive": ["income"],
    "threshold": 0.09,
}
result = unveil.audit(given, memorizing(given, rng), control, **settings)
result

# %% [markdown]
# The result in a notebook is the whole report; here it is linked. The decision, and one row for each attack and attacker:

# %%
print(result.headline)
result.to_polars().select("attack", "sensitive", "attack_rate", "control_rate", "significant")

# %% [markdown]
# And as a chart: the success of each attack on people in the data, and on the control group.

# %%
axes = result.plot()

# %% [markdown]
# ## A generator that mixes
#
# Independent columns: no row belongs to a person, and no association between columns is preserved. Incomes are rounded to
# hundreds, because an exact income that occurs once discloses that this person is in the data.

# %%
mixed = unveil.audit(given, independent(given, rng), control, **settings)
print(mixed.headline)
mixed

# %% [markdown]
# Nothing is significant now. The price is the utility loss: 0 is a release as useful as the original.

# %%
for name, each in {"memorizing": result, "independent": mixed}.items():
    print(f"{name}: utility loss {each.findings.releases[0].utility.loss:.2f}")

# %% [markdown]
# ## As a test
#
# `assert_release` is the same audit for a test suite: it raises an `AssertionError` with the decision.

# %%
try:
    unveil.assert_release(given, memorizing(given, rng), control, **settings)
except AssertionError as error:
    print(error)
