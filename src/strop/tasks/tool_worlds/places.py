"""Worlds of places and things in an order: roads, lanes, rooms, folders, playlists and ballots."""

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any, Literal

from strop.tasks.tool_worlds.world import PEOPLE, THINGS, TOWNS, Drawn, Part, World, need, put

TANK = 60


class Truck(World):
    """Roads of some length between towns; a kilometre takes a litre, and few towns have fuel."""

    free = ("/truck/fuel",)

    def drive(self, town: str) -> str:
        """Drives the truck along a road to the next town; each kilometre takes a litre."""
        length = self.roads[self.truck["in"]].get(town, 0)
        need(
            length,
            f"no road from {self.truck['in']} leads there; there are some to {', '.join(self.roads[self.truck['in']])}",
        )
        need(length <= self.truck["fuel"], "there is too little fuel")
        return put(self.truck, **{"in": town}, fuel=self.truck["fuel"] - length)

    def refuel(self) -> str:
        """Fills the tank of 60 litres, in a town with fuel."""
        need(self.truck["in"] in self.fuel, "there is no fuel here")
        return put(self.truck, fuel=TANK)

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
        """A parcel to fetch and bring; the shortest calls are found by trying all."""
        towns = r.sample(TOWNS, 6)
        roads: dict[str, dict[str, int]] = {town: {} for town in towns}
        for a, b in [*pairwise(towns), *(r.sample(towns, 2) for _ in range(2))]:
            roads[a][b] = roads[b][a] = r.randint(12, 40)
        parcels = {f"K{n}": r.choice(towns) for n in r.sample(range(10, 99), 3)}
        truck = {"in": r.choice(towns), "fuel": r.randint(10, TANK)}
        state = {"truck": truck, "roads": roads, "parcels": parcels, "fuel": sorted(r.sample(towns, 2))}
        parcel, town = r.choice([*parcels]), r.choice(towns)
        ways, seen = list[tuple[Truck, list[tuple[str, ...]]]]([(Truck(state), [])]), set[str]()
        for world, way in ways:
            if world.truck["in"] == world.parcels[parcel] == town:
                looks = [("look", part) for part in ("truck", "parcels", "roads", "fuel")]
                return Drawn(state, {"parcel": parcel, "town": town}, [[*looks, *way]])
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
        need(len(self._of("lanes", lane)) < 4, "it is full")
        self._take(car)
        self.lanes[lane].append(car)
        return f"{car} stands in lane {lane}"

    def leave(self, car: str) -> str:
        """Lets the last car of a lane out of the garage, for good."""
        self._take(car)
        self.out.append(car)
        return f"{car} is out"

    def _take(self, car: str) -> None:
        lane = next((cars for cars in self.lanes.values() if cars[-1:] == [car]), None)
        need(lane, f"{car!r:.40} is not the last car of a lane")
        self.lanes[next(name for name, cars in self.lanes.items() if cars is lane)].pop()

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A car with one or two behind it, which have to come back."""
        cars, (lane, *others) = (
            [f"{r.choice('ABKM')}{n}" for n in r.sample(range(100, 999), 8)],
            r.sample(["1", "2", "3"], 3),
        )
        lanes = {lane: cars[:4], others[0]: cars[4:6], others[1]: cars[6:]}
        car, behind, aside = cars[at := r.randint(1, 2)], cars[at + 1 : 4], r.choice(others)
        calls = [
            *(("move", one, aside) for one in behind[::-1]),
            ("leave", car),
            *(("move", one, lane) for one in behind),
        ]
        return Drawn(
            {"lanes": dict(sorted(lanes.items())), "out": []}, {"car": car}, [[("look", "lanes"), *calls]]
        )


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
        one, on = (
            self._of("rooms", room),
            [name for name, other in self.rooms.items() if other["mode"] == "on"],
        )
        need(not one["locked"], "it is locked")
        need(
            mode != "on" or (not one["window"] and len({*on, room}) <= 3),
            f"a window is open, or {', '.join(on)} are on",
        )
        return put(one, mode=mode, degrees=min(one["degrees"], 19) if mode == "eco" else one["degrees"])

    def heat(self, room: str, degrees: int) -> str:
        """Sets the degrees of a room, 15 to 25 where it is on and to 19 on eco."""
        one = self._of("rooms", room)
        need(
            not one["locked"] and 15 <= degrees <= {"on": 25, "eco": 19, "off": 0}[one["mode"]],
            "it is locked, or cannot",
        )
        return put(one, degrees=degrees)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A room to heat, with what is in the way."""
        names = r.sample(["kitchen", "hall", "attic", "study", "nursery", "workshop"], 5)
        rooms: Part = {
            name: {"mode": mode, "degrees": r.randint(15, 19), "window": False, "locked": r.random() < 0.5}
            for name, mode in zip(names, ["off", "on", "on", r.choice(["on", "eco"]), "off"], strict=True)
        }
        room, other, degrees = *names[:2], r.randint(20, 25)
        rooms[room] |= {"mode": r.choice(["eco", "off"]), "window": r.random() < 0.5}
        rooms[other] |= {"degrees": r.randint(18, 23), "locked": r.random() < 0.3}
        full, calls = rooms[names[3]]["mode"] == "on", list[tuple[Any, ...]]()
        for name, steps in (
            (other, [("mode", other, "eco")] * full),
            (room, [("mode", room, "on"), ("heat", room, degrees)]),
        ):
            inner = [*[("window", name, False)] * (rooms[name]["window"] and bool(steps)), *steps]
            locked = rooms[name]["locked"] and bool(steps)
            calls += [*[("lock", name, False)] * locked, *inner, *[("lock", name, True)] * locked]
        state = {"rooms": dict(sorted(rooms.items()))}
        return Drawn(state, {"room": room, "other": other, "degrees": degrees}, [[("look", "rooms"), *calls]])


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
        two[file] = one.pop(file)
        return "moved"

    def remove(self, folder: str) -> str:
        """Removes a folder that is empty."""
        need(not self._of("folders", folder), "it is not empty")
        del self.folders[folder]
        return "removed"

    @staticmethod
    def draw(r: Random) -> Drawn:
        """The files of a year."""
        names, (new, *folders), year = (
            r.sample(THINGS, 9),
            r.sample(["old", "mail", "plans", "desk", "archive"], 4),
            2024,
        )
        held: Part = {folder: {} for folder in sorted(folders)}
        for name in names:
            held[r.choice(folders)][f"{name}.{r.choice(['txt', 'csv'])}"] = {"year": year + r.randint(-1, 2)}
        due = [
            (file, folder)
            for folder, files in held.items()
            for file, one in files.items()
            if one["year"] == year
        ]
        empty = [
            folder for folder, files in held.items() if files and all((file, folder) in due for file in files)
        ]
        need(due and all(held.values()), "none")
        moves = [("move", file, folder, new) for file, folder in due]
        plan = [("look", "folders"), ("make", new), *moves, *(("remove", folder) for folder in empty)]
        return Drawn({"folders": held}, {"year": year, "new": new}, [plan])


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
        need(
            one["minutes"] + sum(self.songs[other]["minutes"] for other in songs) <= 30,
            "longer than thirty minutes",
        )
        songs.insert(place - 1, song)
        return ", ".join(songs)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Long songs out, one in at each end."""
        songs = {
            f"{a} {b}": {"minutes": r.randint(2, 9)}
            for a, b in zip(r.sample(TOWNS, 8), r.sample(THINGS, 8), strict=True)
        }
        name, other = r.sample(["morning", "evening", "travel", "work"], 2)
        playlists, most = {name: r.sample([*songs], 5), other: r.sample([*songs], 3)}, r.randint(5, 7)
        need(sum(songs[song]["minutes"] for song in playlists[name]) <= 30, "too long")
        first, last = r.sample([song for song in songs if song not in playlists[name]], 2)
        long = [song for song in playlists[name] if songs[song]["minutes"] > most]
        need(long, "none is long")
        plan = [("look", "songs"), ("look", "playlists"), *(("drop", name, song) for song in long)]
        plan += [("insert", name, first, 1), ("insert", name, last, 7 - len(long))]
        state = {"songs": songs, "playlists": playlists}
        return Drawn(state, {"name": name, "most": most, "first": first, "last": last}, [plan])


class Ballots(World):
    """Instant run-off: each ballot counts for its first candidate who is still in."""

    def strike(self, candidate: str) -> str:
        """Strikes the candidate with the fewest ballots, while nobody has more than half of them."""
        counts = self._count()
        need(
            counts.get(candidate, 0) == min(counts.values()) and max(counts.values()) * 2 <= counts.total(),
            "not so",
        )
        self.struck.append(candidate)
        return ", ".join(f"{name} {number}" for name, number in self._count().items())

    def declare(self, candidate: str) -> str:
        """Declares who has more than half of the ballots elected."""
        counts = self._count()
        need(
            counts.get(candidate, 0) * 2 > counts.total() and not self.elected,
            "no majority, or somebody is elected",
        )
        self.elected.append(candidate)
        return f"{candidate} is elected"

    def _count(self) -> Counter[str]:
        firsts = [
            (next(name for name in b["order"] if name not in self.struck), b["cast"])
            for b in self.ballots.values()
        ]
        counts = Counter({name: 0 for name, _ in firsts})
        for name, cast in firsts:
            counts[name] += cast
        return counts

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A count of two rounds or more without a tie."""
        names = r.sample(PEOPLE, 5)
        ballots = {f"kind {n}": {"order": r.sample(names, 5), "cast": r.randint(3, 30)} for n in range(1, 9)}
        world = Ballots({"ballots": ballots, "struck": [], "elected": []})
        calls, club = list[tuple[str, str]](), r.choice(THINGS)
        while 2 * max((counts := world._count()).values()) <= counts.total():
            last, *more = sorted(counts, key=lambda name: (counts[name], name))
            need(counts[last] < counts[more[0]], "a tie")
            calls.append(("strike", last))
            world.strike(last)
        calls.append(("declare", counts.most_common(1)[0][0]))
        return Drawn(world.state | {"struck": []}, {"club": club}, [[("look", "ballots"), *calls]])
