"""Clients that keep books: what they asked for, and what a server has acknowledged."""

from __future__ import annotations

import copy
import http.client
import json
import random
import threading
from collections import Counter

from service_processes import PATIENCE

WORDS = ("cheap and clean", "a quiet room near the center", "friendly staff, then value", "comfort first", "hm")
OBJECTIVES = ("service", "cleanliness", "value", "rooms", "location", "sleep quality")


class Gone(Exception):
    """Nobody answers."""


class Person:
    """A user as a client knows it: whether there is one, for sure, perhaps or not, and what it said."""

    def __init__(self, name):
        self.name = name
        self.sure = self.unsure = False
        self.texts = []

    def known(self):
        self.sure, self.unsure = True, False


class Client:
    """One client with users, decisions and items of its own.

    After a server was killed, what was under way is repeated where that is safe, and may have happened otherwise.

    Attributes
    ----------
    texts
        Text of each acknowledged query, with its position.
    decisions
        User, items and told feedback by id of each acknowledged decision.
    maybe
        Texts and names of items whose fate is unknown.
    gone, forgotten
        Texts that were heard and erased; decisions of those who were erased.
    erasing
        The person whose erasure is under way, if any.
    """

    def __init__(self, number, seed, ports):
        self.number, self.ports = number, ports
        self.alone = len(ports) == 1  # several servers know of each other's items and users a moment later
        self.random = random.Random(f"{seed} {number}")
        self.serial = self.answers = 0
        self.answered = None
        self.texts, self.names, self.retired = {}, {}, Counter()
        self.decisions = {}
        self.maybe, self.gone = set(), set()
        self.forgotten = set()  # decisions of the erased
        self.live = {}  # items of our own that are in the catalog, by id: whether that is sure
        self.erased = 0
        self.people = [Person(f"user-{number}-{k}") for k in range(6)]
        self.under_way = self.erasing = None
        self.problems = []
        self.connection = None

    def run(self, stop, answered):
        """Ask for one thing after another until told to stop, or until nobody answers; note each answer."""
        self.answered = answered
        try:
            if self.under_way is not None:
                self.under_way()
                self.under_way = None
            while not stop.is_set():
                self.random.choices(
                    [self.hear, self.say, self.decide, self.learn, self.put, self.retire, self.correct, self.erase],
                    [4, 3, 5, 6, 2, 1, 1, 1],
                )[0]()
        except Gone:
            pass
        except BaseException as problem:
            self.problems.append(problem)
        finally:
            self.close()

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def ask(self, method, path, body=None):
        if self.connection is None or not self.alone:
            self.close()
            self.connection = http.client.HTTPConnection("127.0.0.1", self.random.choice(self.ports), timeout=30)
        try:
            headers = {"Content-Type": "application/json"}
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self.connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as problem:
            raise Gone from problem
        self.answers += 1
        self.answered.release()
        if answer.status == 503:  # it may have happened, and is repeated where that is safe
            raise Gone
        return answer.status, json.loads(content) if content else None

    def expect(self, status, answer, *wanted):
        assert status in wanted, f"{status} instead of {wanted}: {answer}"

    def next_text(self):
        """Return something that nobody said before; its number is in letters, for figures would be read as limits."""
        number = self.number_next().translate(str.maketrans("0123456789-", "bcdfghjklmq"))
        return f"{self.random.choice(WORDS)} (zz{number})"

    def number_next(self):
        self.serial += 1
        return f"{self.number}-{self.serial}"

    def hear(self):
        person = self.random.choice(self.people)
        text = self.next_text()
        self.maybe.add(text)
        person.unsure = True
        status, answer = self.ask("POST", f"/v1/users/{person.name}/queries", {"text": text})
        self.expect(status, answer, 200)
        self.heard(person, text, answer)

    def heard(self, person, text, answer):
        person.known()
        person.texts.append(text)
        self.maybe.discard(text)
        self.texts[text] = answer["position"]

    def say(self):
        person = self.random.choice(self.people)
        text = self.next_text()
        self.maybe.add(text)
        self._say(person, {"text": text, "id": f"m-{self.number_next()}"})

    def _say(self, person, body):
        """Say something and be answered: whatever broke off, it is answered when it comes again."""
        self.under_way = lambda: self._say(person, body)
        person.unsure = True
        status, answer = self.ask("POST", f"/v1/users/{person.name}/messages", body)
        self.expect(status, answer, 200)
        assert (answer["heard"] is None) == (answer["kind"] == "unclear")
        if answer["heard"]:
            self.heard(person, body["text"], answer["heard"])
            made = answer["recommendation"]
            assert made["id"] not in self.decisions
            self.decisions[made["id"]] = (person, [one["item"] for one in made["items"]], {}, {})
        self.under_way = None

    def decide(self):
        person = self.random.choice(self.people)
        body = {"size": self.random.randint(1, 3)}
        if self.random.random() < 0.7:
            body["id"] = f"d-{self.number_next()}"
        if self.random.random() < 0.2:
            body["text"] = self.next_text()
            self.maybe.add(body["text"])
        self._decide(person, body)

    def _decide(self, person, body):
        self.under_way = (lambda: self._decide(person, body)) if "id" in body else None
        person.unsure = True
        status, answer = self.ask("POST", f"/v1/users/{person.name}/decisions", body)
        self.expect(status, answer, 200)
        assert answer["id"] not in self.decisions
        self.decisions[answer["id"]] = (person, [one["item"] for one in answer["items"]], {}, {})
        if answer["heard"]:
            self.heard(person, body["text"], answer["heard"])
        person.known()
        self.under_way = None

    def learn(self):
        if not self.decisions:
            return
        id = self.random.choice(list(self.decisions)[-8:])
        item = self.random.choice(self.decisions[id][1])
        names = self.random.sample(OBJECTIVES, self.random.randint(0, 3))
        rewards = {name: self.random.choice([1.0, 2.5, 4.0]) for name in names}
        utility = self.random.choice([None, 0.25, 0.75]) if rewards else 0.5
        self._learn(id, item, {"item": item, "rewards": rewards or None, "utility": utility})

    def _learn(self, id, item, body):
        self.under_way = lambda: self._learn(id, item, body)
        _, _, rewards, utilities = self.decisions[id]
        said, felt = rewards.setdefault(item, {}), utilities.setdefault(item, [])
        given, utility = body["rewards"] or {}, body["utility"]
        contradicts = any(said.get(name, value) != value for name, value in given.items())
        changes = utility is not None and felt[-1:] != [utility]
        status, answer = self.ask("POST", f"/v1/decisions/{id}/feedback", body)
        self.expect(status, answer, 409 if contradicts else 200)
        if not contradicts:
            assert changes or not given.keys() <= said.keys() or not answer["new"]
            said.update(given)
            if changes:
                felt.append(utility)
        self.under_way = None

    def put(self):
        item = f"item-{self.number}-{self.random.randint(0, 4)}"
        name = f"inn {self.number_next()}"
        self.maybe.add(name)
        known, self.live[item] = self.live.get(item), False
        values = {name: self.random.choice([1.0, 3.0, 5.0]) for name in self.random.sample(OBJECTIVES, 2)}
        status, answer = self.ask("PUT", f"/v1/items/{item}", {"name": name, "values": values})
        self.expect(status, answer, *((200, 201) if known is False or not self.alone else (200,) if known else (201,)))
        self.maybe.discard(name)
        self.names[name] = item
        self.live[item] = True

    def retire(self):
        if not self.live:
            return
        item = self.random.choice(list(self.live))
        sure, self.live[item] = self.live[item], False
        status, answer = self.ask("DELETE", f"/v1/items/{item}")
        self.expect(status, answer, *((204,) if sure and self.alone else (204, 404)))
        if status == 204:
            self.retired[item] += 1
            del self.live[item]

    def correct(self):
        person = self.random.choice(self.people)
        wanted = (200,) if person.sure else (200, 404) if person.unsure else (404,)
        wanted = wanted if self.alone else (200, 404)
        ranking = self.random.sample(OBJECTIVES, 3)
        status, answer = self.ask("PATCH", f"/v1/users/{person.name}", {"ranking": ranking})
        self.expect(status, answer, *wanted)
        if status == 200:
            assert len(answer["weights"]) == len(OBJECTIVES)
            person.known()

    def erase(self):
        self._erase(self.random.choice(self.people), again=False)

    def _erase(self, person, again):
        """Erase a person; who is erased twice has been erased."""
        self.under_way, self.erasing = lambda: self._erase(person, again=True), person
        wanted = (204, 404) if again or person.unsure else (204,) if person.sure else (404,)
        status, answer = self.ask("DELETE", f"/v1/users/{person.name}")
        self.expect(status, answer, *wanted)
        self.erased += status == 204
        for id in [id for id, decision in self.decisions.items() if decision[0] is person]:
            del self.decisions[id]
            self.forgotten.add(id)
        for text in person.texts:
            del self.texts[text]
            self.gone.add(text)
        self.people[self.people.index(person)] = Person(person.name)
        self.under_way = self.erasing = None


BOOKS = ("texts", "names", "retired", "decisions", "maybe", "live", "erased", "people")


def copy_books(client):
    """Return what a client knows, as it stands; nothing may be under way."""
    assert client.under_way is None
    return copy.deepcopy({name: getattr(client, name) for name in BOOKS})


def put_back_books(client, books):
    """Let a client know what an older journal holds, less those who were erased since."""
    for name, value in copy.deepcopy(books).items():
        setattr(client, name, value)
    client.texts = {text: position for text, position in client.texts.items() if text not in client.gone}
    client.decisions = {id: made for id, made in client.decisions.items() if id not in client.forgotten}
    client.live = dict.fromkeys(client.live, False)
    for person in client.people:
        person.texts = [text for text in person.texts if text not in client.gone]
        person.sure, person.unsure = False, True


class Racer:
    """Has people decide and be erased while feedback on their decisions is on its way to any replica.

    Attributes
    ----------
    forgotten, erased
        Decisions and users whose erasure was acknowledged: nothing of them may be in the journal any more.
    """

    def __init__(self, ports):
        self.ports, self.serial = ports, 0
        self.forgotten, self.erased = set(), set()

    def run(self, stop):
        while not stop.is_set():
            self.serial += 1
            user, id = f"racer-{self.serial}", f"race-{self.serial}"
            one, other = random.Random(self.serial).sample(self.ports, len(self.ports))
            if self.ask(one, "POST", f"/v1/users/{user}/decisions", {"id": id}) != 200:
                continue
            path = f"/v1/decisions/{id}/feedback"
            late = [
                threading.Thread(target=self.ask, args=(port, "POST", path, {"rewards": {name: 4.0}}))
                for port, name in zip((one, other) * 3, OBJECTIVES, strict=True)
            ]
            for thread in late:
                thread.start()
            if self.ask(one, "DELETE", f"/v1/users/{user}") == 204:
                self.forgotten.add(id)
                self.erased.add(user)
            for thread in late:
                thread.join()

    @staticmethod
    def ask(port, method, path, body=None):
        """Send one request; return its status, or 0 where nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            headers = {"Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()


def load(clients, answers, at_end=lambda: None):
    """Let clients ask at the same time; after so many answers something happens, and they come to an end."""
    stop, answered = threading.Event(), threading.Semaphore(0)
    threads = [threading.Thread(target=client.run, args=(stop, answered)) for client in clients]
    for thread in threads:
        thread.start()
    for _ in range(answers):
        if not answered.acquire(timeout=PATIENCE):
            break  # nobody answers: the books of the clients tell
    at_end()
    stop.set()
    for thread in threads:
        thread.join()
    for client in clients:
        if client.problems:
            raise client.problems[0]
