"""Products of matrices on one thread, so that their last digits do not depend on the number of processors."""

from contextlib import AbstractContextManager
from typing import Any


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let products of matrices take one thread in the whole process: from this call on, until the context is left."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits
