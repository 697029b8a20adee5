"""Office worlds: meetings, claims, contacts, notes, bugs, rights and servers."""

import re
from contextlib import suppress
from itertools import combinations
from random import Random

from strop.tasks.tool_worlds.world import Drawn, Part, World, need, put, some, those


class Calendar(World):
    """Meetings of one hour in rooms with seats; nobody is at two places at once."""

    def book(self, title: str, hour: int, room: str) -> str:
        """Books a room that is free for an hour that begins at 9 to 16."""
        self._of("rooms", room)
        need(title not in self.meetings, "there is a meeting of that title")
        need(9 <= hour <= 16, "meetings begin at 9 to 16")
        need(not those(self.meetings, hour=hour, room=room), "the room is taken then")
        return put(self.meetings, **{title: {"hour": hour, "room": room, "people": []}})

    def invite(self, title: str, person: str) -> str:
        """Invites a person who is free then; there must be a seat left."""
        meeting, _ = self._of("meetings", title), self._of("people", person)
        need(len(meeting["people"]) < self.rooms[meeting["room"]]["seats"], "no seat is left")
        at_once = those(self.meetings, hour=meeting["hour"]).values()
        need(not any(person in one["people"] for one in at_once), f"{person} is busy then")
        return put(meeting, people=sorted([*meeting["people"], person]))

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A meeting of three at their first free hour."""
        people, (title, *titles) = some(r, "people", 6), some(r, "things", 11)
        seats = r.sample(range(3, 12), 4)
        rooms = {room: {"seats": seats.pop()} for room in some(r, "colours", 4)}
        world = Calendar({"rooms": rooms, "people": people, "meetings": {}})
        for other in titles:
            with suppress(ValueError):
                world.book(other, r.randint(9, 12), r.choice([*rooms]))
                for person in r.sample(people, 3):
                    world.invite(other, person)
        guests, taken = sorted(r.sample(people, 3)), world.meetings.values()
        hour = min({*range(9, 17)} - {one["hour"] for one in taken if {*one["people"]} & {*guests}})
        free = [room for room in rooms if not those(world.meetings, hour=hour, room=room)]
        need(free, "no room is free")
        room = min(free, key=lambda one: rooms[one]["seats"])
        plan = [("book", title, hour, room), *(("invite", title, one) for one in guests)]
        return Drawn(world.state, {"title": title, "guests": ", ".join(guests)}, "rooms meetings", [plan])


class Claims(World):
    """Expense claims need a receipt and a manager's approval, from 500 on two; nobody approves his own."""

    def attach(self, claim: str, receipt: str) -> str:
        """Attaches a receipt of the same amount, once."""
        one, paper = self._of("claims", claim), self._of("receipts", receipt)
        need(one["amount"] == paper["amount"], "the amounts differ")
        need(not those(self.claims, receipt=receipt), "it is used")
        return put(one, receipt=receipt)

    def approve(self, claim: str, manager: str) -> str:
        """A manager approves a claim of another that has a receipt and is within the manager's limit."""
        one, limit = self._of("claims", claim), self._of("managers", manager)["limit"]
        need(one["receipt"], "it has no receipt")
        need(one["by"] != manager and one["amount"] <= limit, f"{manager} may not")
        return put(one, approved=sorted({*one["approved"], manager}))

    def pay(self, claim: str) -> str:
        """Pays a claim with enough approvals: one, or two from 500 on."""
        one = self._of("claims", claim)
        need(len(one["approved"]) > (one["amount"] >= 500), "approvals are missing")
        return put(one, paid=True)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A claim to pay, with any managers who may approve it."""
        people, topics, sums = some(r, "people", 6), some(r, "things", 4), r.sample(range(60, 1000, 7), 7)
        managers = {name: {"limit": r.choice([300, 700, 1000])} for name in people[:4]}
        claims: Part = {
            claim: {
                "by": people[n + 2],
                "for": topics[n],
                "amount": sums[n],
                "receipt": "",
                "approved": [],
                "paid": False,
            }
            for n, claim in enumerate(some(r, "C", 4))
        }
        r.shuffle(sums)
        receipts = {receipt: {"amount": sums.pop()} for receipt in some(r, "R", 7)}
        claim, one = r.choice([*claims.items()])
        (receipt,) = those(receipts, amount=one["amount"])
        able = [name for name in managers if name != one["by"] and one["amount"] <= managers[name]["limit"]]
        plans = [
            [("attach", claim, receipt), *(("approve", claim, name) for name in names), ("pay", claim)]
            for names in combinations(able, 1 + (one["amount"] >= 500))
        ]
        state = {"claims": claims, "receipts": receipts, "managers": managers}
        return Drawn(state, {"by": one["by"], "topic": one["for"]}, " ".join(state), plans)


class Contacts(World):
    """Entries with a phone, a mail address and a town, in groups; two of one address can be merged."""

    def merge(self, keep: str, other: str) -> str:
        """Fills what is empty in an entry from another of the same mail address, and puts it in the other's place."""
        kept, gone = self._of("contacts", keep), self._of("contacts", other)
        need(keep != other and kept["mail"] == gone["mail"], "their mail addresses differ")
        del self.contacts[other]
        for group, names in self.groups.items():
            self.groups[group] = sorted({keep if name == other else name for name in names})
        return put(kept, **{name: gone[name] for name in kept if not kept[name]})

    def phone(self, contact: str, number: str) -> str:
        """Sets a number: + and 8 to 15 digits, nothing else."""
        need(re.fullmatch(r"\+[0-9]{8,15}", number), "write + and 8 to 15 digits")
        return put(self._of("contacts", contact), phone=number)

    def join(self, group: str, contact: str) -> str:
        """Puts a contact whose number begins with + into a group."""
        names, one = self._of("groups", group), self._of("contacts", contact)
        need(one["phone"].startswith("+"), "the number has no country code")
        return put(self.groups, **{group: sorted({*names, contact})})

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Somebody who has two entries."""
        codes, contacts = {"Ulm": "+49", "Graz": "+43", "Basel": "+41"}, Part()
        for last, first in zip(some(r, "surnames", 6), some(r, "people", 6), strict=True):
            phone = f"0{r.randint(100, 999)} {r.randint(1000, 9999)} {r.randint(10, 99)}"
            one = {"phone": phone, "mail": f"{last.lower()}@post.example", "town": r.choice([*codes])}
            contacts[f"{first} {last}"] = one
        groups = {group: sorted(r.sample([*contacts], 2)) for group in some(r, "groups", 3)}
        name, group = r.choice([*contacts]), r.choice([*groups])
        need(name not in groups[group], "in it already")
        short, old = f"{name[0]}. {name.split()[1]}", contacts[name]
        contacts |= {short: old, name: old | {"phone": "", "town": ""}}
        number = codes[old["town"]] + old["phone"][1:].replace(" ", "")
        plan = [("merge", name, short), ("phone", name, number), ("join", group, name)]
        state = {"contacts": dict(sorted(contacts.items())), "groups": groups, "codes": codes}
        return Drawn(state, {"name": name, "group": group}, "contacts codes", [plan])


class Notes(World):
    """Notes with all their versions; who changes one says the number of the newest."""

    free = ("/history/*", "/notes/*/version")

    def append(self, note: str, version: int, line: str) -> str:
        """Adds a line to a note; version is the number of the newest."""
        return self._write(note, version, f"{self._of('notes', note)['text']} / {line}")

    def restore(self, note: str, version: int, old: int) -> str:
        """Gives a note the text of an old version again; version is the number of the newest."""
        self._of("notes", note)
        need(str(old) in self.history[note], "there is no such version")
        return self._write(note, version, self.history[note][str(old)]["text"])

    def _write(self, note: str, version: int, text: str) -> str:
        need(version == self.notes[note]["version"], f"{version} is not the newest version")
        self.history[note][str(version + 1)] = {"by": "you", "text": text}
        return put(self.notes[note], version=version + 1, text=text)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A change to undo in one note, and a line to add to two."""
        notes, history, people = Part(), Part(), some(r, "people", 4)
        for note in some(r, "things", 3):
            texts = {str(n): " ".join(some(r, "things", 3)) for n in range(1, r.randint(4, 7))}
            history[note] = {n: {"by": r.choice(people), "text": text} for n, text in texts.items()}
            notes[note] = {"version": len(texts), "text": texts[str(len(texts))]}
        note, other = r.sample([*notes], 2)
        line, who = r.choice(["seen", "done", "call back"]), r.choice(people)
        number = max(map(int, those(history[note], by=who)), default=0)
        need(number > 1, "there is no change to undo")
        newest, others = len(history[note]), len(history[other])
        plan = [
            ("restore", note, newest, number - 1),
            ("append", note, newest + 1, line),
            ("append", other, others, line),
        ]
        asked = {"note": note, "who": who, "line": line, "other": other}
        return Drawn({"notes": notes, "history": history}, asked, "notes history", [plan])


class Tracker(World):
    """Bugs that block each other; one is closed when no open one blocks it."""

    def close(self, bug: str, release: str) -> str:
        """Closes a bug as mended in a release; what blocks it must be closed."""
        one, _ = self._of("bugs", bug), self._of("releases", release)
        need(one["state"] == "open", "it is closed")
        blocking = [name for name in one["blocked by"] if self.bugs[name]["state"] == "open"]
        need(not blocking, f"{', '.join(blocking)} must be closed first")
        return put(one, state="closed", release=release)

    def reopen(self, bug: str) -> str:
        """Opens a closed bug, and all that it blocks."""
        need(self._of("bugs", bug)["state"] == "closed", "it is open")
        opened = [bug]
        for name in opened:
            put(self.bugs[name], state="open", release="")
            opened += [b for b, one in self.bugs.items() if name in one["blocked by"] and b not in opened]
        return f"opened: {', '.join(opened)}"

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A bug to close, with all bugs that block it."""
        names, topics, bugs, releases = some(r, "B", 9), some(r, "things", 9), Part(), ["1.4", "1.5", "2.0"]
        for bug in (order := r.sample(names, 9)):
            blocked = r.sample([*bugs], min(len(bugs), r.randint(0, 2)))
            bugs[bug] = {"about": topics.pop(), "state": "open", "release": "", "blocked by": blocked}
        world = Tracker({"bugs": {bug: bugs[bug] for bug in names}, "releases": releases})
        for bug in r.sample(names, 4):
            with suppress(ValueError):
                world.close(bug, r.choice(releases))
        release, due = r.choice(releases), [wanted := r.choice(order[3:])]
        for bug in due:
            due += [one for one in bugs[bug]["blocked by"] if one not in due]
        plan = [("close", bug, release) for bug in order if bug in due and world.bugs[bug]["state"] == "open"]
        return Drawn(world.state, {"topic": bugs[wanted]["about"], "release": release}, "bugs", [plan])


class Rights(World):
    """Rights come with groups of one to three members; two groups that are apart share none."""

    def add(self, group: str, person: str) -> str:
        """Makes a person a member of a group of fewer than three that is not apart from one of the person's groups."""
        one, _ = self._of("groups", group), self._of("people", person)
        need(len(one["members"]) < 3, "it is full")
        own = [name for name, other in self.groups.items() if person in other["members"]]
        banned = [name for name in own if {name, group} in map(set, self.apart.items())]
        need(not banned, f"it is apart from {', '.join(banned)}")
        return put(one, members=sorted({*one["members"], person}))

    def remove(self, group: str, person: str) -> str:
        """Takes a person out of a group, in which one must stay."""
        one = self._of("groups", group)
        need(person in one["members"] and len(one["members"]) > 1, f"{person} is not in it, or alone")
        return put(one, members=[name for name in one["members"] if name != person])

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A right to move from one person to another."""
        people, folders, names = some(r, "people", 6), some(r, "things", 3), some(r, "colours", 6)
        ways, groups = [(way, folder) for way in ("write", "read") for folder in folders], Part()
        for name, (way, folder) in zip(names, ways, strict=True):
            groups[name] = {
                "folder": folder,
                "right": way,
                "members": sorted(r.sample(people, r.randint(1, 3))),
            }
        (taker, giver, *others), (goal, banned) = people, names[:2]
        put(groups[goal], members=sorted([giver, *others[: r.randint(0, 2)]]))
        put(groups[banned], members=sorted([taker, *others[2 : r.randint(3, 4)]]))
        swap = [("add", goal, taker), ("remove", goal, giver)]
        plan = [("remove", banned, taker), *swap[:: 1 if len(groups[goal]["members"]) < 3 else -1]]
        state = {"people": sorted(people), "groups": dict(sorted(groups.items())), "apart": {goal: banned}}
        return Drawn(state, {"taker": taker, "giver": giver, "folder": folders[0]}, "groups apart", [plan])


class Servers(World):
    """Machines of services; one of each service is always up, and none is newer than what it needs."""

    def drain(self, machine: str) -> str:
        """Takes a machine out of work; another of its service must be up."""
        one = self._of("machines", machine)
        up = those(self.machines, state="up", service=one["service"])
        need(machine in up and len(up) > 1, "it is not up, or the last one that is")
        return put(one, state="drained")

    def upgrade(self, machine: str, version: int) -> str:
        """Installs a newer version on a drained machine; all machines of the service that it needs must have it."""
        one = self._of("machines", machine)
        needed = those(self.machines, service=self.needs[one["service"]]).values()
        need(one["state"] == "drained", "it is up")
        need(one["version"] < version < 20, "it is as new, or there is no such version")
        need(all(other["version"] >= version for other in needed), "what it needs is older")
        return put(one, version=version)

    def start(self, machine: str) -> str:
        """Puts a drained machine to work again."""
        return put(self._of("machines", machine), state="up")

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Two machines to upgrade to a version."""
        (upper, lower), version, names = some(r, "services", 2), r.randint(3, 9), some(r, "m", 5)
        of = dict(zip(r.sample(names, 5), [upper, upper, lower, lower, lower], strict=True))
        old = sorted(r.sample(names, 2), key=lambda name: (of[name] == upper, name))
        machines = {n: {"service": of[n], "version": version - (n in old), "state": "up"} for n in names}
        plan = [step for n in old for step in (("drain", n), ("upgrade", n, version), ("start", n))]
        state = {"needs": {upper: lower, lower: ""}, "machines": machines}
        return Drawn(state, {"upper": upper, "version": version}, "machines needs", [plan])
