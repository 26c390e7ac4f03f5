"""The one name of each type of array."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: Codes, levels, positions and neighbours, of which there are many and none is large.
Int32Array = NDArray[np.int32]
#: Codes of which there are so many that they are kept as narrow as they fit.
CodeArray = NDArray[np.signedinteger[Any]]
#: Whole numbers from 0 on in one byte each, or in two.
NarrowArray = NDArray[np.unsignedinteger[Any]]
#: The lowest bytes of codes, which are compared many at a time.
ByteArray = NDArray[np.uint8]
#: Sets of up to 64 things, one bit for each.
BagArray = NDArray[np.uint64]
