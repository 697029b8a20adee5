"""Worlds of trade: money, boxes, food, refunds, parcels, loans, seats and tickets."""

from random import Random

from strop.tasks.tool_worlds.world import PEOPLE, THINGS, TOWNS, Drawn, Part, World, need, put


class Bank(World):
    """Accounts in several moneys; what is paid at once is bounded."""

    def change(self, source: str, target: str, amount: int) -> str:
        """Changes an amount of the source account into the money of another account of the same owner."""
        one, other = self._of("accounts", source), self._of("accounts", target)
        rate = self.rates.get(f"1 {one['money']} in {other['money']}", 0)
        need(one["owner"] == other["owner"] and rate, "not of one owner, or there is no rate")
        return self._move(one, other, amount, rate)

    def pay(self, source: str, target: str, amount: int) -> str:
        """Pays at most 500 to an account in the same money."""
        one, other = self._of("accounts", source), self._of("accounts", target)
        need(
            one["money"] == other["money"] and one is not other and amount <= 500,
            "another money, or more than 500",
        )
        return self._move(one, other, amount, 1)

    def _move(self, one: Part, other: Part, amount: int, rate: int) -> str:
        need(0 < amount <= one["amount"], "there is not so much")
        put(other, amount=other["amount"] + amount * rate)
        return put(one, amount=one["amount"] - amount)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A payment for which money has to be changed."""
        people, moneys, accounts = r.sample(PEOPLE, 4), ["mark", "ducat", "crown"], Part()
        for owner, money in r.sample([(owner, money) for owner in people for money in moneys], 12):
            accounts[f"A{r.randint(100, 999)}"] = {
                "owner": owner,
                "money": money,
                "amount": r.randint(60, 900),
            }
        of = {(one["owner"], one["money"]): name for name, one in accounts.items()}
        need(len(of) == 12, "two of one number")
        money, rates = (
            r.choice(moneys[1:]),
            {"1 ducat in mark": r.randint(5, 15), "1 crown in mark": r.randint(2, 4)},
        )
        payer, payee, *_ = people
        source, own, target = of[payer, money], of[payer, "mark"], of[payee, "mark"]
        amount = accounts[own]["amount"] + r.randint(20, 700)
        lacking = -(-(amount - accounts[own]["amount"]) // rates[f"1 {money} in mark"])
        pays = [("pay", own, target, min(500, amount - paid)) for paid in range(0, amount, 500)]
        asked = {"payer": payer, "payee": payee, "amount": amount, "money": f"{money}s"}
        plan = [("look", "accounts"), ("look", "rates"), ("change", source, own, lacking), *pays]
        return Drawn({"accounts": accounts, "rates": rates}, asked, [plan])


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
        need(
            one["item"] == two["item"] and 0 < pieces <= two["loose"],
            "another item, or not so many loose ones",
        )
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
        """An order from two shelves."""
        items = r.sample(["cups", "bulbs", "pens", "bolts", "tiles", "jars"], 3)
        pieces, names = (
            {item: r.choice([6, 10, 12, 20]) for item in items},
            [f"S{n}" for n in r.sample(range(10, 99), 6)],
        )
        shelves: Part = {
            name: {"item": item, "boxes": r.randint(2, 5) * (n % 2), "loose": r.randint(1, 9)}
            for n, (name, item) in enumerate(zip(names, [item for item in items for _ in "ab"], strict=True))
        }
        orders: Part = {
            f"O{r.randint(10, 99)}": {"item": i, "ordered": r.randint(14, 40), "packed": 0, "shipped": False}
            for i in items
        }
        (second, first), (order, wanted) = (
            names[:2],
            next((o, one) for o, one in orders.items() if one["item"] == items[0]),
        )
        loose, rest = shelves[second]["loose"], wanted["ordered"] - shelves[second]["loose"]
        boxes = max(0, -(-(rest - shelves[first]["loose"]) // pieces[items[0]]))
        plan = [("look", "orders"), ("look", "shelves"), ("look", "pieces"), ("pack", order, second, loose)]
        plan += [*[("open", first)] * boxes, ("pack", order, first, rest), ("ship", order)]
        state = {"shelves": dict(sorted(shelves.items())), "pieces": pieces, "orders": orders}
        return Drawn(state, {"order": order, "first": first, "second": second}, [plan])


class Kitchen(World):
    """A pantry in grams, a shop that sells packs, recipes by the portion."""

    def buy(self, food: str, packs: int) -> str:
        """Buys packs of a food into the pantry, from the money in the purse."""
        pack = self._of("packs", food)
        need(packs > 0 and packs * pack["price"] <= self.purse["money"], "there is not enough money")
        put(self.purse, money=self.purse["money"] - packs * pack["price"])
        return put(self.pantry, **{food: self.pantry[food] + packs * pack["grams"]})

    def cook(self, dish: str, portions: int) -> str:
        """Cooks portions of a dish; the pantry must hold all of it."""
        recipe = self._of("recipes", dish)
        short = [food for food, grams in recipe.items() if self.pantry[food] < grams * portions]
        need(portions > 0 and not short, f"there is too little of {', '.join(short)}")
        put(self.pantry, **{food: self.pantry[food] - grams * portions for food, grams in recipe.items()})
        return put(self.cooked, **{dish: self.cooked.get(dish, 0) + portions})

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A dish for which something is missing."""
        foods = r.sample(["rice", "flour", "beans", "sugar", "butter", "oats", "peas"], 6)
        pantry = {food: r.randrange(0, 900, 50) for food in foods}
        packs = {food: {"grams": r.choice([250, 400, 500, 1000]), "price": r.randint(1, 6)} for food in foods}
        dishes = r.sample(["soup", "cake", "stew", "pudding", "dumplings"], 3)
        recipes = {dish: {food: r.randrange(30, 240, 10) for food in r.sample(foods, 3)} for dish in dishes}
        dish, portions = dishes[0], r.randint(3, 9)
        lacking = {food: grams * portions - pantry[food] for food, grams in recipes[dish].items()}
        buys = [
            ("buy", food, -(-grams // packs[food]["grams"])) for food, grams in lacking.items() if grams > 0
        ]
        state = {"pantry": pantry, "packs": packs, "recipes": recipes, "cooked": {}, "purse": {"money": 120}}
        looks = [("look", "recipes"), ("look", "pantry"), ("look", "packs")]
        return Drawn(state, {"dish": dish, "portions": portions}, [[*looks, *buys, ("cook", dish, portions)]])


class Refunds(World):
    """What comes back is paid back: all of its price where it came damaged, else nine tenths, and it is stock again."""

    def take_back(self, order: str, count: int, damaged: bool) -> str:
        """Takes back some of an order; says what is due for all that came back."""
        one = self._of("orders", order)
        need(0 < count <= one["sold"] - one["back"], "not so many are with the customer")
        if not damaged:
            self.stock[one["item"]] += count
        due = one["due"] + count * one["price"] * (10 if damaged else 9) // 10
        return put(one, back=one["back"] + count, due=due)

    def refund(self, order: str, amount: int) -> str:
        """Pays back at most what is due for an order."""
        one = self._of("orders", order)
        need(0 < amount <= one["due"], "more than is due")
        return put(one, due=one["due"] - amount, refunded=one["refunded"] + amount)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Some that are damaged, and some that are not."""
        people, items = (
            r.sample(PEOPLE, 3),
            r.sample(["lamps", "chairs", "clocks", "vases", "rugs", "bowls"], 4),
        )
        orders: Part = {
            f"N{n}": {
                "by": by,
                "item": item,
                "price": r.randrange(20, 300, 10),
                "sold": r.randint(3, 8),
                "back": 0,
            }
            for n, (by, item) in enumerate(
                r.sample([(by, i) for by in people for i in items], 8), r.randint(10, 90)
            )
        }
        for one in orders.values():
            one |= {"due": 0, "refunded": 0}
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
        return Drawn(state, asked, [[("look", "orders"), *plan]])


class Parcels(World):
    """Parcels go into bags of 20 kilos at most, sealed bags with one town's parcels on vans that go there."""

    def put_in(self, parcel: str, bag: str) -> str:
        """Puts a parcel, also out of another bag, into a bag that is not sealed, up to 20 kilos."""
        one, two = self._of("parcels", parcel), self._of("bags", bag)
        need(not two["sealed"] and not (one["bag"] and self.bags[one["bag"]]["sealed"]), "a bag is sealed")
        need(
            one["kilos"] + sum(p["kilos"] for p in self.parcels.values() if p["bag"] == bag) <= 20,
            "too heavy",
        )
        return put(one, bag=bag)

    def seal(self, bag: str) -> str:
        """Seals a bag whose parcels are all for one town, for ever."""
        one, towns = self._of("bags", bag), {p["town"] for p in self.parcels.values() if p["bag"] == bag}
        need(
            len(towns) == 1 and not one["sealed"],
            f"it is sealed, or for {', '.join(sorted(towns)) or 'no town'}",
        )
        return put(one, sealed=True)

    def load(self, bag: str, van: str) -> str:
        """Loads a sealed bag on a van that goes to its town."""
        one, towns = self._of("bags", bag), self._of("vans", van)["towns"]
        need(one["sealed"] and not one["van"], "it is not sealed, or on a van")
        need(
            {p["town"] for p in self.parcels.values() if p["bag"] == bag} <= {*towns},
            "the van goes elsewhere",
        )
        return put(one, van=van)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A town's parcels, some of them in the bag, with one that goes elsewhere."""
        towns, names = r.sample(TOWNS, 4), [f"P{n}" for n in r.sample(range(100, 999), 9)]
        bags = {f"bag{n}": {"sealed": False, "van": ""} for n in r.sample(range(1, 9), 3)}
        town, bag, other = towns[0], *r.sample([*bags], 2)
        goes = [town] * 4 + [r.choice(towns[1:]) for _ in names[4:]]
        parcels = {
            p: {"town": to, "kilos": r.randint(1, 5), "bag": ""} for p, to in zip(names, goes, strict=True)
        }
        out, inside = names[r.randint(4, 6) : 7], names[: r.randint(0, 2)]
        for where, some in ((bag, [*out, *inside]), (other, names[7:])):
            for name in some:
                parcels[name]["bag"] = where
        vans = {
            f"van{n}": {"towns": sorted(to)}
            for n, to in enumerate(([town, towns[1]], towns[2:]), r.randint(1, 8))
        }
        van = next(name for name, one in vans.items() if town in one["towns"])
        calls = [*(("put_in", p, other) for p in out), *(("put_in", p, bag) for p in names[len(inside) : 4])]
        plan = [("look", "parcels"), ("look", "vans"), *calls, ("seal", bag), ("load", bag, van)]
        state = {"parcels": dict(sorted(parcels.items())), "bags": bags, "vans": vans}
        return Drawn(state, {"town": town, "bag": bag, "other": other}, [plan])


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
        need(
            min(one["books"].values(), default=99) >= self.today["day"] - 14, f"{member} has a book too long"
        )
        one["books"][title] = self.today["day"]
        return put(book, free=book["free"] - 1)

    @staticmethod
    def draw(r: Random) -> Drawn:
        """A member who is late and owes something."""
        titles, people, today = r.sample(THINGS, 7), r.sample(PEOPLE, 4), r.randint(60, 90)
        books = {title: {"free": r.randint(1, 2)} for title in titles}
        members: Part = {
            one: {
                "owes": r.choice([0, 2, 6]),
                "books": {t: today - r.randint(3, 30) for t in r.sample(titles[1:], 3)},
            }
            for one in people
        }
        member, title = people[0], titles[0]
        late = {t: today - day - 14 for t, day in members[member]["books"].items() if today - day > 14}
        need(late, "nothing is late")
        owed = members[member]["owes"] + 2 * sum(late.values())
        calls = [*(("take_back", member, t) for t in late), ("charge", member, owed), ("lend", member, title)]
        state = {"books": books, "members": dict(sorted(members.items())), "today": {"day": today}}
        return Drawn(
            state, {"member": member, "title": title}, [[("look", "members"), ("look", "today"), *calls]]
        )


class Cinema(World):
    """Seats in rows of different prices; four at most for one name."""

    def reserve(self, seat: str, name: str) -> str:
        """Reserves a free seat, such as B4, for a name that has fewer than four."""
        one = self._of("seats", seat)
        need(not one["by"], "it is taken")
        need(sum(other["by"] == name for other in self.seats.values()) < 4, "four seats are the most")
        return put(one, by=name)

    def charge(self, name: str, amount: int) -> str:
        """Takes the money for all seats of a name that are not paid, exactly what they cost."""
        open_ = {seat: one for seat, one in self.seats.items() if one["by"] == name and not one["paid"]}
        need(open_ and amount == sum(self.prices[seat[0]] for seat in open_), "that is not what they cost")
        for one in open_.values():
            one["paid"] = True
        return f"{', '.join(open_)} are paid"

    @staticmethod
    def draw(r: Random) -> Drawn:
        """Seats side by side, wherever in their row."""
        prices = dict(zip("ABCD", r.sample(range(6, 20), 4), strict=True))
        count, (name, *others) = r.randint(2, 3), r.sample(PEOPLE, 5)
        seats = {
            f"{row}{n}": {"by": r.choice([*others, "", ""]), "paid": False}
            for row in prices
            for n in range(1, 8)
        }
        for one in seats.values():
            one["paid"] = bool(one["by"])
        blocks = [
            [f"{row}{n + k}" for k in range(count)]
            for row in sorted(prices, key=prices.__getitem__)
            for n in range(1, 9 - count)
        ]
        free = [block for block in blocks if not any(seats[seat]["by"] for seat in block)]
        need(free, "no room")
        looks, cost = [("look", "seats"), ("look", "prices")], count * prices[free[0][0][0]]
        plans = [
            [*looks, *(("reserve", seat, name) for seat in block), ("charge", name, cost)]
            for block in free
            if block[0][0] == free[0][0][0]
        ]
        return Drawn({"seats": seats, "prices": prices}, {"count": count, "name": name}, plans)
