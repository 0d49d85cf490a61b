"""The desk: no database on the event loop, nothing written that cannot be folded, and words that are true."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import asynccontextmanager

import pytest
from test_advisor import INNS

from druthers.advisor import Advisor, events, verify
from druthers.advisor.outcomes import feedback
from druthers.advisor.replies import Conversation
from druthers.errors import Contradiction, InvalidEvent, StoreFailure, UnknownOutcome
from druthers.service.desk import Desk
from druthers.service.metrics import Metrics
from druthers.service.settings import Settings

ASKED = ("append", "read", "users", "user", "about", "find", "last", "erase", "save", "snapshot", "room")


@pytest.fixture(params=["sqlite", "postgresql"])
def start(request, tmp_path):
    """Return what opens advisors on one journal."""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").fresh()
    else:
        url = f"sqlite:{tmp_path / 'journal.db'}"
    advisors = []

    def start(catalog=None):
        advisors.append(Advisor(catalog, store=url, parser="lexicon"))
        return advisors[-1]

    yield start
    for advisor in advisors:
        advisor.close()


@asynccontextmanager
async def working(advisor, **settings):
    desk = Desk(advisor, Settings(follow_seconds=0.01, **settings), Metrics())
    await desk.start()
    try:
        yield desk
    finally:
        await desk.stop()


async def until(holds):
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.005)


def test_nothing_waits_for_a_database_on_the_event_loop(start):
    """Neither what is asked for here, nor what others wrote about users who are not in memory."""
    one, two = start(INNS), start()
    places = set()
    for name in ASKED:
        asked = getattr(two.store, name)

        def noted(*given, _asked=asked, _name=name, **more):
            places.add((_name, threading.current_thread() is threading.main_thread()))
            return _asked(*given, **more)

        setattr(two.store, name, noted)

    async def work():
        async with working(two, resident_users=3, snapshot_every=10) as desk:
            for turn in range(3):
                for number in range(10):
                    one.hear(f"user-{number}", ["quiet"])
                await until(lambda: desk.fold.position == one.fold.position)
                await asyncio.gather(*(desk.run(desk.operations.hear(f"user-{n}", ["clean"])) for n in range(10)))
                made = await desk.run(desk.operations.recommend(f"user-{turn}"))
                await desk.run(feedback(desk.operations, made.id, utility=0.5))
                await desk.run(desk.operations.preference(f"user-{turn + 4}"))
                await desk.run(desk.operations.forget(f"user-{turn}"))
                await until(lambda: len(desk.fold.people) <= 3)

    asyncio.run(work())
    assert {name for name, _ in places} >= {"append", "read", "users", "last", "erase", "save"}
    assert [name for name, on_loop in places if on_loop] == []
    assert verify(start()).agrees


def test_who_cannot_read_on_does_not_write(start):
    """Another process wrote what this version does not know: requests are refused, and leave nothing behind."""
    one, two = start(INNS), start()

    async def work():
        async with working(two) as desk:
            await desk.run(desk.operations.hear("ada", ["quiet"]))
            one.store.append([events.make("prophecy", {})])
            await until(lambda: desk.unreadable)
            last = one.store.last()
            for operation in (desk.operations.hear("ada", ["clean"]), desk.operations.recommend("bob")):
                with pytest.raises(StoreFailure, match="must be readable to its end") as problem:
                    await desk.run(operation)
                assert type(problem.value) is StoreFailure
            assert desk.failing
            assert one.store.last() == last

    asyncio.run(work())


def test_an_event_against_the_law_is_refused_alone(start):
    advisor = start(INNS)

    async def work():
        async with working(advisor) as desk:
            before = advisor.store.last()
            wrong = desk.append(events.make(events.QUERY, {"ranking": "clean"}, user="ada"))
            right = desk.append(events.make(events.QUERY, {"ranking": ["clean"]}, user="ada"))
            assert await right == before + 1
            with pytest.raises(InvalidEvent):
                await wrong
            assert advisor.store.last() == before + 1

    asyncio.run(work())


def test_messages_that_come_twice_at_once_are_taken_in_once_among_others(start):
    """An id and what it is for go in together, whatever else waits to be written."""
    advisor = start(INNS)

    async def work():
        async with working(advisor) as desk:
            talk = Conversation(desk.operations)
            texts = ("quiet please", "clean, and not over 250", "cheap")
            said = [(f"user-{n}", texts[n % 3], str(n)) for n in range(9)]
            asked = [talk.reply(user, text, id=id) for user, text, id in said for _ in range(2)]
            asked += [desk.operations.hear(f"user-{n}", ["clean"]) for n in range(9)]
            came = await asyncio.gather(*map(desk.run, asked[::3] + asked[1::3] + asked[2::3]), return_exceptions=True)
            assert {type(one) for one in came if isinstance(one, Exception)} <= {Contradiction}  # "is being answered"
            again = [await desk.run(talk.reply(user, text, id=id)) for user, text, id in said]
            assert all(one.heard.ranking or one.heard.limits for one in again)

    asyncio.run(work())
    found = verify(start())
    assert found.agrees
    assert (found.kinds[events.MESSAGE], found.kinds[events.REPLY], found.kinds[events.QUERY]) == (9, 9, 18)


def test_what_was_written_in_part_is_not_denied(start):
    """The sentence is in the journal and the decision is not: that is told, and repeating it counts once."""
    advisor = start(INNS)
    append = advisor.store.append
    failing = True

    def fail(given, **how):
        if failing and given[0].kind == events.DECISION:
            raise StoreFailure("gone")
        return append(given, **how)

    advisor.store.append = fail

    async def work():
        nonlocal failing
        async with working(advisor) as desk:
            with pytest.raises(UnknownOutcome, match="a part of what was asked for was written"):
                await desk.run(desk.operations.recommend("ada", text="quiet", id="visit"))
            with pytest.raises(StoreFailure) as problem:
                await desk.run(desk.operations.recommend("bob", id="other"))
            assert type(problem.value) is StoreFailure
            failing = False
            await desk.run(desk.operations.recommend("ada", text="quiet", id="visit"))
            assert desk.fold.people["ada"].queries == 1

    asyncio.run(work())


def test_feedback_on_its_way_does_not_bring_anybody_back(start):
    """Twenty at once, while the erasure runs, again and again."""
    advisor = start(INNS)

    async def work():
        async with working(advisor) as desk:
            for turn in range(10):
                user = f"racer-{turn}"
                ask = [desk.operations.recommend(user, id=f"{turn}-{number}") for number in range(20)]
                await asyncio.gather(*map(desk.run, ask))
                erasing = asyncio.create_task(desk.run(desk.operations.forget(user)))
                told = []
                for number in range(20):
                    told.append(
                        asyncio.create_task(desk.run(feedback(desk.operations, f"{turn}-{number}", utility=0.5)))
                    )
                    await asyncio.sleep(0)
                await asyncio.gather(erasing, *told, return_exceptions=True)
                assert erasing.result() is None
                assert advisor.store.read(user=user) == []
                assert user not in desk.fold.people

    asyncio.run(work())
    assert verify(start()).agrees


def test_after_an_erasure_a_snapshot_without_her_comes_soon(start):
    """Erasing drops all snapshots, which hold what people said; a crash right after it must not cost a whole refold."""
    advisor = start(INNS)
    other = start()
    for user in ("ada", "bob"):
        advisor.hear(user, ["quiet"])
    first = advisor.fold.people["ada"].first
    advisor.save()
    other.forget("ada")
    assert advisor.store.snapshot(advisor.fold.name) is None
    advisor.save()  # it does not know yet that she is erased
    assert advisor.store.snapshot(advisor.fold.name) is None

    async def work():
        async with working(advisor) as desk:
            await until(lambda: desk.store.snapshot(desk.fold.name) is not None)
            fold = desk.fold.fresh()
            fold.load(desk.store.snapshot(desk.fold.name))
            assert first not in [one[0] for one in json.loads(fold.population.state())]
            assert len(json.loads(fold.population.state())) == 1

    asyncio.run(work())
    assert verify(start()).agrees
