"""Assertions that print what they compare."""
import operator

COMPARISONS = {"==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def expect(what, found, comparison, wanted):
    assert COMPARISONS[comparison](found, wanted), f"{what}: {found} is not {comparison} {wanted}"
