"""Copies that share what they have in common, and never change each other."""

from hypothesis import given
from hypothesis import strategies as st

from poise.studio.log.shared import MIN_CHANGES, SharedDict, SharedList

KEYS = st.integers(0, 9)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, st.integers()),
        st.tuples(st.just("remove"), KEYS, st.none()),
        st.tuples(st.just("copy"), st.none(), st.none()),
    ),
    max_size=40,
)


@given(CHANGES)
def test_a_shared_dictionary_is_one_that_is_copied(changes):
    plain, shared = {3: 0, 1: 0}, SharedDict({3: 0, 1: 0})
    earlier = []
    for what, key, value in changes:
        match what:
            case "set":
                plain[key] = shared[key] = value
            case "remove":
                assert shared.pop(key, None) == plain.pop(key, None)
            case "copy":
                earlier.append((dict(plain), shared))
                shared = shared.copy()
    for expected, found in [*earlier, (plain, shared)]:
        assert list(found.items()) == list(expected.items()), "in the same order"
        assert list(found) == list(found.keys()) == list(expected)
        assert list(found.values()) == list(expected.values())
        assert found == expected
        assert len(found) == len(expected)
        assert [key in found for key in range(11)] == [key in expected for key in range(11)]


def test_many_changes_are_merged():
    shared = SharedDict(dict.fromkeys(range(10), 0))
    for key in range(10 * MIN_CHANGES):
        shared = shared.copy()
        shared[key] = 1
    assert shared == dict.fromkeys(range(10 * MIN_CHANGES), 1)
    assert len(shared._added) <= MIN_CHANGES + 1


def test_copies_of_a_list_go_on_from_the_same_beginning():
    first = SharedList([1, 2])
    second, third = first.copy(), first.copy()
    second.append(3)
    third.append(4)
    third.append(5)
    assert (first, second, third) == ([1, 2], [1, 2, 3], [1, 2, 4, 5])
    assert list(reversed(third)) == [5, 4, 2, 1]
    assert (third[-1], third[1:3], len(third)) == (5, [2, 4], 4)
    assert first != [1, 2, 3]
