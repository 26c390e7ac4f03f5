"""Products of matrices on one thread, so that their last digits do not depend on the number of processors."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let products of matrices take one thread in the whole process: from this call on, until the context is left.

    It takes threadpoolctl, which comes with scikit-learn. Without it the environment says how many are taken.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits
