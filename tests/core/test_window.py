"""The window of work: order, bounds, and rounds that go on when what they wait for is there."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from strop_verify.core.bounded_map import ahead, bounded_map


def test_items_come_in_order_and_only_so_many_are_taken_ahead() -> None:
    taken: list[int] = []

    def source():
        for number in range(10):
            taken.append(number)
            yield number

    seen = []
    for number in ahead(source(), 3):
        assert len(taken) <= number + 3
        seen.append(number)
    assert seen == list(range(10)) and list(ahead([], 3)) == []


def test_heavy_items_stop_the_taking_but_never_the_giving() -> None:
    taken: list[int] = []
    source = (taken.append(size) or size for size in [9, 1, 1, 9, 9, 1])
    given = []
    for size in ahead(source, 4, weight=lambda size: size, heaviest=10):
        given.append((size, sum(taken) - sum(before for before, _ in given)))
    assert [size for size, _ in given] == [9, 1, 1, 9, 9, 1]
    assert all(held < 10 + 9 for _, held in given)


def test_works_of_several_rounds_give_their_results_in_order() -> None:
    begun: list[int] = []
    first_waits = threading.Event()
    with ThreadPoolExecutor(4) as threads:

        def work(number: int):
            begun.append(number)
            total = 0

            def found(value: int) -> int:
                if number == 1:
                    first_waits.wait(10)
                return value

            for turn in range(number % 4):
                futures = [threads.submit(found, value) for value in (turn, 1)]
                yield futures
                assert all(future.done() for future in futures)
                total += sum(future.result() for future in futures)
            yield []
            if number == 3:
                first_waits.set()
            return number, total

        results = list(bounded_map(map(work, range(20)), 5))
    assert [number for number, _ in results] == list(range(20)) == begun
    assert results[:4] == [(0, 0), (1, 1), (2, 3), (3, 6)]


def test_no_more_works_than_asked_for_are_under_way_and_their_errors_are_raised() -> None:
    under_way, most = [0], [0]
    waiting: list[Future[None]] = []

    def work(number: int):
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        future: Future[None] = Future()
        waiting.append(future)
        if len(waiting) >= 3:
            waiting.pop(0).set_result(None)
        yield [future]
        under_way[0] -= 1
        if number == 8:
            raise ValueError("the eighth")
        return number

    seen: list[int] = []
    try:
        for number in bounded_map(map(work, range(12)), 3):
            seen.append(number)
            if waiting:
                waiting.pop(0).set_result(None)
    except ValueError as error:
        assert str(error) == "the eighth"
    assert most[0] <= 3 and seen == list(range(8))
