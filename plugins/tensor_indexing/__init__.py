"""What a phrase of two words means, from the vectors of the words: functions, how they are fitted and applied.

Tensor indexing (Zhao, Liu and Sun 2015) and the functions it is compared with. Word vectors x and y stay as they are;
a function is fitted so that it gives z, the vector that the phrase has as a word of its own.
"""
