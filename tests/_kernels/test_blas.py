"""Products of matrices take one thread where that is asked for, and as many as before afterwards."""

from threadpoolctl import threadpool_info, threadpool_limits

from unveil._kernels.blas import one_blas_thread


def blas() -> set[int]:
    """Return how many threads each library for products of matrices takes."""
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_one_thread_until_the_context_is_left() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        with one_blas_thread():
            assert blas() == {1}
        assert blas() == {2}
        limits = one_blas_thread()
        assert blas() == {1}
        limits.__exit__(None, None, None)
