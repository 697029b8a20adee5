"""The *pytest* check: a suite runs in a tester process, the answer's module in the candidate, linked by proxies."""
