"""Array kernels without project classes or hidden randomness."""
