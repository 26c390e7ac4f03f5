# %% [markdown]
# # Audit published tables
#
# An office publishes how many people of each age live in each ward. It suppresses cells from 1 to 4 and shows totals. Which
# cells can a reader recover?
#
# ## The table
#
# A star marks a suppressed cell.

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
# ## The audit

# %%
result = unveil.tables(wards, min_cell=5)
result

# %% [markdown]
# Each suppressed cell has a feasibility interval: the smallest and the largest count that agrees with the table. An interval
# with one value is a recovered cell:

# %%
result.to_polars()

# %% [markdown]
# The table as a chart, with the interval of each cell:

# %%
axes = result.plot()

# %% [markdown]
# ## Secondary suppression
#
# With the records behind the table, `repair` suppresses further cells until no small cell can be recovered:

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
repaired = unveil.tables(published, min_cell=5, microdata=records, suppress=True)
repair = repaired.findings.repair
print(f"suppressed before: {repair.suppressed_before}, after: {repair.suppressed_after}")
print(f"small cells that can be recovered afterwards: {repair.after.small}")

# %% [markdown]
# On the command line, `unveil tables wards.csv --min-cell 5 --microdata records.csv --suppress safe.csv` writes the tables with
# secondary suppression. `--profile cell-5` stops a pipeline as long as a small cell can be recovered.
