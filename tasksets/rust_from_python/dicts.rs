//! Dicts: Rust for the tasks of python-functions.

/// Return how many keys the map data has.
pub fn number_of_keys(data: &std::collections::HashMap<String, i64>) -> usize {
    data.len()
}

/// Return true if key is a key of data, otherwise false.
pub fn has_key(data: &std::collections::HashMap<String, i64>, key: &str) -> bool {
    data.contains_key(key)
}

/// Return true if value is one of the values of data, otherwise false.
pub fn has_value(data: &std::collections::HashMap<String, i64>, value: i64) -> bool {
    data.values().any(|&other| other == value)
}

pub fn value_or_zero(data: &std::collections::BTreeMap<String, i64>, key: &str) -> i64 {
    data.get(key).copied().unwrap_or(0)
}

pub fn lookup_with_default(
    data: &std::collections::HashMap<String, String>,
    key: &str,
    default: &str,
) -> String {
    match data.get(key) {
        Some(value) => value.clone(),
        None => default.to_string(),
    }
}

/// Return the keys of data in sorted order.
pub fn keys_in_sorted_order(data: &std::collections::HashMap<String, i64>) -> Vec<String> {
    let mut keys: Vec<String> = data.keys().cloned().collect();
    keys.sort();
    keys
}

/// Return the sum of all values of data. The sum of an empty map is 0.
pub fn sum_of_dict_values(data: &std::collections::BTreeMap<String, i64>) -> i64 {
    data.values().sum()
}

pub fn largest_dict_value(data: &std::collections::BTreeMap<String, i64>) -> i64 {
    data.values().copied().max().unwrap_or(0)
}

/// Return a new map with all entries of first and second. For a key in both, use the value of
/// second.
pub fn merge_dicts(
    first: &std::collections::BTreeMap<String, i64>,
    second: &std::collections::BTreeMap<String, i64>,
) -> std::collections::BTreeMap<String, i64> {
    let mut merged = first.clone();
    for (key, value) in second {
        merged.insert(key.clone(), *value);
    }
    merged
}

/// Return a new map in which every value of data is a key and its key is the value.
pub fn swap_keys_and_values(
    data: &std::collections::BTreeMap<String, String>,
) -> std::collections::BTreeMap<String, String> {
    data.iter()
        .map(|(key, value)| (value.clone(), key.clone()))
        .collect()
}

/// Return a new map with the keys of data and every value multiplied by 2.
pub fn double_dict_values(
    data: &std::collections::BTreeMap<String, i64>,
) -> std::collections::BTreeMap<String, i64> {
    let mut doubled = data.clone();
    for value in doubled.values_mut() {
        *value *= 2;
    }
    doubled
}

/// Return a map that gives each key of keys the value at the same position of values.
pub fn dict_from_two_lists(
    keys: &[&str],
    values: &[i64],
) -> std::collections::BTreeMap<String, i64> {
    keys.iter()
        .map(|key| key.to_string())
        .zip(values.iter().copied())
        .collect()
}

/// Return a map that gives every word of words its length.
pub fn length_of_each_word(words: &[&str]) -> std::collections::HashMap<String, usize> {
    let mut lengths = std::collections::HashMap::new();
    for word in words {
        lengths.insert(word.to_string(), word.chars().count());
    }
    lengths
}

/// Return a new map with the same values as data and all keys in upper case.
pub fn keys_to_upper_case(
    data: &std::collections::BTreeMap<String, i64>,
) -> std::collections::BTreeMap<String, i64> {
    data.iter()
        .map(|(key, &value)| (key.to_uppercase(), value))
        .collect()
}

/// Return a new map with only those entries of data whose value is greater than 0.
pub fn keep_positive_values(
    data: &std::collections::HashMap<String, i64>,
) -> std::collections::HashMap<String, i64> {
    let mut kept = data.clone();
    kept.retain(|_, value| *value > 0);
    kept
}

pub fn without_key(
    data: &std::collections::BTreeMap<String, i64>,
    key: &str,
) -> std::collections::BTreeMap<String, i64> {
    let mut copy = data.clone();
    copy.remove(key);
    copy
}

/// Return a sorted list of the keys that are in both first and second.
pub fn keys_in_both_dicts(
    first: &std::collections::BTreeMap<String, i64>,
    second: &std::collections::BTreeMap<String, i64>,
) -> Vec<String> {
    first
        .keys()
        .filter(|&key| second.contains_key(key))
        .cloned()
        .collect()
}

pub fn with_entry(
    data: &std::collections::HashMap<String, i64>,
    key: &str,
    value: i64,
) -> std::collections::HashMap<String, i64> {
    let mut copy = data.clone();
    copy.insert(String::from(key), value);
    copy
}

pub fn keys_with_value(data: &std::collections::HashMap<String, i64>, value: i64) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, &other) in data {
        if other == value {
            keys.push(key.clone());
        }
    }
    keys.sort_unstable();
    keys
}

pub fn rename_key(
    data: &std::collections::BTreeMap<String, i64>,
    old: &str,
    new: &str,
) -> std::collections::BTreeMap<String, i64> {
    let mut copy = data.clone();
    if let Some(value) = copy.remove(old) {
        copy.insert(new.to_string(), value);
    }
    copy
}

/// Return a new map with only those entries of data whose key is among keys.
pub fn keep_listed_keys(
    data: &std::collections::BTreeMap<String, i64>,
    keys: &[&str],
) -> std::collections::BTreeMap<String, i64> {
    keys.iter()
        .filter_map(|&key| data.get_key_value(key))
        .map(|(key, value)| (key.clone(), *value))
        .collect()
}

/// Return a map with every key of first and second; the value is the sum of its values in both.
/// A key that is missing in one of them counts as 0 there.
pub fn add_dicts(
    first: &std::collections::BTreeMap<String, i64>,
    second: &std::collections::BTreeMap<String, i64>,
) -> std::collections::BTreeMap<String, i64> {
    let mut sums = first.clone();
    for (key, value) in second {
        *sums.entry(key.clone()).or_insert(0) += value;
    }
    sums
}

/// Return a copy of data in which the keys first and second have exchanged their values. Both are
/// in data.
pub fn swap_values_of_keys(
    data: &std::collections::BTreeMap<String, i64>,
    first: &str,
    second: &str,
) -> std::collections::BTreeMap<String, i64> {
    let mut copy = data.clone();
    copy.insert(first.to_string(), data[second]);
    copy.insert(second.to_string(), data[first]);
    copy
}

/// Return a new map with the entries of data whose value is not None, each with the value that is
/// inside its Some. Zeros stay.
pub fn drop_none_values(
    data: &std::collections::BTreeMap<String, Option<i64>>,
) -> std::collections::BTreeMap<String, i64> {
    data.iter()
        .filter_map(|(key, value)| value.map(|number| (key.clone(), number)))
        .collect()
}

/// Return the sum of the values in data for all the given keys. A missing key counts as 0.
pub fn sum_of_listed_keys(data: &std::collections::HashMap<String, i64>, keys: &[&str]) -> i64 {
    keys.iter().filter_map(|&key| data.get(key)).sum()
}

/// Return a sorted list of the keys whose value differs between before and after.
/// Both maps have the same keys.
pub fn keys_with_changed_value(
    before: &std::collections::BTreeMap<String, i64>,
    after: &std::collections::BTreeMap<String, i64>,
) -> Vec<String> {
    before
        .iter()
        .filter(|(key, value)| after.get(*key) != Some(value))
        .map(|(key, _)| key.clone())
        .collect()
}

/// Return the average of the values of data, or 0.0 if data is empty.
pub fn average_dict_value(data: &std::collections::HashMap<String, i64>) -> f64 {
    if data.is_empty() {
        return 0.0;
    }
    let sum: i64 = data.values().sum();
    sum as f64 / data.len() as f64
}

/// Return the total price: for every item in cart, its amount times its price in prices, added up.
/// All items in cart have a price.
pub fn total_price_of_cart(
    cart: &std::collections::HashMap<String, i64>,
    prices: &std::collections::HashMap<String, i64>,
) -> i64 {
    cart.iter()
        .map(|(item, amount)| amount * prices[item])
        .sum()
}

/// Return the values of field in all records that have it, in the order of the records.
pub fn values_of_field(
    records: &[std::collections::HashMap<String, i64>],
    field: &str,
) -> Vec<i64> {
    let mut values = Vec::new();
    for record in records {
        if let Some(&value) = record.get(field) {
            values.push(value);
        }
    }
    values
}

/// Return the last name reached from start: replace the name by its value in links until it is not
/// a key. The links never form a circle.
pub fn follow_links(links: &std::collections::HashMap<String, String>, start: &str) -> String {
    let mut name = start;
    while let Some(next) = links.get(name) {
        name = next;
    }
    name.to_string()
}

/// Return a flat map of the inner values of data, whose keys are the outer and the inner key with
/// a dot between them.
pub fn flatten_one_level(
    data: &std::collections::BTreeMap<String, std::collections::BTreeMap<String, i64>>,
) -> std::collections::BTreeMap<String, i64> {
    let mut flat = std::collections::BTreeMap::new();
    for (outer, entries) in data {
        for (inner, value) in entries {
            flat.insert(format!("{outer}.{inner}"), *value);
        }
    }
    flat
}

/// Return stock with the ordered amount of each item subtracted, without items of which none are
/// left. All items in orders are in stock; an item whose orders exceed its stock is also left out.
pub fn stock_after_orders(
    stock: &std::collections::BTreeMap<String, i64>,
    orders: &std::collections::BTreeMap<String, i64>,
) -> std::collections::BTreeMap<String, i64> {
    let mut left = stock.clone();
    for (item, ordered) in orders {
        if let Some(amount) = left.get_mut(item) {
            *amount -= ordered;
        }
    }
    left.retain(|_, amount| *amount > 0);
    left
}
