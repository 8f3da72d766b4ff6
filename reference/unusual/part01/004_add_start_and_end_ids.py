"""Right but unusual versions of step 004."""

from collections import deque
from itertools import chain


def lists_added(ids, start_id, end_id):
    """Three lists are added up."""
    return [start_id] + list(ids) + [end_id]  # noqa: RUF005


def inserted_into_a_copy(ids, start_id, end_id):
    """A copy grows at both ends, the far one first."""
    answer = list(ids)
    answer.append(end_id)
    answer.insert(0, start_id)
    return answer


def end_laid_out_first(ids, start_id, end_id):
    """All places hold the end id at first; the sentence overwrites the inner ones."""
    answer = [end_id] * (len(ids) + 2)
    answer[0] = start_id
    answer[1:-1] = ids
    return answer


def _spoken(ids, start_id, end_id):
    yield start_id
    yield from ids
    yield end_id


def said_by_a_generator(ids, start_id, end_id):
    """A generator says the ids one by one."""
    return list(_spoken(ids, start_id, end_id))


def deque_with_two_ends(ids, start_id, end_id):
    """A deque is extended on both sides and made a list."""
    both = deque(ids)
    both.extendleft((start_id,))
    both.extend((end_id,))
    return list(both)


def chained(ids, start_id, end_id):
    """``itertools.chain`` joins two tuples of one and the sentence."""
    return [*chain((start_id,), ids, (end_id,))]
