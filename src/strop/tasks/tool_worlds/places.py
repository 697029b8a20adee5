"""Worlds of places and ordered things: roads, lanes, rooms, folders, playlists and ballots."""

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any, Literal

from strop.tasks.tool_worlds.world import Drawn, Part, World, need, put, some, those


class Truck(World):
    """Roads of some length between towns; a kilometre takes a litre, and few towns have fuel."""

    free = ("/truck/fuel",)

    def drive(self, town: str) -> str:
        """Drives the truck along a road to the next town; each kilometre takes a litre."""
        roads = self.roads[self.truck["in"]]
        need(town in roads, f"no road leads there; some lead to {', '.join(roads)}")
        need(roads[town] <= self.truck["fuel"], "there is too little fuel")
        return put(self.truck, **{"in": town}, fuel=self.truck["fuel"] - roads[town])

    def refuel(self) -> str:
        """Fills the tank of 60 litres, in a town with fuel."""
        need(self.truck["in"] in self.fuel, "there is no fuel here")
        return put(self.truck, fuel=60)

    def load(self, parcel: str) -> str:
        """Loads a parcel that is where the truck is."""
        need(self._of("parcels", parcel) == self.truck["in"], "it is not here")
        return put(self.parcels, **{parcel: "truck"})

    def unload(self, parcel: str) -> str:
        """Unloads a parcel where the truck is."""
        need(self._of("parcels", parcel) == "truck", "it is not on the truck")
        return put(self.parcels, **{parcel: self.truck["in"]})

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A parcel to fetch and deliver; an exhaustive search finds the fewest calls."""
        towns, roads = some(r, "towns", 6), Part()
        for a, b in [*pairwise(towns), *(r.sample(towns, 2) for _ in range(2))]:
            length = r.randint(12, 40)
            roads[a], roads[b] = {**roads.get(a, {}), b: length}, {**roads.get(b, {}), a: length}
        parcels = {name: r.choice(towns) for name in some(r, "K", 3)}
        truck = {"in": r.choice(towns), "fuel": r.randint(10, 60)}
        state = {"truck": truck, "parcels": parcels, "roads": roads, "fuel": sorted(r.sample(towns, 2))}
        parcel, town = r.choice([*parcels]), r.choice(towns)
        ways, seen = list[tuple[Truck, list[tuple[str, ...]]]]([(Truck(state), [])]), set[str]()
        for world, way in ways:
            if world.truck["in"] == world.parcels[parcel] == town:
                return Drawn(state, {"parcel": parcel, "town": town}, " ".join(state), [way])
            for step in [("load", parcel), ("unload", parcel), ("refuel",), *(("drive", to) for to in towns)]:
                after = Truck(world.state)
                try:
                    getattr(after, step[0])(*step[1:])
                except ValueError:
                    continue
                if (key := f"{after.truck} {after.parcels[parcel]}") not in seen:
                    seen.add(key)
                    ways.append((after, [*way, step]))
        raise ValueError("out of reach")


class Parking(World):
    """Lanes that are open at one end: only the last car of a lane can move."""

    def move(self, car: str, lane: str) -> str:
        """Moves the last car of a lane to the end of another one, which holds four at most."""
        target = self._of("lanes", lane)
        need(len(target) < 4, "it is full")
        self._take(car)
        target.append(car)
        return f"{car} stands in lane {lane}"

    def leave(self, car: str) -> str:
        """Lets the last car of a lane out of the garage, for good."""
        self._take(car)
        self.out.append(car)
        return f"{car} is out"

    def _take(self, car: str) -> None:
        lanes = [cars for cars in self.lanes.values() if cars[-1:] == [car]]
        need(lanes, f"{car!r:.40} is not the last car of a lane")
        lanes[0].pop()

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A car to move out, with one or two behind it that have to return."""
        cars = r.sample(some(r, "M", 8), 8)
        (lane, aside, other), place = some(r, "colours", 3), r.randint(1, 2)
        lanes = {lane: cars[:4], aside: cars[4:6], other: cars[6:]}
        car, behind = cars[place], cars[place + 1 : 4]
        plan = [*(("move", one, aside) for one in behind[::-1]), ("leave", car)]
        plan += [("move", one, lane) for one in behind]
        return Drawn({"lanes": dict(sorted(lanes.items())), "out": []}, {"car": car}, "lanes", [plan])


class Heating(World):
    """Rooms that are heated, on eco or off; three are heated at once, and locked ones stay as they are."""

    def lock(self, room: str, locked: bool) -> str:
        """Locks a room, or unlocks it."""
        return put(self._of("rooms", room), locked=locked)

    def window(self, room: str, open: bool) -> str:
        """Opens or shuts the windows of a room that is not heated."""
        one = self._of("rooms", room)
        need(not one["locked"] and one["mode"] != "on", "it is locked or heated")
        return put(one, window=open)

    def mode(self, room: str, mode: Literal["on", "eco", "off"]) -> str:
        """Sets a room on, with shut windows and as one of three at most, eco, at 19 degrees at most, or off."""
        one, on = self._of("rooms", room), those(self.rooms, mode="on")
        need(not one["locked"], "it is locked")
        need(mode != "on" or not one["window"], "a window is open")
        need(mode != "on" or len({*on, room}) <= 3, f"{', '.join(on)} are on")
        return put(one, mode=mode, degrees=min(one["degrees"], 19 if mode == "eco" else 99))

    def heat(self, room: str, degrees: int) -> str:
        """Sets the degrees of a room, 15 to 25 where it is on and to 19 on eco."""
        one = self._of("rooms", room)
        need(not one["locked"], "it is locked")
        need(15 <= degrees <= {"on": 25, "eco": 19, "off": 0}[one["mode"]], f"its mode is {one['mode']}")
        return put(one, degrees=degrees)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A room to heat, with obstacles in the way."""
        names, rooms, full = some(r, "rooms", 5), Part(), r.random() < 0.6
        for name, mode in zip(
            names, [r.choice(["eco", "off"]), "on", "on", "on" if full else "eco", "off"], strict=True
        ):
            degrees = r.randint(18, 23) if mode == "on" else r.randint(15, 19)
            rooms[name] = {"mode": mode, "degrees": degrees, "window": False, "locked": r.random() < 0.4}
        room, other, degrees, plan = names[0], names[1], r.randint(20, 25), list[tuple[Any, ...]]()
        put(rooms[room], window=r.random() < 0.5)
        shut = [("window", room, False)] if rooms[room]["window"] else []
        heat = [*shut, ("mode", room, "on"), ("heat", room, degrees)]
        for name, steps in [(other, [("mode", other, "eco")])] * full + [(room, heat)]:
            locked = rooms[name]["locked"]
            plan += [*[("lock", name, False)] * locked, *steps, *[("lock", name, True)] * locked]
        asked = {"room": room, "other": other, "degrees": degrees}
        return Drawn({"rooms": dict(sorted(rooms.items()))}, asked, "rooms", [plan])


class Files(World):
    """Folders with files of some year."""

    def make(self, folder: str) -> str:
        """Makes a new, empty folder."""
        need(folder not in self.folders and 0 < len(folder) < 40, "it is there, or no name")
        return put(self.folders, **{folder: {}})

    def move(self, file: str, source: str, target: str) -> str:
        """Moves a file from one folder into another that has none of its name."""
        one, two = self._of("folders", source), self._of("folders", target)
        need(file in one and file not in two, "it is not there, or one of its name is in the other")
        return put(two, **{file: one.pop(file)})

    def remove(self, folder: str) -> str:
        """Removes a folder that is empty."""
        need(not self._of("folders", folder), "it is not empty")
        del self.folders[folder]
        return "removed"

    @staticmethod
    def draw(r: Random) -> Drawn:
        """The files of one year, to collect in a new folder."""
        (new, *folders), year = some(r, "folders", 4), r.randint(2015, 2024)
        held: Part = {folder: {} for folder in sorted(folders)}
        for name in some(r, "things", 9):
            held[r.choice(folders)][f"{name}.{r.choice(['txt', 'csv'])}"] = {"year": year + r.randint(-1, 2)}
        due = {folder: those(files, year=year) for folder, files in held.items()}
        need(all(held.values()), "one is empty")
        plan = [("make", new), *(("move", file, folder, new) for folder in due for file in due[folder])]
        plan += [("remove", folder) for folder in due if due[folder] == held[folder]]
        return Drawn({"folders": held}, {"year": year, "new": new}, "folders", [plan])


class Playlists(World):
    """Songs of some minutes in lists of thirty minutes at most."""

    def drop(self, playlist: str, song: str) -> str:
        """Takes a song out of a list."""
        songs = self._of("playlists", playlist)
        need(song in songs, "it is not in it")
        songs.remove(song)
        return ", ".join(songs)

    def insert(self, playlist: str, song: str, place: int) -> str:
        """Puts a song that is not in a list at a place, from 1; thirty minutes are the most."""
        songs, one = self._of("playlists", playlist), self._of("songs", song)
        need(song not in songs and 1 <= place <= len(songs) + 1, "it is in it, or there is no such place")
        need(one["minutes"] + sum(self.songs[other]["minutes"] for other in songs) <= 30, "too long for it")
        songs.insert(place - 1, song)
        return ", ".join(songs)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Long songs to remove, and one to add at each end."""
        titles, (name, other), most = some(r, "things", 9), some(r, "playlists", 2), r.randint(5, 7)
        songs = {f"{town} {titles.pop()}": {"minutes": r.randint(2, 9)} for town in some(r, "towns", 8)}
        (first, last, *inside), others = r.sample([*songs], 7), r.sample([*songs], 3)
        need(sum(songs[song]["minutes"] for song in inside) <= 30, "too long")
        long = [song for song in inside if songs[song]["minutes"] > most]
        plan: list[tuple[Any, ...]] = [("drop", name, song) for song in long]
        plan += [("insert", name, first, 1), ("insert", name, last, 7 - len(long))]
        state = {"songs": songs, "playlists": {name: inside, other: others}}
        return Drawn(
            state, {"name": name, "most": most, "first": first, "last": last}, " ".join(state), [plan]
        )


class Ballots(World):
    """Instant run-off: each ballot counts for its first candidate who is still in."""

    def strike(self, candidate: str) -> str:
        """Strikes the candidate with the fewest ballots, while nobody has more than half of them."""
        counts = self._count()
        need(max(counts.values()) * 2 <= counts.total(), "somebody has more than half")
        need(counts[candidate] == min(counts.values()), f"{candidate!r:.40} has not the fewest")
        self.struck.append(candidate)
        return ", ".join(f"{name} {number}" for name, number in self._count().items())

    def declare(self, candidate: str) -> str:
        """Declares who has more than half of the ballots elected, once."""
        counts = self._count()
        need(
            counts[candidate] * 2 > counts.total() and not self.elected, "no majority, or somebody is elected"
        )
        self.elected.append(candidate)
        return f"{candidate} is elected"

    def _count(self) -> Counter[str]:
        counts = Counter[str]()
        for one in self.ballots.values():
            counts[next(name for name in one["order"] if name not in self.struck)] += one["cast"]
        return counts

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A count of at least two rounds without a tie."""
        names, plan = some(r, "people", 5), list[tuple[str, str]]()
        ballots = {name: {"order": r.sample(names, 5), "cast": r.randint(3, 30)} for name in some(r, "L", 8)}
        world = Ballots({"ballots": ballots, "struck": [], "elected": []})
        while 2 * max((counts := world._count()).values()) <= counts.total():
            (last, least), (_, more) = counts.most_common()[:-3:-1]
            need(least < more, "a tie")
            plan.append(("strike", last))
            world.strike(last)
        plan.append(("declare", max(counts, key=counts.__getitem__)))
        state = {"ballots": ballots, "struck": [], "elected": []}
        return Drawn(state, {"club": r.choice(names)}, "ballots", [plan])
