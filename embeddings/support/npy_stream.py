"""Arrays written to a stream in the format of numpy, with errors of the disk reported."""

from typing import BinaryIO

import numpy as np
from numpy.lib.format import header_data_from_array_1_0, write_array_header_1_0


def write_npy(array: np.ndarray, stream: BinaryIO) -> None:
    """Write an array as .npy in C order; raises OSError on a full disk, which `numpy.save` does not notice."""
    contiguous = array if array.flags.c_contiguous else array.copy(order="C")
    write_array_header_1_0(stream, header_data_from_array_1_0(contiguous))
    stream.write(contiguous.reshape(-1).view("u1").data)
