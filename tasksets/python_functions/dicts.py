"""Tasks on dicts: reading, building, filtering and inverting them."""

from tasksets.python_functions.cases import cases


@cases(
    1,
    ({},),
    ({"x": 0},),
    ({"a": 1, "b": 2, "c": 3},),
    ({"k": 5, "m": 5},),
    ({"a": 1, "b": 1, "c": 1, "d": 1},),
)
def number_of_keys(data: dict[str, int]) -> int:
    """Return how many keys the dict data has.

    >>> number_of_keys({"a": 1, "b": 2})
    2
    >>> number_of_keys({"z": 9})
    1
    """
    return len(data)


@cases(
    1,
    ({}, "a"),
    ({"a": 0}, "a"),
    ({"a": 1, "b": 2}, "c"),
    ({"": 1}, ""),
    ({"A": 1}, "a"),
    ({"x": 3, "y": 4}, "y"),
)
def has_key(data: dict[str, int], key: str) -> bool:
    """Return True if key is a key of data, otherwise False.

    >>> has_key({"a": 1, "b": 2}, "b")
    True
    >>> has_key({"a": 1, "b": 2}, "z")
    False
    """
    return key in data


@cases(
    1, ({}, 1), ({"a": 0}, 0), ({"a": 1, "b": 2}, 3), ({"a": -4}, -4), ({"a": 7}, -7), ({"x": 3, "y": 4}, 4)
)
def has_value(data: dict[str, int], value: int) -> bool:
    """Return True if value is one of the values of data, otherwise False.

    >>> has_value({"a": 1, "b": 2}, 2)
    True
    >>> has_value({"a": 1, "b": 2}, 5)
    False
    """
    return value in data.values()


@cases(1, ({}, "a"), ({"a": 5}, "a"), ({"a": 5}, "b"), ({"a": -3, "b": 8}, "b"), ({"a": -3, "b": 8}, "a"))
def value_or_zero(data: dict[str, int], key: str) -> int:
    """Return the value stored in data under key, or 0 if the key is missing.

    >>> value_or_zero({"a": 4, "b": 6}, "b")
    6
    >>> value_or_zero({"a": 4}, "c")
    0
    """
    return data.get(key, 0)


@cases(
    1,
    ({}, "name", "unknown"),
    ({"name": "Ann"}, "name", "unknown"),
    ({"name": "Ann"}, "city", "Rome"),
    ({"name": ""}, "name", "nobody"),
    ({"a": "b", "b": "c"}, "b", "x"),
)
def lookup_with_default(data: dict[str, str], key: str, default: str) -> str:
    """Return the value of key in data, or default if the key is missing.

    >>> lookup_with_default({"color": "red"}, "color", "blue")
    'red'
    >>> lookup_with_default({"color": "red"}, "size", "small")
    'small'
    """
    return data.get(key, default)


@cases(
    1,
    ({},),
    ({"b": 1, "a": 2},),
    ({"x": 0},),
    ({"pear": 1, "Fig": 2, "apple": 3},),
    ({"c": 1, "b": 1, "a": 1},),
)
def keys_in_sorted_order(data: dict[str, int]) -> list[str]:
    """Return the keys of data as a sorted list.

    >>> keys_in_sorted_order({"d": 1, "c": 2})
    ['c', 'd']
    >>> keys_in_sorted_order({"one": 1, "two": 2, "four": 4})
    ['four', 'one', 'two']
    """
    return sorted(data)


@cases(1, ({},), ({"a": 5},), ({"a": 1, "b": -1},), ({"a": 10, "b": 20, "c": 30},), ({"x": -4, "y": -6},))
def sum_of_dict_values(data: dict[str, int]) -> int:
    """Return the sum of all values of data. The sum of an empty dict is 0.

    >>> sum_of_dict_values({"a": 1, "b": 2})
    3
    >>> sum_of_dict_values({"x": 7, "y": 0})
    7
    """
    return sum(data.values())


@cases(1, ({},), ({"a": 5},), ({"b": 2, "a": 1},), ({"x": 0, "y": 0, "z": -1},), ({"one": 11, "two": 22},))
def list_of_dict_values(data: dict[str, int]) -> list[int]:
    """Return a list of the values of data, in the order in which they are stored.

    >>> list_of_dict_values({"a": 3, "b": 1})
    [3, 1]
    >>> list_of_dict_values({"x": 9})
    [9]
    """
    return list(data.values())


@cases(1, ({},), ({"a": -5},), ({"a": 1, "b": 9, "c": 4},), ({"x": -2, "y": -8},), ({"x": 3, "y": 3},))
def largest_dict_value(data: dict[str, int]) -> int:
    """Return the largest value of data, or 0 if data is empty.

    >>> largest_dict_value({"a": 1, "b": 6})
    6
    >>> largest_dict_value({"a": 12, "b": 2, "c": 5})
    12
    """
    return max(data.values(), default=0)


@cases(
    1,
    ({}, {}),
    ({"a": 1}, {}),
    ({}, {"b": 2}),
    ({"a": 1}, {"a": 5}),
    ({"a": 1, "b": 2}, {"b": 3, "c": 4}),
)
def merge_dicts(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Return a new dict with all entries of first and second. For a key in both, use the value of second.

    >>> merge_dicts({"a": 1}, {"b": 2})
    {'a': 1, 'b': 2}
    >>> merge_dicts({"x": 1, "y": 2}, {"x": 9})
    {'x': 9, 'y': 2}
    """
    return {**first, **second}


@cases(
    1,
    ({},),
    ({"a": "b"},),
    ({"one": "uno", "two": "due"},),
    ({"x": "x"},),
    ({"k": "", "m": "n", "o": "p"},),
)
def swap_keys_and_values(data: dict[str, str]) -> dict[str, str]:
    """Return a new dict in which every value of data is a key and its key is the value.

    >>> swap_keys_and_values({"a": "x", "b": "y"})
    {'x': 'a', 'y': 'b'}
    >>> swap_keys_and_values({"cat": "gatto"})
    {'gatto': 'cat'}
    """
    return {value: key for key, value in data.items()}


@cases(1, ({},), ({"a": 0},), ({"a": 5, "b": -2},), ({"x": 100, "y": 1, "z": 3},), ({"q": -7},))
def double_dict_values(data: dict[str, int]) -> dict[str, int]:
    """Return a new dict with the keys of data and every value multiplied by 2.

    >>> double_dict_values({"a": 1, "b": 2})
    {'a': 2, 'b': 4}
    >>> double_dict_values({"n": 10})
    {'n': 20}
    """
    return {key: value * 2 for key, value in data.items()}


@cases(
    1,
    ({"a": -5},),
    ({"a": 1, "b": 9, "c": 4},),
    ({"x": -2, "y": -8},),
    ({"x": 3, "y": 3},),
    ({"ann": 40, "bob": 41, "carl": 12},),
)
def key_of_largest_value(data: dict[str, int]) -> str:
    """Return the key of data that has the largest value; the first such key if several have it.

    >>> key_of_largest_value({"a": 1, "b": 6})
    'b'
    >>> key_of_largest_value({"red": 5, "blue": 5, "green": 0})
    'red'
    """
    return max(data, key=lambda key: data[key])


@cases(1, ([], []), (["a"], [1]), (["x", "y", "z"], [3, 2, 1]), (["b", "a"], [0, 0]), (["n", "m"], [-1, 10]))
def dict_from_two_lists(keys: list[str], values: list[int]) -> dict[str, int]:
    """Return a dict that gives each key of keys the value at the same position of values.

    >>> dict_from_two_lists(["a", "b"], [1, 2])
    {'a': 1, 'b': 2}
    >>> dict_from_two_lists(["k"], [7])
    {'k': 7}
    """
    return dict(zip(keys, values, strict=True))


@cases(1, ([],), (["a"],), (["cat", "horse"],), (["", "no"],), (["same", "same", "x"],))
def length_of_each_word(words: list[str]) -> dict[str, int]:
    """Return a dict that maps every word of words to its length.

    >>> length_of_each_word(["hi", "you"])
    {'hi': 2, 'you': 3}
    >>> length_of_each_word(["tree"])
    {'tree': 4}
    """
    return {word: len(word) for word in words}


@cases(1, ({},), ({"a": 1},), ({"one": 1, "Two": 2},), ({"X": 0, "y1": 5},), ({"hello there": -1},))
def keys_to_upper_case(data: dict[str, int]) -> dict[str, int]:
    """Return a new dict with the same values as data and all keys in upper case.

    >>> keys_to_upper_case({"a": 1, "bc": 2})
    {'A': 1, 'BC': 2}
    >>> keys_to_upper_case({"Dog": 3})
    {'DOG': 3}
    """
    return {key.upper(): value for key, value in data.items()}


@cases(1, ({},), ({"a": 0},), ({"a": 5, "b": -2},), ({"x": 1, "y": 2},), ({"x": -1, "y": 0, "z": 8},))
def keep_positive_values(data: dict[str, int]) -> dict[str, int]:
    """Return a new dict with only those entries of data whose value is greater than 0.

    >>> keep_positive_values({"a": 1, "b": -1})
    {'a': 1}
    >>> keep_positive_values({"a": 0, "b": 3, "c": 4})
    {'b': 3, 'c': 4}
    """
    return {key: value for key, value in data.items() if value > 0}


@cases(
    1,
    ({}, "a"),
    ({"a": 0}, "a"),
    ({"a": 5, "b": -2}, "a"),
    ({"x": 1, "y": 2}, "z"),
    ({"x": 1, "y": 2, "z": 3}, "y"),
)
def without_key(data: dict[str, int], key: str) -> dict[str, int]:
    """Return a copy of data without the given key. If the key is missing, return an equal copy.

    >>> without_key({"a": 1, "b": 2}, "b")
    {'a': 1}
    >>> without_key({"a": 1}, "q")
    {'a': 1}
    """
    return {name: value for name, value in data.items() if name != key}


@cases(1, ({},), ({"a": 0},), ({"a": 5, "b": -2},), ({"width": 10, "height": 20},), ({"": 1},))
def entries_as_text(data: dict[str, int]) -> list[str]:
    """Return a list with the text 'key=value' for every entry of data, in the stored order.

    >>> entries_as_text({"a": 1, "b": 2})
    ['a=1', 'b=2']
    >>> entries_as_text({"size": 40})
    ['size=40']
    """
    return [f"{key}={value}" for key, value in data.items()]


@cases(
    1,
    ({}, {}),
    ({"a": 1}, {}),
    ({"b": 1, "a": 2}, {"a": 3, "b": 4}),
    ({"x": 1, "y": 2}, {"y": 2, "z": 3}),
    ({"p": 1, "q": 2, "r": 3}, {"r": 0, "p": 0, "s": 0}),
)
def keys_in_both_dicts(first: dict[str, int], second: dict[str, int]) -> list[str]:
    """Return a sorted list of the keys that are in both first and second.

    >>> keys_in_both_dicts({"a": 1, "b": 2}, {"b": 5, "c": 6})
    ['b']
    >>> keys_in_both_dicts({"a": 1}, {"z": 1})
    []
    """
    return sorted(key for key in first if key in second)


@cases(
    1, ({}, "a", 1), ({"a": 0}, "a", 9), ({"a": 5}, "b", -2), ({"x": 1, "y": 2}, "y", 0), ({"x": 1}, "", 3)
)
def with_entry(data: dict[str, int], key: str, value: int) -> dict[str, int]:
    """Return a copy of data in which key has the given value.

    >>> with_entry({"a": 1}, "b", 2)
    {'a': 1, 'b': 2}
    >>> with_entry({"a": 1, "c": 3}, "a", 7)
    {'a': 7, 'c': 3}
    """
    return {**data, key: value}


@cases(
    2,
    ({}, 1),
    ({"a": 1}, 1),
    ({"c": 1, "b": 2, "a": 1}, 1),
    ({"x": 4, "y": 4}, 5),
    ({"x": 0, "y": -1, "z": 0}, 0),
)
def keys_with_value(data: dict[str, int], value: int) -> list[str]:
    """Return a sorted list of all keys of data whose value equals value.

    >>> keys_with_value({"b": 3, "a": 3, "c": 4}, 3)
    ['a', 'b']
    >>> keys_with_value({"a": 1}, 2)
    []
    """
    return sorted(key for key in data if data[key] == value)


@cases(
    2,
    ({}, "a", "b"),
    ({"a": 1}, "a", "b"),
    ({"a": 1}, "c", "d"),
    ({"x": 1, "y": 2}, "y", "why"),
    ({"x": 1, "y": 2, "z": 3}, "x", "w"),
)
def rename_key(data: dict[str, int], old: str, new: str) -> dict[str, int]:
    """Return a copy of data in which the key old is called new. Other keys stay; old may be missing.

    >>> rename_key({"a": 1, "b": 2}, "a", "z")
    {'z': 1, 'b': 2}
    >>> rename_key({"a": 1}, "q", "r")
    {'a': 1}
    """
    return {new if key == old else key: value for key, value in data.items()}


@cases(
    2,
    ({}, ["a"]),
    ({"a": 1, "b": 2}, []),
    ({"a": 1, "b": 2, "c": 3}, ["c", "a"]),
    ({"x": 1}, ["x", "y"]),
    ({"x": 1, "y": 2}, ["z"]),
)
def keep_listed_keys(data: dict[str, int], keys: list[str]) -> dict[str, int]:
    """Return a new dict with only those entries of data whose key is in the list keys.

    >>> keep_listed_keys({"a": 1, "b": 2, "c": 3}, ["b", "c"])
    {'b': 2, 'c': 3}
    >>> keep_listed_keys({"a": 1}, ["a", "d"])
    {'a': 1}
    """
    return {key: value for key, value in data.items() if key in keys}


@cases(
    2,
    ({}, {}),
    ({"a": 1}, {}),
    ({"a": 1}, {"a": -1}),
    ({"a": 1, "b": 2}, {"b": 3, "c": 4}),
    ({}, {"x": 9}),
)
def add_dicts(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Return a dict with every key of first and second; the value is the sum of its values in both.

    A key that is missing in one of them counts as 0 there.

    >>> add_dicts({"a": 1}, {"a": 2, "b": 5})
    {'a': 3, 'b': 5}
    >>> add_dicts({"x": 4}, {"y": 6})
    {'x': 4, 'y': 6}
    """
    result = dict(first)
    for key, value in second.items():
        result[key] = result.get(key, 0) + value
    return result


@cases(
    2,
    ({"a": 1, "b": 2}, "a", "b"),
    ({"a": 1, "b": 2, "c": 3}, "c", "a"),
    ({"x": 0, "y": -1}, "x", "x"),
    ({"k": 5, "m": 5, "n": 7}, "k", "m"),
    ({"p": 9, "q": 8, "r": 7}, "q", "r"),
)
def swap_values_of_keys(data: dict[str, int], first: str, second: str) -> dict[str, int]:
    """Return a copy of data in which the keys first and second have exchanged their values.

    >>> swap_values_of_keys({"a": 3, "b": 8}, "a", "b")
    {'a': 8, 'b': 3}
    >>> swap_values_of_keys({"x": 1, "y": 2, "z": 3}, "y", "z")
    {'x': 1, 'y': 3, 'z': 2}
    """
    return {**data, first: data[second], second: data[first]}


@cases(
    2,
    ({},),
    ({"a": None},),
    ({"a": 0, "b": None},),
    ({"x": 1, "y": 2},),
    ({"x": None, "y": -3, "z": None},),
)
def drop_none_values(data: dict[str, int | None]) -> dict[str, int | None]:
    """Return a new dict without the entries of data whose value is None. Zeros stay.

    >>> drop_none_values({"a": 1, "b": None})
    {'a': 1}
    >>> drop_none_values({"a": 0, "b": None, "c": 2})
    {'a': 0, 'c': 2}
    """
    return {key: value for key, value in data.items() if value is not None}


@cases(
    2,
    ({}, ["a"]),
    ({"a": 1, "b": 2}, []),
    ({"a": 1, "b": 2}, ["a", "b"]),
    ({"x": 5}, ["x", "x", "y"]),
    ({"x": -5, "y": 3, "z": 8}, ["y", "x"]),
)
def sum_of_listed_keys(data: dict[str, int], keys: list[str]) -> int:
    """Return the sum of the values in data for all keys in the list keys. A missing key counts as 0.

    >>> sum_of_listed_keys({"a": 1, "b": 2, "c": 3}, ["a", "c"])
    4
    >>> sum_of_listed_keys({"a": 7}, ["a", "d"])
    7
    """
    return sum(data.get(key, 0) for key in keys)


@cases(
    2,
    ({},),
    ({"tom": "red"},),
    ({"tom": "red", "ann": "red"},),
    ({"tom": "red", "ann": "blue", "bob": "red"},),
    ({"a": "x", "b": "y", "c": "y", "d": "z"},),
)
def group_keys_by_value(data: dict[str, str]) -> dict[str, list[str]]:
    """Return a dict that maps each value of data to the list of keys that have it, in the stored order.

    >>> group_keys_by_value({"a": "x", "b": "x", "c": "y"})
    {'x': ['a', 'b'], 'y': ['c']}
    >>> group_keys_by_value({"cat": "animal"})
    {'animal': ['cat']}
    """
    groups: dict[str, list[str]] = {}
    for key, value in data.items():
        groups.setdefault(value, []).append(key)
    return groups


@cases(
    2,
    ({"a": 1}, {"a": 1}),
    ({"a": 1}, {"a": 2}),
    ({"b": 1, "a": 2}, {"a": 3, "b": 4}),
    ({"x": 1, "y": 2}, {"x": 1, "y": -2}),
    ({}, {}),
    ({"p": 0, "q": 1, "r": 5}, {"p": 1, "q": 1, "r": 6}),
)
def keys_with_changed_value(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Return a sorted list of the keys whose value differs between before and after.

    Both dicts have the same keys.

    >>> keys_with_changed_value({"a": 1, "b": 2}, {"a": 1, "b": 3})
    ['b']
    >>> keys_with_changed_value({"d": 5, "c": 6}, {"d": 0, "c": 0})
    ['c', 'd']
    """
    return sorted(key for key in before if before[key] != after[key])


@cases(2, ({},), ({"a": 4},), ({"a": 1, "b": 2},), ({"x": -3, "y": 3},), ({"x": 10, "y": 20, "z": 60},))
def average_dict_value(data: dict[str, int]) -> float:
    """Return the average of the values of data as a float, or 0.0 if data is empty.

    >>> average_dict_value({"a": 2, "b": 4})
    3.0
    >>> average_dict_value({"a": 1, "b": 1, "c": 4})
    2.0
    """
    return sum(data.values()) / len(data) if data else 0.0


@cases(
    2,
    ({}, {"tea": 2}),
    ({"tea": 1}, {"tea": 2, "cake": 3}),
    ({"tea": 2, "cake": 3}, {"tea": 2, "cake": 3}),
    ({"pen": 0}, {"pen": 5}),
    ({"pen": 10, "cup": 1}, {"cup": 7, "pen": 1}),
)
def total_price_of_cart(cart: dict[str, int], prices: dict[str, int]) -> int:
    """Return the total price: for every item in cart, its amount times its price in prices, added up.

    >>> total_price_of_cart({"apple": 3, "milk": 1}, {"apple": 2, "milk": 5})
    11
    >>> total_price_of_cart({"egg": 6}, {"egg": 1, "ham": 4})
    6
    """
    return sum(amount * prices[item] for item, amount in cart.items())


@cases(
    2,
    ({"a": []},),
    ({"a": [], "b": [0]},),
    ({"x": [1, 2], "y": [9]},),
    ({"x": [1], "y": [2]},),
    ({"p": [5], "q": [1, 1, 1], "r": [7, 8]},),
)
def key_of_longest_list(data: dict[str, list[int]]) -> str:
    """Return the key of data whose list is the longest; the first such key if several are equally long.

    >>> key_of_longest_list({"a": [1], "b": [2, 3]})
    'b'
    >>> key_of_longest_list({"m": [], "k": []})
    'm'
    """
    return max(data, key=lambda key: len(data[key]))


@cases(
    2,
    ([], "a"),
    ([{"a": 1}], "a"),
    ([{"a": 1}, {"b": 2}], "a"),
    ([{"a": 1, "b": 2}, {"a": 3, "b": 4}], "b"),
    ([{"x": 0}, {"y": 1}, {"x": -1}], "x"),
)
def values_of_field(records: list[dict[str, int]], field: str) -> list[int]:
    """Return a list of the values of field in all records that have it, in the order of the records.

    >>> values_of_field([{"age": 5}, {"age": 7}], "age")
    [5, 7]
    >>> values_of_field([{"age": 5}, {"size": 1}], "size")
    [1]
    """
    return [record[field] for record in records if field in record]


@cases(
    3,
    ({}, "a"),
    ({"a": "b"}, "a"),
    ({"a": "b", "b": "c"}, "a"),
    ({"a": "b", "c": "d"}, "d"),
    ({"x": "y", "y": "z", "z": "end"}, "x"),
    ({"x": "y", "y": "z", "z": "end"}, "z"),
)
def follow_links(links: dict[str, str], start: str) -> str:
    """Return the last name reached from start: replace the name by links[name] until it is not a key.

    The links never form a circle.

    >>> follow_links({"a": "c", "c": "f"}, "a")
    'f'
    >>> follow_links({"a": "b"}, "k")
    'k'
    """
    while start in links:
        start = links[start]
    return start


@cases(
    3,
    ({},),
    ({"a": {}},),
    ({"a": {"x": 1}},),
    ({"a": {"x": 1, "y": 2}, "b": {"x": 3}},),
    ({"p": {"q": 0}, "r": {}, "s": {"t": -1, "u": 5}},),
)
def flatten_one_level(data: dict[str, dict[str, int]]) -> dict[str, int]:
    """Return a flat dict of the inner values of data, whose keys are 'outer.inner'.

    >>> flatten_one_level({"a": {"b": 1, "c": 2}})
    {'a.b': 1, 'a.c': 2}
    >>> flatten_one_level({"x": {"k": 5}, "y": {"k": 6}})
    {'x.k': 5, 'y.k': 6}
    """
    return {f"{outer}.{key}": value for outer, inner in data.items() for key, value in inner.items()}


@cases(
    3,
    ({}, {}),
    ({"a": 3}, {}),
    ({"a": 3}, {"a": 3}),
    ({"pen": 5, "cup": 2}, {"pen": 1, "cup": 4}),
    ({"x": 10, "y": 1}, {"x": 4}),
)
def stock_after_orders(stock: dict[str, int], orders: dict[str, int]) -> dict[str, int]:
    """Return stock with the ordered amount of each item subtracted, without items of which none are left.

    All items in orders are in stock; an item whose orders exceed its stock is also left out.

    >>> stock_after_orders({"tea": 5, "rice": 2}, {"tea": 3})
    {'tea': 2, 'rice': 2}
    >>> stock_after_orders({"egg": 6, "ham": 1}, {"ham": 1})
    {'egg': 6}
    """
    left = {item: amount - orders.get(item, 0) for item, amount in stock.items()}
    return {item: amount for item, amount in left.items() if amount > 0}


@cases(
    3,
    ({}, "a.b"),
    ({"a": {"b": 5}}, "a.b"),
    ({"a": {"b": 5}}, "a.c"),
    ({"a": 7}, "a"),
    ({"a": {"b": {"c": -2}}}, "a.b.c"),
    ({"x": {"y": 0}, "z": {"y": 3}}, "z.y"),
)
def value_at_path(data: dict[str, object], path: str) -> object:
    """Return the value in the nested dict data at a path of keys joined by '.', or None if a key is missing.

    Every key of the path before the last one leads to a dict, if it is there.

    >>> value_at_path({"a": {"x": 1}}, "a.x")
    1
    >>> value_at_path({"p": {"q": 2}, "r": 3}, "r")
    3
    """
    node: object = data
    for key in path.split("."):
        if not isinstance(node, dict) or key not in node:
            return None
        node = node[key]
    return node
