"""The demo agent's tools: the weather of a few cities, which never changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, final

Unit = Literal["celsius", "fahrenheit"]

SHORT_UNITS: Final[dict[Unit, str]] = {"celsius": "C", "fahrenheit": "F"}
LONGEST_FORECAST: Final = 7


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """The weather of a day: temperature in degrees Celsius, relative humidity in percent."""

    condition: str
    temperature: int
    humidity: int

    @property
    def is_wet(self) -> bool:
        """Whether one would want an umbrella."""
        return self.condition in ("rain", "drizzle", "showers", "thunderstorms", "snow")


CITIES: Final[dict[str, Weather]] = {
    "Berlin": Weather(condition="rain", temperature=12, humidity=81),
    "Cairo": Weather(condition="sunny", temperature=33, humidity=24),
    "Lima": Weather(condition="drizzle", temperature=18, humidity=85),
    "London": Weather(condition="rain", temperature=13, humidity=84),
    "Madrid": Weather(condition="sunny", temperature=27, humidity=35),
    "Mumbai": Weather(condition="thunderstorms", temperature=30, humidity=88),
    "Nairobi": Weather(condition="partly cloudy", temperature=24, humidity=55),
    "New York": Weather(condition="windy", temperature=16, humidity=58),
    "Oslo": Weather(condition="snow", temperature=-2, humidity=76),
    "Paris": Weather(condition="cloudy", temperature=17, humidity=66),
    "Reykjavik": Weather(condition="showers", temperature=5, humidity=79),
    "San Francisco": Weather(condition="foggy", temperature=15, humidity=82),
    "Sydney": Weather(condition="sunny", temperature=22, humidity=52),
    "Tokyo": Weather(condition="clear", temperature=21, humidity=48),
}

# How many degrees a day is warmer than today, and whether its weather turns.
_TREND = ((1, False), (2, False), (-1, True), (-3, True), (0, False), (1, False), (2, False))
_TURNS = {
    "sunny": "partly cloudy",
    "clear": "cloudy",
    "partly cloudy": "showers",
    "cloudy": "rain",
    "foggy": "sunny",
    "windy": "rain",
    "snow": "cloudy",
}


class UnknownCity(Exception):
    """The table does not have the city."""


def get_weather(city: str) -> Weather:
    """The weather of today.

    Raises:
        UnknownCity: when the table does not have the city.
    """
    try:
        return CITIES[city]
    except KeyError:
        raise UnknownCity(city) from None


def get_forecast(city: str, days: int) -> tuple[Weather, ...]:
    """The weather of the coming days, tomorrow first; at most seven.

    Raises:
        UnknownCity: when the table does not have the city.
    """
    today = get_weather(city)
    return tuple(
        Weather(
            condition=_TURNS.get(today.condition, "partly cloudy") if turns else today.condition,
            temperature=today.temperature + warmer,
            humidity=today.humidity,
        )
        for warmer, turns in _TREND[:days]
    )


def degrees(temperature: int, unit: Unit) -> int:
    """A temperature in degrees Celsius in the unit that is wanted, rounded."""
    return temperature if unit == "celsius" else round(temperature * 9 / 5 + 32)
