"""Wrong versions of step 075, one slip each."""


def six_plus_length(length, alpha=0.6):
    """6 stands where 5 belongs: (6 + length) / 6, so that a single token is excused already."""
    _check(length)
    return ((6 + length) / 6) ** alpha


def divided_by_five(length, alpha=0.6):
    """5 stands below the line, where 6 belongs."""
    _check(length)
    return ((5 + length) / 5) ** alpha


def end_not_counted(length, alpha=0.6):
    """One token is taken off for the end: (4 + length) / 6."""
    _check(length)
    return ((4 + length) / 6) ** alpha


def length_alone(length, alpha=0.6):
    """The length itself is raised to alpha: much too kind to long sentences."""
    _check(length)
    return float(length) ** alpha


def power_binds_first(length, alpha=0.6):
    """Only the length's part is raised to alpha; the division by 6 comes after it."""
    _check(length)
    return (5 + length) ** alpha / 6


def times_alpha(length, alpha=0.6):
    """Alpha is a factor, not a power."""
    _check(length)
    return (5 + length) / 6 * alpha


def upside_down(length, alpha=0.6):
    """The fraction stands on its head: longer sentences are punished."""
    _check(length)
    return (6 / (5 + length)) ** alpha


def alpha_left_out(length, alpha=0.6):
    """Alpha is not used: it is always 1."""
    _check(length)
    return (5 + length) / 6


def alpha_of_0_6(length, alpha=0.6):
    """Alpha is written out: always 0.6."""
    _check(length)
    return ((5 + length) / 6) ** 0.6


def alpha_of_1(length, alpha=1.0):
    """Alpha is 1 by default; the paper has 0.6."""
    _check(length)
    return ((5 + length) / 6) ** alpha


def whole_sixths(length, alpha=0.6):
    """The division is without a rest: 2 tokens weigh as much as 1."""
    _check(length)
    return float(((5 + length) // 6) ** alpha)


def no_check(length, alpha=0.6):
    """A length of 0 or below is not refused."""
    return (max(5 + length, 0) / 6) ** alpha


def _check(length):
    if length < 1:
        raise ValueError(f"a sentence has at least 1 token, got length {length}")
