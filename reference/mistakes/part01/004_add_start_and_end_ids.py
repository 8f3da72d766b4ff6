"""Wrong versions of add_start_and_end_ids, one slip each."""


def changes_the_sentence(ids, start_id, end_id):
    """The two ids are put into the caller's own list."""
    ids.insert(0, start_id)
    ids.append(end_id)
    return ids


def no_start(ids, start_id, end_id):
    """The start id is missing."""
    return [*ids, end_id]


def no_end(ids, start_id, end_id):
    """The end id is missing."""
    return [start_id, *ids]


def turned_round(ids, start_id, end_id):
    """The end id stands in front and the start id behind."""
    return [end_id, *ids, start_id]


def nested(ids, start_id, end_id):
    """The sentence lies between the two as one list, not id by id."""
    return [start_id, ids, end_id]


def empty_stays_empty(ids, start_id, end_id):
    """An empty sentence stays empty."""
    return [start_id, *ids, end_id] if ids else []


def only_where_missing(ids, start_id, end_id):
    """An id that the sentence begins or ends with already is not added again."""
    front = [] if list(ids[:1]) == [start_id] else [start_id]
    back = [] if list(ids[-1:]) == [end_id] else [end_id]
    return [*front, *ids, *back]


def lists_only(ids, start_id, end_id):
    """Lists are added with +, which a tuple refuses."""
    return [start_id] + ids + [end_id]  # noqa: RUF005 - the slip itself


def marks_inside_removed(ids, start_id, end_id):
    """Start and end ids inside the sentence are taken out before the two are added."""
    return [start_id, *[one for one in ids if one not in (start_id, end_id)], end_id]


def zeros_removed(ids, start_id, end_id):
    """Zeros inside the sentence are taken for padding and left out."""
    return [start_id, *filter(None, ids), end_id]
