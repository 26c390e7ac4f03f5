"""Make rows by PrivBayes as DataSynthesizer 0.1.13 has it; for a Python that has it, which `third_party.sh` makes.

    python privbayes.py people.csv made.csv epsilon seed

A tree of two-way counts (one parent for each column) with noise. The seed must differ from run to run: the default of
the package is always 0, with which anybody can take the noise away again.
"""

import sys
from pathlib import Path

from DataSynthesizer.DataDescriber import DataDescriber  # type: ignore[import-not-found, unused-ignore]
from DataSynthesizer.DataGenerator import DataGenerator  # type: ignore[import-not-found, unused-ignore]

if __name__ == "__main__":
    people, made, epsilon, seed = sys.argv[1:]
    description = Path(made).with_name("description.json")
    describer = DataDescriber(category_threshold=50)
    describer.describe_dataset_in_correlated_attribute_mode(people, k=1, epsilon=float(epsilon), seed=int(seed))
    describer.save_dataset_description_to_file(str(description))
    generator = DataGenerator()
    generator.generate_dataset_in_correlated_attribute_mode(len(describer.df_input), str(description), seed=int(seed))
    generator.save_synthetic_data(made)
