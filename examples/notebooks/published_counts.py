# %% [markdown]
# # Checking published counts
#
# An office publishes how many people of each age live in each ward, and hides counts from 1 to 4. Totals are shown. What can
# a reader work out?
#
# ## The table
#
# A star stands for a hidden count.

# %%
import pandas as pd

import unveil

wards = pd.DataFrame(
    {
        "ward": ["North", "South", "West", "Total"],
        "0-17": ["*", "12", "*", "19"],
        "18-64": ["31", "*", "22", "56"],
        "65+": ["9", "14", "*", "25"],
        "Total": ["43", "29", "28", "100"],
    }
)
wards

# %% [markdown]
# ## The question

# %%
answer = unveil.tables(wards, minimum=5)
answer

# %% [markdown]
# Every hidden count with the least and the most that it can be. A range of one value is a count that everybody can work out:

# %%
answer.to_polars()

# %% [markdown]
# As a picture, the table with what is known of each cell:

# %%
axes = answer.plot()

# %% [markdown]
# ## What to hide as well
#
# With the true counts at hand, `repair` looks for further counts to hide until no small one can be worked out. The frame of
# records behind a table is all that is needed:

# %%
counts = {
    ("North", "0-17"): 3,
    ("North", "18-64"): 31,
    ("North", "65+"): 9,
    ("South", "0-17"): 12,
    ("South", "18-64"): 3,
}
counts |= {("South", "65+"): 14, ("West", "0-17"): 4, ("West", "18-64"): 22, ("West", "65+"): 2}
records = pd.DataFrame([cell for cell, count in counts.items() for _ in range(count)], columns=["ward", "age"])
published = wards.melt("ward", var_name="age", value_name="count")
repaired = unveil.tables(published, minimum=5, truth=records, repair=True)
repair = repaired.findings.repair
print(f"hidden before: {repair.hidden_before}, after: {repair.hidden_after}")
print(f"small counts that can be worked out afterwards: {repair.after.small}")

# %% [markdown]
# On the command line `unveil tables wards.csv --min-cell 5 --microdata records.csv --suppress repaired` writes the repaired tables,
# and `--limit small_cells_recovered=0` stops a pipeline while any small count can be worked out.
