"""The words of toy repositories: each domain's names of packages, modules, things and their fields."""

from dataclasses import dataclass

_TABLE = """
shop store market kiosk cart orders stock prices delivery receipts
    item/items order/orders parcel/parcels price weight stock size
garden park nursery orchard beds seeds watering harvest tools paths
    plant/plants tree/trees flower/flowers height age water yield
school college academy course grades pupils lessons rooms exams timetable
    pupil/pupils lesson/lessons exam/exams grade age points absences
library archive bookshop reader shelves loans members catalog fines covers
    book/books loan/loans member/members pages copies year fine
kitchen bakery cafe canteen recipes pantry oven menu dishes spices
    recipe/recipes dish/dishes cake/cakes salt sugar minutes servings
travel transit railway ferry routes stops tickets luggage maps seats
    route/routes ticket/tickets stop/stops distance delay fare seats
weather climate station radar rain wind sensors reports clouds alerts
    report/reports sensor/sensors storm/storms rain wind pressure degrees
music radio concert studio songs albums players charts stage lyrics
    song/songs album/albums singer/singers length plays rank tempo
bank savings wallet ledger accounts transfers interest cards loans limits
    account/accounts card/cards loan/loans balance debt fee interest
zoo farm aquarium shelter animals feeding cages visits vets keepers
    animal/animals cage/cages visit/visits age weight food cost
games arcade chess puzzle players scores levels board moves rounds
    player/players level/levels move/moves score lives coins turns
sports league club arena teams matches training medals fans season
    team/teams match/matches runner/runners goals wins speed points
post mail courier depot letters stamps boxes drivers streets scales
    letter/letters box/boxes driver/drivers weight postage width miles
clinic pharmacy hospital ward patients doses beds doctors visits charts
    patient/patients dose/doses nurse/nurses pulse dose age hours
"""


@dataclass(frozen=True)
class Domain:
    """The words of one domain.

    things  (singular, plural) of each
    fields  names of the things' integer fields
    """

    name: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    things: tuple[tuple[str, str], ...]
    fields: tuple[str, ...]


def _domain(text: str) -> Domain:
    words = text.split()
    things = tuple((one, many) for one, _, many in (word.partition("/") for word in words if "/" in word))
    return Domain(words[0], (words[0], *words[1:4]), tuple(words[4:10]), things, tuple(words[13:]))


DOMAINS = tuple(_domain(block) for block in _TABLE.strip().replace("\n    ", " ").splitlines())
_NAMES = """
ada bea carl dora emil fay gus hana ivo jana kim leo mia nils olga paul rosa sven tara uwe vera willi xenia yuri zoe
"""
NAMES = tuple(_NAMES.split())
"""Names that things can have."""
