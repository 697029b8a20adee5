//! Dates: Rust for the tasks of python-functions.

/// Return the decade of year as text, such as "1980s" for all years from 1980 to 1989.
pub fn decade_of_year(year: u32) -> String {
    format!("{}s", year / 10 * 10)
}

/// Return true if both dates, written as "YYYY-MM-DD", lie in the same month of the same year.
pub fn is_in_same_month(first: &str, second: &str) -> bool {
    first.get(..7) == second.get(..7)
}

/// Return the day of the month of a date that is written as "YYYY-MM-DD".
pub fn day_of_date(date: &str) -> u32 {
    date.chars()
        .skip(8)
        .filter_map(|c| c.to_digit(10))
        .fold(0, |day, digit| day * 10 + digit)
}

/// Return the first day of the month in which date lies; both are written as "YYYY-MM-DD".
pub fn first_day_of_its_month(date: &str) -> String {
    format!("{}01", &date[..8])
}

/// Return true if the minutes of a time, written as "HH:MM", are 00, otherwise false.
pub fn is_full_hour(time: &str) -> bool {
    time.ends_with(":00")
}

/// Return true if year is a leap year: divisible by 4 but not by 100, or divisible by 400.
pub fn is_leap_year(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

pub fn days_in_year(year: i64) -> u32 {
    match (year % 4, year % 100, year % 400) {
        (_, _, 0) => 366,
        (_, 0, _) => 365,
        (0, _, _) => 366,
        _ => 365,
    }
}

/// Return the number of minutes from a time, written as "HH:MM", to the end of the day, 24:00.
pub fn minutes_left_in_day(time: &str) -> u32 {
    let Some((hours, minutes)) = time.split_once(':') else {
        return 0;
    };
    match (hours.parse::<u32>(), minutes.parse::<u32>()) {
        (Ok(hours), Ok(minutes)) => (24 * 60_u32).saturating_sub(hours * 60 + minutes),
        _ => 0,
    }
}

/// Return the time "HH:MM" that is the given number of minutes (0 to 1439) after midnight.
pub fn clock_time_of_minute(minutes: u32) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

pub fn hours_and_minutes_to_minutes(hours: u32, minutes: u32) -> u32 {
    hours * 60 + minutes
}

pub fn total_seconds(hours: u32, minutes: u32, seconds: u32) -> u32 {
    (hours * 60 + minutes) * 60 + seconds
}

pub fn full_weeks_in_days(days: u32) -> u32 {
    days / 7
}

pub fn hour_after(hour: i64, passed: i64) -> i64 {
    (hour + passed).rem_euclid(24)
}

pub fn hour_on_twelve_hour_clock(hour: u32) -> u32 {
    match hour % 12 {
        0 => 12,
        other => other,
    }
}

/// Return true if the date first is before the date second; both are written as "YYYY-MM-DD".
pub fn is_earlier_date(first: &str, second: &str) -> bool {
    first < second
}

/// Return the latest of the dates, which are written as "YYYY-MM-DD", or None if there are none.
pub fn latest_date(dates: &[&str]) -> Option<String> {
    dates.iter().max().map(|date| date.to_string())
}

/// Return a date that is written as "YYYY-MM-DD" in the form "DD/MM/YYYY".
pub fn date_with_slashes(date: &str) -> String {
    let parts: Vec<&str> = date.split('-').rev().collect();
    parts.join("/")
}

pub fn quarter_of_month(month: u32) -> u32 {
    (month - 1) / 3 + 1
}

pub fn century_of_year(year: u32) -> u32 {
    year.div_ceil(100)
}

pub fn month_after(month: u32) -> u32 {
    if month == 12 {
        1
    } else {
        month + 1
    }
}

pub fn workdays_left_in_week(weekday: u32) -> u32 {
    4_u32.saturating_sub(weekday)
}

/// Return the short name of the day that is days days after weekday, where 0 is "Mon" and 6 is
/// "Sun". Negative days go back in time.
pub fn weekday_name_after(weekday: i64, days: i64) -> String {
    let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let position = (weekday + days).rem_euclid(7) as usize;
    names[position].to_string()
}

pub fn days_in_month_of_common_year(month: u32) -> u32 {
    match month {
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub fn days_in_month(year: i64, month: u32) -> u32 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Return "winter" for months 12, 1, 2, "spring" for 3 to 5, "summer" for 6 to 8 and "autumn" for
/// 9 to 11.
pub fn season_of_month(month: u32) -> String {
    let season = match month {
        3..=5 => "spring",
        6..=8 => "summer",
        9..=11 => "autumn",
        _ => "winter",
    };
    String::from(season)
}

/// Return the number of minutes from start to end, two times "HH:MM" of one day; end is not
/// earlier.
pub fn minutes_between_times(start: &str, end: &str) -> i64 {
    let minute_of_day = |time: &str| {
        time.split(':')
            .map(|part| part.parse::<i64>().unwrap_or(0))
            .fold(0, |total, number| total * 60 + number)
    };
    minute_of_day(end) - minute_of_day(start)
}

/// Return the time "HH:MM" that is minutes later than time. After 23:59 comes 00:00.
pub fn add_minutes_to_time(time: &str, minutes: u32) -> String {
    let (hour, minute) = time.split_once(':').unwrap_or((time, "0"));
    let hour: u32 = hour.parse().unwrap_or(0);
    let minute: u32 = minute.parse().unwrap_or(0);
    let total = hour * 60 + minute + minutes;
    format!("{:02}:{:02}", total / 60 % 24, total % 60)
}

/// Return a number of seconds (less than a day) as text "HH:MM:SS".
pub fn seconds_as_clock(seconds: u32) -> String {
    let hours = seconds / 3600;
    let minutes = seconds / 60 % 60;
    let rest = seconds % 60;
    format!("{hours:02}:{minutes:02}:{rest:02}")
}

/// Return a 24-hour time such as "15:30" on the 12-hour clock, such as "3:30 PM". Hour 0 is 12 AM.
pub fn time_with_am_pm(time: &str) -> String {
    let Some((hour, minute)) = time.split_once(':') else {
        return time.to_string();
    };
    match hour.parse::<u32>() {
        Ok(0) => format!("12:{minute} AM"),
        Ok(hour @ 1..=11) => format!("{hour}:{minute} AM"),
        Ok(12) => format!("12:{minute} PM"),
        Ok(hour) => format!("{}:{minute} PM", hour - 12),
        Err(_) => time.to_string(),
    }
}

/// Return the number of days from first to second, two dates "YYYY-MM-DD"; second is not earlier.
pub fn days_between_dates(first: &str, second: &str) -> i64 {
    fn day_number(date: &str) -> i64 {
        let mut parts = date.split('-').map(|part| part.parse().unwrap_or(1));
        let mut next = || parts.next().unwrap_or(1);
        let (mut year, mut month, day): (i64, i64, i64) = (next(), next(), next());
        if month <= 2 {
            year -= 1;
            month += 12;
        }
        let days_before_month = (153 * (month - 3) + 2) / 5;
        365 * year + year / 4 - year / 100 + year / 400 + days_before_month + day
    }

    day_number(second) - day_number(first)
}

pub fn count_leap_years(first: i64, last: i64) -> usize {
    (first..=last)
        .filter(|year| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
        .count()
}

/// Return those dates ("YYYY-MM-DD") that lie in the given year, in their order.
pub fn dates_in_year(dates: &[&str], year: u32) -> Vec<String> {
    let mut found = Vec::new();
    for date in dates {
        if date[..4].parse() == Ok(year) {
            found.push(date.to_string());
        }
    }
    found
}

pub fn age_in_years(
    born_year: u32,
    born_month: u32,
    born_day: u32,
    year: u32,
    month: u32,
    day: u32,
) -> u32 {
    let years = year - born_year;
    if (month, day) < (born_month, born_day) {
        years - 1
    } else {
        years
    }
}

/// Return true if time is at or after opening and before closing; all are times "HH:MM" of one
/// day.
pub fn is_open_at(opening: &str, closing: &str, time: &str) -> bool {
    (opening..closing).contains(&time)
}

/// Return the position (1 to 366) of a date "YYYY-MM-DD" within its year. January 1 is day 1.
pub fn day_number_in_year(date: &str) -> usize {
    let numbers: Vec<usize> = date
        .split('-')
        .filter_map(|part| part.parse().ok())
        .collect();
    let [year, month, day] = numbers[..] else {
        return 0;
    };
    let february = match (year % 4, year % 100, year % 400) {
        (0, 1.., _) | (_, _, 0) => 29,
        _ => 28,
    };
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    lengths.iter().take(month - 1).sum::<usize>() + day
}

/// Return the date after the given date; both are written as "YYYY-MM-DD".
pub fn next_day(date: &str) -> String {
    let numbers: Vec<i32> = date
        .split('-')
        .map(|part| part.parse().unwrap_or(0))
        .collect();
    let (mut year, mut month, mut day) = (numbers[0], numbers[1], numbers[2]);
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year => 29,
        2 => 28,
        _ => 31,
    };
    day += 1;
    if day > length {
        day = 1;
        month += 1;
    }
    if month > 12 {
        month = 1;
        year += 1;
    }
    format!("{year:04}-{month:02}-{day:02}")
}

/// Return true if the month is from 1 to 12 and the day exists in that month of that year, else
/// false.
pub fn is_valid_date(year: i64, month: u32, day: u32) -> bool {
    let is_leap_year = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year => 29,
        2 => 28,
        _ => return false,
    };
    (1..=length).contains(&day)
}

/// Return a duration in minutes as text such as "1d 2h 5m", without the parts that are 0.
/// A duration of 0 gives "0m".
pub fn duration_as_text(minutes: u32) -> String {
    if minutes == 0 {
        return "0m".to_string();
    }
    let amounts = [
        (minutes / 1440, 'd'),
        (minutes / 60 % 24, 'h'),
        (minutes % 60, 'm'),
    ];
    let parts: Vec<String> = amounts
        .iter()
        .filter(|(amount, _)| *amount > 0)
        .map(|(amount, unit)| format!("{amount}{unit}"))
        .collect();
    parts.join(" ")
}
