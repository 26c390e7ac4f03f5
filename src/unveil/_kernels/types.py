"""The one name of each type of array."""

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: Codes, levels, positions and neighbours, of which there are many and none is large.
Int32Array = NDArray[np.int32]
