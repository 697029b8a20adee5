"""Trade worlds: money, boxes, food, refunds, parcels, loans and seats."""

from random import Random

from strop.tasks.tool_worlds.world import Drawn, Part, World, need, put, some, those


class Bank(World):
    """Accounts in several moneys; what is paid at once is bounded."""

    def change(self, source: str, target: str, amount: int) -> str:
        """Changes an amount of the source account into the money of another account of the same owner."""
        one, other = self._of("accounts", source), self._of("accounts", target)
        rate = self.rates.get(f"1 {one['money']} in {other['money']}", 0)
        need(one["owner"] == other["owner"] and rate, "not of one owner, or there is no rate")
        return self._move(one, other, amount, rate)

    def pay(self, source: str, target: str, amount: int) -> str:
        """Pays at most 500 to another account in the same money."""
        one, other = self._of("accounts", source), self._of("accounts", target)
        need(one["money"] == other["money"] and source != target, "not another one of the same money")
        need(amount <= 500, "more than 500 at once")
        return self._move(one, other, amount, 1)

    def _move(self, one: Part, other: Part, amount: int, rate: int) -> str:
        need(0 < amount <= one["amount"], "there is not so much")
        put(other, amount=other["amount"] + amount * rate)
        return put(one, amount=one["amount"] - amount)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A payment that needs a currency exchange first."""
        people, names = some(r, "people", 4), some(r, "A", 12)
        accounts, of = Part(), dict[tuple[str, str], str]()
        for owner, money in r.sample(
            [(owner, m) for owner in people for m in ("mark", "ducat", "crown")], 12
        ):
            of[owner, money] = name = names.pop()
            accounts[name] = {"owner": owner, "money": money, "amount": r.randint(60, 900)}
        rates = {"1 ducat in mark": r.randint(5, 15), "1 crown in mark": r.randint(2, 4)}
        payer, payee, money, lacking = people[0], people[1], r.choice(["ducat", "crown"]), r.randint(20, 700)
        source, own, target = of[payer, money], of[payer, "mark"], of[payee, "mark"]
        amount = accounts[own]["amount"] + lacking
        plan: list[tuple[str, str, str, int]] = [
            ("change", source, own, -(-lacking // rates[f"1 {money} in mark"]))
        ]
        plan += [("pay", own, target, min(500, amount - paid)) for paid in range(0, amount, 500)]
        asked = {"payer": payer, "payee": payee, "amount": amount, "money": f"{money}s"}
        return Drawn({"accounts": accounts, "rates": rates}, asked, "accounts rates", [plan])


class Warehouse(World):
    """Shelves with boxes, which are opened for their pieces; an order is shipped when all its pieces are packed."""

    def open(self, shelf: str) -> str:
        """Opens a box on a shelf: its pieces lie there loose."""
        one = self._of("shelves", shelf)
        need(one["boxes"], "there is no box")
        return put(one, boxes=one["boxes"] - 1, loose=one["loose"] + self.pieces[one["item"]])

    def pack(self, order: str, shelf: str, pieces: int) -> str:
        """Packs loose pieces of a shelf for an order of that item, not more than are ordered."""
        one, two = self._of("orders", order), self._of("shelves", shelf)
        need(one["item"] == two["item"] and 0 < pieces <= two["loose"], "another item, or too few are loose")
        need(one["packed"] + pieces <= one["ordered"], "more than are ordered")
        put(two, loose=two["loose"] - pieces)
        return put(one, packed=one["packed"] + pieces)

    def ship(self, order: str) -> str:
        """Ships an order when all its pieces are packed."""
        one = self._of("orders", order)
        need(one["packed"] == one["ordered"], "pieces are missing")
        return put(one, shipped=True)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """An order to pack from two shelves."""
        items, names, orders = some(r, "goods", 3), some(r, "S", 6), Part()
        pieces = {item: r.choice([6, 10, 12, 20]) for item in items}
        shelves: Part = {name: {"item": "", "boxes": 0, "loose": r.randint(1, 9)} for name in names}
        for order, item, first, second in zip(
            some(r, "O", 3), items, names[:3], r.sample(names[3:], 3), strict=True
        ):
            put(shelves[first], item=item, boxes=r.randint(2, 5))
            put(shelves[second], item=item)
            orders[order] = {"item": item, "ordered": r.randint(14, 40), "packed": 0, "shipped": False}
        order, one = r.choice([*orders.items()])
        first, second = those(shelves, item=one["item"])
        rest = one["ordered"] - shelves[second]["loose"]
        boxes = max(0, -(-(rest - shelves[first]["loose"]) // pieces[one["item"]]))
        plan = [("pack", order, second, shelves[second]["loose"]), *[("open", first)] * boxes]
        plan += [("pack", order, first, rest), ("ship", order)]
        state = {"shelves": shelves, "pieces": pieces, "orders": orders}
        return Drawn(state, {"order": order, "first": first, "second": second}, " ".join(state), [plan])


class Kitchen(World):
    """A pantry in grams, a shop that sells packs, recipes by the portion."""

    def buy(self, food: str, packs: int) -> str:
        """Buys packs of a food into the pantry, from the money in the purse."""
        pack, left = self._of("packs", food), self.purse["money"]
        need(packs > 0 and packs * pack["price"] <= left, "there is not enough money")
        put(self.purse, money=left - packs * pack["price"])
        return put(self.pantry, **{food: self.pantry[food] + packs * pack["grams"]})

    def cook(self, dish: str, portions: int) -> str:
        """Cooks portions of a dish; the pantry must hold all of it."""
        left = {
            food: self.pantry[food] - grams * portions for food, grams in self._of("recipes", dish).items()
        }
        need(portions > 0 and min(left.values()) >= 0, "there is too little of something")
        put(self.pantry, **left)
        return put(self.cooked, **{dish: self.cooked[dish] + portions})

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A dish with a missing ingredient."""
        foods, dishes, portions = some(r, "foods", 6), some(r, "dishes", 3), r.randint(3, 9)
        pantry = {food: r.randrange(0, 900, 50) for food in foods}
        packs = {food: {"grams": r.choice([250, 400, 500, 1000]), "price": r.randint(1, 6)} for food in foods}
        recipes = {dish: {food: r.randrange(30, 240, 10) for food in r.sample(foods, 3)} for dish in dishes}
        dish = r.choice(dishes)
        short = {food: grams * portions - pantry[food] for food, grams in recipes[dish].items()}
        plan = [("buy", food, -(-short[food] // packs[food]["grams"])) for food in short if short[food] > 0]
        state = {"recipes": recipes, "pantry": pantry, "packs": packs}
        whole = {**state, "purse": {"money": 120}, "cooked": dict.fromkeys(dishes, 0)}
        return Drawn(
            whole, {"dish": dish, "portions": portions}, " ".join(state), [[*plan, ("cook", dish, portions)]]
        )


class Refunds(World):
    """What comes back is paid back: all of its price where it came damaged, else nine tenths, and it is stock again."""

    def take_back(self, order: str, count: int, damaged: bool) -> str:
        """Takes back some of an order; says what is due for all that came back."""
        one = self._of("orders", order)
        need(0 < count <= one["sold"] - one["back"], "not so many are with the customer")
        self.stock[one["item"]] += 0 if damaged else count
        due = one["due"] + count * one["price"] * (10 if damaged else 9) // 10
        return put(one, back=one["back"] + count, due=due)

    def refund(self, order: str, amount: int) -> str:
        """Pays back at most what is due for an order."""
        one = self._of("orders", order)
        need(0 < amount <= one["due"], "more than is due")
        return put(one, due=one["due"] - amount, refunded=one["refunded"] + amount)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Returned items, some damaged and some not."""
        people, items, orders = some(r, "people", 3), some(r, "goods", 4), Part()
        pairs = r.sample([(by, item) for by in people for item in items], 8)
        for order, (by, item) in zip(some(r, "N", 8), pairs, strict=True):
            orders[order] = {
                "by": by,
                "item": item,
                "price": r.randrange(20, 300, 10),
                "sold": r.randint(3, 8),
            }
            orders[order] |= {"back": 0, "due": 0, "refunded": 0}
        order, one = r.choice([*orders.items()])
        damaged, whole = r.randint(1, one["sold"] // 2), r.randint(1, one["sold"] // 2)
        due = one["price"] * damaged + whole * one["price"] * 9 // 10
        plan = [
            ("take_back", order, damaged, True),
            ("take_back", order, whole, False),
            ("refund", order, due),
        ]
        asked = {"by": one["by"], "item": one["item"], "count": damaged + whole, "damaged": damaged}
        state = {"orders": orders, "stock": {item: r.randint(0, 20) for item in items}}
        return Drawn(state, asked, "orders", [plan])


class Parcels(World):
    """Parcels go into bags of 20 kilos at most, sealed bags with one town's parcels on vans that go there."""

    def put_in(self, parcel: str, bag: str) -> str:
        """Puts a parcel, also out of another bag, into a bag that is not sealed, up to 20 kilos."""
        one, bags = self._of("parcels", parcel), [self._of("bags", bag)]
        bags += [self.bags[one["bag"]]] if one["bag"] else []
        need(not any(other["sealed"] for other in bags), "a bag is sealed")
        need(one["kilos"] + sum(p["kilos"] for p in those(self.parcels, bag=bag).values()) <= 20, "too heavy")
        return put(one, bag=bag)

    def seal(self, bag: str) -> str:
        """Seals a bag whose parcels are all for one town, for ever."""
        need(len(self._towns(bag)) == 1, "its parcels are not for one town")
        return put(self.bags[bag], sealed=True)

    def load(self, bag: str, van: str) -> str:
        """Loads a sealed bag on a van that goes to its town."""
        one, towns = self._of("bags", bag), self._of("vans", van)["towns"]
        need(one["sealed"] and not one["van"], "it is not sealed, or on a van")
        need(self._towns(bag) <= {*towns}, "the van goes elsewhere")
        return put(one, van=van)

    def _towns(self, bag: str) -> set[str]:
        self._of("bags", bag)
        return {one["town"] for one in those(self.parcels, bag=bag).values()}

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A town's parcels, some already in the bag, with one that goes elsewhere."""
        towns, names, vans = some(r, "towns", 4), some(r, "P", 9), some(r, "V", 2)
        bags = {name: {"sealed": False, "van": ""} for name in some(r, "G", 3)}
        town, bag, other = towns[0], *r.sample([*bags], 2)
        mine, out, rest, inside = (order := r.sample(names, 9))[:4], order[4], order[5:], r.randint(0, 2)
        where = {out: bag, **dict.fromkeys(rest[:2], other), **dict.fromkeys(mine[:inside], bag)}
        goes = {name: town if name in mine else r.choice(towns[1:]) for name in names}
        parcels = {n: {"town": goes[n], "kilos": r.randint(1, 5), "bag": where.get(n, "")} for n in names}
        plan: list[tuple[str, ...]] = [
            ("put_in", out, other),
            *(("put_in", name, bag) for name in mine[inside:]),
        ]
        plan += [("seal", bag), ("load", bag, vans[0])]
        state = {"parcels": parcels, "bags": bags}
        state |= {"vans": {vans[0]: {"towns": sorted(towns[:2])}, vans[1]: {"towns": sorted(towns[1:])}}}
        return Drawn(state, {"town": town, "bag": bag, "other": other}, "parcels vans", [plan])


class Library(World):
    """Books are lent for 14 days; each day more costs 2, and who owes or is late gets no more."""

    def take_back(self, member: str, title: str) -> str:
        """Takes a book back; each day above 14 adds 2 to what the member owes."""
        one, book = self._of("members", member), self._of("books", title)
        need(title in one["books"], f"{member} has not that book")
        late = max(0, self.today["day"] - one["books"].pop(title) - 14)
        put(book, free=book["free"] + 1)
        return put(one, owes=one["owes"] + 2 * late)

    def charge(self, member: str, amount: int) -> str:
        """Takes money for what a member owes, not more than that."""
        one = self._of("members", member)
        need(0 < amount <= one["owes"], f"{member} owes {one['owes']}")
        return put(one, owes=one["owes"] - amount)

    def lend(self, member: str, title: str) -> str:
        """Lends a book that is there to a member with fewer than three, who owes nothing and has none too long."""
        one, book = self._of("members", member), self._of("books", title)
        need(book["free"] and title not in one["books"], "it is not there, or with the member")
        need(not one["owes"] and len(one["books"]) < 3, f"{member} owes something, or has three books")
        need(all(self.today["day"] - day <= 14 for day in one["books"].values()), "a book is late")
        one["books"][title] = self.today["day"]
        return put(book, free=book["free"] - 1)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A member who is late and owes something."""
        (title, *titles), people = some(r, "things", 7), some(r, "people", 4)
        today, members = r.randint(60, 90), Part()
        for name in people:
            lent = {one: today - r.randint(3, 30) for one in r.sample(titles, 3)}
            members[name] = {"owes": r.choice([0, 2, 6]), "books": lent}
        member, one = r.choice([*members.items()])
        late = {other: today - day - 14 for other, day in one["books"].items() if today - day > 14}
        need(late, "nothing is late")
        plan = [
            *(("take_back", member, other) for other in late),
            ("charge", member, one["owes"] + 2 * sum(late.values())),
        ]
        books = {name: {"free": r.randint(1, 2)} for name in sorted([title, *titles])}
        state = {"books": books, "members": members, "today": {"day": today}}
        return Drawn(
            state, {"member": member, "title": title}, "members today", [[*plan, ("lend", member, title)]]
        )


class Cinema(World):
    """Seats in rows of different prices; four at most for one name."""

    def reserve(self, seat: str, name: str) -> str:
        """Reserves a free seat, such as B4, for a name that has fewer than four."""
        one = self._of("seats", seat)
        need(not one["by"], "it is taken")
        need(len(those(self.seats, by=name)) < 4, "four seats are the most")
        return put(one, by=name)

    def charge(self, name: str, amount: int) -> str:
        """Takes the money for all seats of a name that are not paid, exactly what they cost."""
        due = those(self.seats, by=name, paid=False)
        need(due and amount == sum(self.prices[seat[0]] for seat in due), "that is not what they cost")
        return ", ".join(f"{seat}: {put(one, paid=True)}" for seat, one in due.items())

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Adjacent seats anywhere in a row."""
        prices, count, (name, *others) = r.sample(range(6, 20), 4), r.randint(2, 3), some(r, "people", 5)
        rows = dict(zip("ABCD", prices, strict=True))
        taken = {f"{row}{n}": r.choice([*others, "", ""]) for row in rows for n in range(1, 8)}
        for row in sorted(rows, key=rows.__getitem__):
            blocks = [[f"{row}{n + k}" for k in range(count)] for n in range(1, 9 - count)]
            if free := [block for block in blocks if not any(taken[seat] for seat in block)]:
                break
        charge = ("charge", name, count * rows[row])
        plans = [[*(("reserve", seat, name) for seat in block), charge] for block in free]
        seats = {seat: {"by": by, "paid": bool(by)} for seat, by in taken.items()}
        return Drawn({"seats": seats, "prices": rows}, {"count": count, "name": name}, "seats prices", plans)
