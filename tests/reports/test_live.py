import io
import re

from tests.waiting import wait_until

from strop.reports.terminal.live import LiveView, clock


class Terminal(io.StringIO):
    def isatty(self):
        return True


def metrics(step, **more):
    return {
        "step": step, "reward": step / 10, "rewards": {"passed": 0.25, "tests": 0.5}, "pass_rate": 0.25,
        "completion_tokens": 21.5, "groups_played": 12, "groups_with_signal": 8, "error_rate": 0.0,
        "seconds": 30.0, "seconds_sampling": 20.0, "seconds_verifying": 1.0, "seconds_update": 9.0, "loss": 0.1,
    } | more  # fmt: skip


def test_plain_lines_one_a_step_with_rolling_means():
    file = io.StringIO()
    with LiveView(4, file=file, window=2) as view:
        view.note("starting")
        for step in (1, 2, 3):
            view.update(metrics(step))
        view.status("only on a terminal")
    lines = file.getvalue().splitlines()
    assert lines[0] == "starting" and len(lines) == 4
    assert lines[3] == (
        "step 3/4  reward 0.300 (mean 0.250)  passed 0.250 (mean 0.250)  tests 0.500 (mean 0.500)  pass rate 25.0 %  "
        "tokens 21.5  signal 8/12  30.0 s (sampling 20.0 verifying 1.0 update 9.0)  left 0:30"
    )


def test_missing_metrics_are_left_out():
    file = io.StringIO()
    with LiveView(2, file=file) as view:
        view.update({"step": 1, "pass_rate": None})
        view.update({"step": 2, "seconds": 1.0})
    first, second = file.getvalue().splitlines()
    assert first.startswith("step 1/2  pass rate -")
    assert second.endswith("left 0:00")


def test_errors_are_shown_when_there_are_some():
    file = io.StringIO()
    with LiveView(2, file=file) as view:
        view.update(metrics(1, error_rate=0.021))
    assert "errors 2.1 %" in file.getvalue()


def test_terminal_shows_step_bars_and_sample(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    file = Terminal()
    with LiveView(4, file=file) as view:
        view.update(metrics(1, pass_rate=0.0))
        view.update(metrics(2, pass_rate=1.0, sample="def f():\n    return 7"))
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())
    assert "step 2/4" in text and "▁█" in text and "return 7" in text and "8 of 12 groups" in text


def test_clock():
    assert [clock(s) for s in (0, 7.4, 59.6, 750, 3723)] == ["0:00", "0:07", "1:00", "12:30", "1:02:03"]


def test_time_left_counts_what_follows_the_steps():
    file = io.StringIO()
    with LiveView(4, file=file) as view:
        view.update(metrics(3, seconds_to_come=339.0))
        view.update(metrics(4, seconds_to_come=339.0, seconds_rewards=2.0))
    third, last = file.getvalue().splitlines()
    assert third.endswith("left 6:09") and last.endswith("left 5:39")
    assert "verifying 1.0 rewards 2.0 update 9.0" in last and "rewards 2" not in third


def test_long_work_has_lines_with_the_time_left_where_there_is_no_terminal(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("strop.reports.terminal.live.time.monotonic", lambda: now[0])
    file = io.StringIO()
    with LiveView(2, file=file) as view:
        for done in range(1, 101):
            view.status("evaluating: answers", done, 100)
            now[0] += 1
    assert file.getvalue().splitlines() == [
        "evaluating: answers 32 of 100, 1:08 left",
        "evaluating: answers 63 of 100, 0:37 left",
        "evaluating: answers 94 of 100, 0:06 left",
    ]


def test_long_work_has_a_bar_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    with LiveView(2, file=file) as view:
        view.status("evaluating: answers", 40, 100)
        wait_until(lambda: "40 of 100" in file.getvalue())
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())
    assert "━" in text and "evaluating: answers" in text
