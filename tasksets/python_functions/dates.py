"""Tasks on dates and clock times given as numbers or text."""

import calendar
import datetime

from tasksets.python_functions.cases import cases


@cases(1, (1999,), (2000,), (1815,), (2009,), (1904,))
def decade_of_year(year: int) -> str:
    """Return the decade of year as text, such as '1980s' for all years from 1980 to 1989.

    >>> decade_of_year(1987)
    '1980s'
    >>> decade_of_year(2020)
    '2020s'
    """
    return f"{year // 10 * 10}s"


@cases(
    1,
    ("2024-01-01", "2024-01-31"),
    ("2024-05-01", "2023-05-01"),
    ("1999-10-10", "1999-11-10"),
    ("2000-01-01", "2000-01-01"),
    ("1990-07-17", "1990-07-04"),
    ("2024-02-01", "2025-03-01"),
)
def is_in_same_month(first: str, second: str) -> bool:
    """Return True if both dates, written as 'YYYY-MM-DD', lie in the same month of the same year.

    >>> is_in_same_month("2023-03-05", "2023-03-20")
    True
    >>> is_in_same_month("2023-03-05", "2022-03-05")
    False
    """
    return first[:7] == second[:7]


@cases(1, ("1999-12-31",), ("2000-01-01",), ("2010-06-15",), ("2024-02-29",), ("2101-10-09",))
def day_of_date(date: str) -> int:
    """Return the day of the month of a date such as '2024-03-05' as an int.

    >>> day_of_date("2024-03-05")
    5
    >>> day_of_date("1999-11-30")
    30
    """
    return int(date.split("-")[2])


@cases(1, ("1999-12-31",), ("2000-01-01",), ("2010-06-15",), ("2024-02-29",), ("2101-10-10",))
def first_day_of_its_month(date: str) -> str:
    """Return the first day of the month in which date lies; both are written as 'YYYY-MM-DD'.

    >>> first_day_of_its_month("2024-03-05")
    '2024-03-01'
    >>> first_day_of_its_month("1987-11-20")
    '1987-11-01'
    """
    return date[:8] + "01"


@cases(1, ("00:00",), ("23:59",), ("12:00",), ("00:01",), ("10:10",), ("19:00",))
def is_full_hour(time: str) -> bool:
    """Return True if the minutes of a time such as '07:45' are 00, otherwise False.

    >>> is_full_hour("08:00")
    True
    >>> is_full_hour("00:30")
    False
    """
    return time.endswith(":00")


@cases(1, (2000,), (1900,), (2023,), (2024,), (2100,), (1996,), (2400,))
def is_leap_year(year: int) -> bool:
    """Return True if year is a leap year: divisible by 4 but not by 100, or divisible by 400.

    >>> is_leap_year(2020)
    True
    >>> is_leap_year(2021)
    False
    """
    return (year % 4 == 0 and year % 100 != 0) or year % 400 == 0


@cases(1, (2000,), (1900,), (2023,), (2028,), (2100,), (1995,))
def days_in_year(year: int) -> int:
    """Return 366 if year is a leap year (divisible by 4 but not by 100, or by 400), otherwise 365.

    >>> days_in_year(2024)
    366
    >>> days_in_year(2022)
    365
    """
    return 366 if (year % 4 == 0 and year % 100 != 0) or year % 400 == 0 else 365


@cases(1, ("00:00",), ("23:59",), ("12:30",), ("01:00",), ("10:10",))
def minutes_left_in_day(time: str) -> int:
    """Return the number of minutes from a time such as '07:45' to the end of the day, 24:00.

    >>> minutes_left_in_day("22:45")
    75
    >>> minutes_left_in_day("12:00")
    720
    """
    return 24 * 60 - int(time[:2]) * 60 - int(time[3:])


@cases(1, (0,), (59,), (60,), (1439,), (615,), (720,))
def clock_time_of_minute(minutes: int) -> str:
    """Return the time 'HH:MM' that is the given number of minutes (0 to 1439) after midnight.

    >>> clock_time_of_minute(465)
    '07:45'
    >>> clock_time_of_minute(61)
    '01:01'
    """
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


@cases(1, (0, 0), (1, 0), (0, 59), (2, 30), (24, 0))
def hours_and_minutes_to_minutes(hours: int, minutes: int) -> int:
    """Return the total number of minutes in the given hours and minutes.

    >>> hours_and_minutes_to_minutes(1, 15)
    75
    >>> hours_and_minutes_to_minutes(3, 1)
    181
    """
    return hours * 60 + minutes


@cases(1, (0, 0, 0), (0, 0, 59), (0, 1, 0), (1, 1, 1), (10, 0, 30))
def total_seconds(hours: int, minutes: int, seconds: int) -> int:
    """Return the total number of seconds in the given hours, minutes and seconds.

    >>> total_seconds(0, 2, 5)
    125
    >>> total_seconds(1, 0, 10)
    3610
    """
    return hours * 3600 + minutes * 60 + seconds


@cases(1, (0,), (6,), (7,), (13,), (365,))
def full_weeks_in_days(days: int) -> int:
    """Return the number of full weeks in the given number of days.

    >>> full_weeks_in_days(15)
    2
    >>> full_weeks_in_days(70)
    10
    """
    return days // 7


@cases(1, (0, 1), (23, 1), (22, 5), (5, 0), (12, 48), (1, -2))
def hour_after(hour: int, passed: int) -> int:
    """Return the hour (0 to 23) on the clock when passed hours have gone by since hour.

    A negative passed goes back in time.

    >>> hour_after(20, 6)
    2
    >>> hour_after(3, 4)
    7
    """
    return (hour + passed) % 24


@cases(1, (0,), (11,), (12,), (13,), (23,), (6,))
def hour_on_twelve_hour_clock(hour: int) -> int:
    """Return the hour from 1 to 12 that a 12-hour clock shows at hour (0 to 23). Hour 0 gives 12.

    >>> hour_on_twelve_hour_clock(15)
    3
    >>> hour_on_twelve_hour_clock(9)
    9
    """
    return hour % 12 or 12


@cases(
    1,
    ("2024-01-01", "2024-01-02"),
    ("2024-05-01", "2023-12-31"),
    ("1999-10-10", "1999-09-30"),
    ("2000-01-01", "2000-01-01"),
    ("1990-07-07", "2007-07-07"),
    ("2024-02-01", "2024-11-01"),
)
def is_earlier_date(first: str, second: str) -> bool:
    """Return True if the date first is before the date second; both are written as 'YYYY-MM-DD'.

    >>> is_earlier_date("2023-03-05", "2024-01-01")
    True
    >>> is_earlier_date("2024-03-05", "2024-03-04")
    False
    """
    return first < second


@cases(
    1,
    (["2024-01-02"],),
    (["2024-05-01", "2023-12-31"],),
    (["1999-10-10", "1999-09-30", "2001-01-01"],),
    (["2000-01-01", "2000-01-01"],),
    (["2010-02-03", "2010-02-01", "2010-02-02"],),
)
def latest_date(dates: list[str]) -> str:
    """Return the latest of the dates, which are written as 'YYYY-MM-DD'.

    >>> latest_date(["2024-03-05", "2024-04-01"])
    '2024-04-01'
    >>> latest_date(["1987-01-09", "1985-12-09"])
    '1987-01-09'
    """
    return max(dates)


@cases(1, ("1999-12-31",), ("2000-01-01",), ("2010-06-15",), ("2024-02-29",), ("2101-10-09",))
def date_with_slashes(date: str) -> str:
    """Return a date such as '2024-03-05' in the form '05/03/2024': day, month, year.

    >>> date_with_slashes("2024-03-05")
    '05/03/2024'
    >>> date_with_slashes("1987-11-20")
    '20/11/1987'
    """
    return "/".join(reversed(date.split("-")))


@cases(1, (1,), (3,), (4,), (6,), (7,), (10,), (12,))
def quarter_of_month(month: int) -> int:
    """Return the quarter of the year (1 to 4) in which the month (1 to 12) lies.

    >>> quarter_of_month(2)
    1
    >>> quarter_of_month(9)
    3
    """
    return (month + 2) // 3


@cases(1, (1,), (100,), (101,), (1900,), (2000,), (1066,))
def century_of_year(year: int) -> int:
    """Return the century of a year: years 1 to 100 are century 1, years 101 to 200 are century 2.

    >>> century_of_year(1999)
    20
    >>> century_of_year(2001)
    21
    """
    return (year + 99) // 100


@cases(1, (1,), (2,), (7,), (11,), (12,))
def month_after(month: int) -> int:
    """Return the number (1 to 12) of the month that follows month. After 12 comes 1.

    >>> month_after(5)
    6
    >>> month_after(10)
    11
    """
    return month % 12 + 1


@cases(1, (0,), (1,), (4,), (5,), (6,))
def workdays_left_in_week(weekday: int) -> int:
    """Return how many workdays (0 to 4) follow weekday in the same week, where 0 is Monday and 6 is Sunday.

    >>> workdays_left_in_week(2)
    2
    >>> workdays_left_in_week(3)
    1
    """
    return max(4 - weekday, 0)


@cases(2, (0, 1), (0, 7), (6, 1), (3, 10), (5, 0), (2, -3))
def weekday_name_after(weekday: int, days: int) -> str:
    """Return the short name of the day that is days days after weekday, where 0 is 'Mon' and 6 is 'Sun'.

    >>> weekday_name_after(0, 2)
    'Wed'
    >>> weekday_name_after(5, 3)
    'Tue'
    """
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return names[(weekday + days) % 7]


@cases(2, (1,), (2,), (6,), (8,), (9,), (12,))
def days_in_month_of_common_year(month: int) -> int:
    """Return the number of days of month (1 to 12) in a year that is not a leap year.

    >>> days_in_month_of_common_year(4)
    30
    >>> days_in_month_of_common_year(7)
    31
    """
    return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]


@cases(2, (2024, 2), (2023, 2), (1900, 2), (2000, 2), (2024, 11), (2023, 12))
def days_in_month(year: int, month: int) -> int:
    """Return the number of days of month (1 to 12) in the given year, with 29 for February in leap years.

    >>> days_in_month(2020, 2)
    29
    >>> days_in_month(2021, 4)
    30
    """
    return calendar.monthrange(year, month)[1]


@cases(2, (1,), (2,), (5,), (8,), (9,), (12,))
def season_of_month(month: int) -> str:
    """Return 'winter' for months 12, 1, 2, 'spring' for 3 to 5, 'summer' for 6 to 8, 'autumn' for 9 to 11.

    >>> season_of_month(7)
    'summer'
    >>> season_of_month(3)
    'spring'
    """
    return ["winter", "spring", "summer", "autumn"][month % 12 // 3]


@cases(2, ("00:00", "00:01"), ("10:00", "12:00"), ("09:45", "10:15"), ("13:30", "13:30"), ("00:00", "23:59"))
def minutes_between_times(start: str, end: str) -> int:
    """Return the number of minutes from start to end, two times 'HH:MM' of one day; end is not earlier.

    >>> minutes_between_times("08:00", "08:45")
    45
    >>> minutes_between_times("11:50", "13:00")
    70
    """
    start_hour, start_minute = map(int, start.split(":"))
    end_hour, end_minute = map(int, end.split(":"))
    return (end_hour - start_hour) * 60 + end_minute - start_minute


@cases(2, ("00:00", 1), ("10:00", 120), ("09:45", 30), ("23:30", 45), ("12:00", 0), ("22:10", 600))
def add_minutes_to_time(time: str, minutes: int) -> str:
    """Return the time 'HH:MM' that is minutes later than time. After 23:59 comes 00:00.

    >>> add_minutes_to_time("08:00", 45)
    '08:45'
    >>> add_minutes_to_time("23:50", 20)
    '00:10'
    """
    hour, minute = map(int, time.split(":"))
    total = hour * 60 + minute + minutes
    return f"{total // 60 % 24:02d}:{total % 60:02d}"


@cases(2, (0,), (59,), (60,), (3600,), (3661,), (86399,))
def seconds_as_clock(seconds: int) -> str:
    """Return a number of seconds (less than a day) as text 'HH:MM:SS'.

    >>> seconds_as_clock(75)
    '00:01:15'
    >>> seconds_as_clock(7205)
    '02:00:05'
    """
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


@cases(2, ("00:00",), ("00:30",), ("11:59",), ("12:00",), ("13:05",), ("23:10",))
def time_with_am_pm(time: str) -> str:
    """Return a 24-hour time such as '15:30' on the 12-hour clock, such as '3:30 PM'. Hour 0 is 12 AM.

    >>> time_with_am_pm("15:30")
    '3:30 PM'
    >>> time_with_am_pm("09:05")
    '9:05 AM'
    """
    hour = int(time[:2])
    return f"{hour % 12 or 12}:{time[3:]} {'AM' if hour < 12 else 'PM'}"


@cases(
    2,
    ("2024-01-01", "2024-01-02"),
    ("2024-02-28", "2024-03-01"),
    ("2023-02-28", "2023-03-01"),
    ("2020-05-05", "2020-05-05"),
    ("2023-12-31", "2025-01-01"),
)
def days_between_dates(first: str, second: str) -> int:
    """Return the number of days from first to second, two dates 'YYYY-MM-DD'; second is not earlier.

    >>> days_between_dates("2024-03-05", "2024-03-15")
    10
    >>> days_between_dates("2022-01-01", "2023-01-01")
    365
    """
    return (datetime.date.fromisoformat(second) - datetime.date.fromisoformat(first)).days


@cases(2, (2000, 2020), (1999, 2000), (2024, 2024), (1, 400), (2021, 2023), (1896, 1904))
def count_leap_years(first: int, last: int) -> int:
    """Return how many leap years there are from year first to year last, both included.

    >>> count_leap_years(2004, 2012)
    3
    >>> count_leap_years(2098, 2102)
    0
    """
    return sum(1 for year in range(first, last + 1) if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))


@cases(
    2,
    (["2024-01-05", "2023-01-06"], 2024),
    ([], 2000),
    (["2024-01-05", "2024-12-31"], 2024),
    (["1999-12-31", "2000-01-01", "1999-01-01"], 1999),
    (["2024-01-05"], 2025),
)
def dates_in_year(dates: list[str], year: int) -> list[str]:
    """Return a list of those dates ('YYYY-MM-DD') that lie in the given year, in their order.

    >>> dates_in_year(["2021-04-01", "2022-04-01", "2021-05-09"], 2021)
    ['2021-04-01', '2021-05-09']
    >>> dates_in_year(["2010-10-10"], 2011)
    []
    """
    return [date for date in dates if int(date[:4]) == year]


@cases(
    2,
    (2000, 5, 10, 2024, 5, 10),
    (2000, 5, 10, 2024, 5, 9),
    (2000, 5, 10, 2024, 6, 1),
    (1990, 12, 31, 1991, 1, 1),
    (2010, 1, 1, 2010, 7, 7),
    (1980, 8, 20, 2020, 3, 25),
)
def age_in_years(born_year: int, born_month: int, born_day: int, year: int, month: int, day: int) -> int:
    """Return the age in full years, on the date year-month-day, of a person born on the given day.

    >>> age_in_years(2000, 3, 15, 2020, 3, 15)
    20
    >>> age_in_years(2000, 3, 15, 2020, 2, 28)
    19
    """
    return year - born_year - ((month, day) < (born_month, born_day))


@cases(
    2,
    ("09:00", "10:00", "09:30"),
    ("09:00", "10:00", "10:00"),
    ("09:00", "10:00", "09:00"),
    ("22:00", "23:30", "21:59"),
    ("00:00", "06:00", "05:59"),
    ("12:00", "13:00", "14:00"),
)
def is_open_at(opening: str, closing: str, time: str) -> bool:
    """Return True if time is at or after opening and before closing; all are times 'HH:MM' of one day.

    >>> is_open_at("08:00", "17:00", "12:15")
    True
    >>> is_open_at("08:00", "17:00", "17:30")
    False
    """
    return opening <= time < closing


@cases(
    3, ("2024-01-01",), ("2023-12-31",), ("2024-12-31",), ("2024-03-01",), ("2023-03-01",), ("1900-03-01",)
)
def day_number_in_year(date: str) -> int:
    """Return the position (1 to 366) of a date 'YYYY-MM-DD' within its year. January 1 is day 1.

    >>> day_number_in_year("2024-02-01")
    32
    >>> day_number_in_year("2022-01-20")
    20
    """
    return datetime.date.fromisoformat(date).timetuple().tm_yday


@cases(
    3, ("2024-01-01",), ("2023-12-31",), ("2024-02-28",), ("2023-02-28",), ("2024-04-30",), ("2010-10-09",)
)
def next_day(date: str) -> str:
    """Return the date after the given date; both are written as 'YYYY-MM-DD'.

    >>> next_day("2024-03-05")
    '2024-03-06'
    >>> next_day("2022-01-31")
    '2022-02-01'
    """
    return (datetime.date.fromisoformat(date) + datetime.timedelta(days=1)).isoformat()


@cases(
    3, (2023, 2, 29), (2024, 2, 29), (2024, 13, 1), (2024, 0, 10), (2024, 4, 31), (2024, 12, 31), (2000, 6, 1)
)
def is_valid_date(year: int, month: int, day: int) -> bool:
    """Return True if the month is from 1 to 12 and the day exists in that month of that year, else False.

    >>> is_valid_date(2024, 1, 31)
    True
    >>> is_valid_date(2024, 6, 31)
    False
    """
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


@cases(3, (0,), (1,), (60,), (61,), (1440,), (1500,), (3000,))
def duration_as_text(minutes: int) -> str:
    """Return a duration in minutes as text such as '1d 2h 5m', without the parts that are 0.

    A duration of 0 gives '0m'.

    >>> duration_as_text(125)
    '2h 5m'
    >>> duration_as_text(2885)
    '2d 5m'
    """
    parts = [(minutes // 1440, "d"), (minutes // 60 % 24, "h"), (minutes % 60, "m")]
    return " ".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0m"
