"""The *pytest* check: a suite runs in a tester process, the answer's module in the candidate; proxies stand between."""
