"""Who has said nothing is met with what others want: the same in every process, and without those who were erased."""

import numpy as np
import pytest

from druthers.advisor import Advisor
from druthers.advisor.population import EVERYBODY, FEWEST, PRIOR_PEOPLE, _sampled
from druthers.advisor.verifying import refold, verify
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidSetting
from druthers.types import Objective

NAMES = ("price", "quiet", "clean")


def inns(n_items=30):
    rng = np.random.default_rng(0)
    items = [Item(f"i{k}", values={name: float(rng.uniform(0, 100)) for name in NAMES}) for k in range(n_items)]
    return Catalog("inns", [Objective(name, low=0, high=100) for name in NAMES], items)


def make(store="memory:", **kwargs):
    return Advisor(inns(), store=store, parser="lexicon", policy_settings={"seed": 1}, **kwargs)


def met(fold):
    """Return mean and precision that strangers are met with, as bytes."""
    return fold.policy._state.others.tobytes()


def weights(advisor, user="a stranger"):
    return advisor.fold.policy.preference(user).weights


def test_a_stranger_is_met_with_what_others_want():
    with make() as advisor, make(population=False) as apart:
        for number in range(FEWEST - 1):
            for one in (advisor, apart):
                one.hear(f"user-{number}", ["quiet", "clean"][: 1 + number % 2])
        assert weights(advisor) == pytest.approx([1 / 3] * 3)  # too few to speak of
        before = {user: weights(advisor, user).tobytes() for user in ("user-0", "user-1")}
        for one in (advisor, apart):
            one.hear("the twentieth", ["quiet"])
            made = one.recommend("rater")  # who has rated something and said nothing
            one.feedback(made.id, utility=0.5)
        assert weights(advisor).argmax() == 1
        assert weights(advisor)[1] > 0.55
        assert weights(advisor)[0] < 0.2
        assert weights(apart) == pytest.approx([1 / 3] * 3)
        assert {user: weights(advisor, user).tobytes() for user in before} == before
        assert weights(advisor, "rater")[1] > weights(apart, "rater")[1] + 0.1
        # What is learned of a person does not depend on others.
        assert advisor.fold.policy.export_user("rater") == apart.fold.policy.export_user("rater")
        quiet = {item.id: item.values["quiet"] for item in inns().items}
        first, other = (quiet[one.recommend("new").items[0].item] for one in (advisor, apart))
        assert first >= other


def test_mean_and_variance_are_those_of_people_and_of_a_prior():
    with make() as advisor:
        shares = []
        for number in range(30):
            advisor.hear(f"user-{number}", [NAMES[number % 3], NAMES[(number + 1) % 3]][: 1 + number % 2])
            shares.append(advisor.fold.people[f"user-{number}"].wishes.weights(3)[0])
        people = np.array(shares)
        mean = (people.sum(axis=0) + PRIOR_PEOPLE / 3) / (30 + PRIOR_PEOPLE)
        others = advisor.fold.policy._state.others
        assert others[0] == pytest.approx(mean, abs=1e-6)
        prior = (2 / 9) / 1.4 + (mean - 1 / 3) ** 2
        spread = (((people - mean) ** 2).sum(axis=0) + PRIOR_PEOPLE * prior) / (30 + PRIOR_PEOPLE)
        assert 1 / others[1] == pytest.approx(spread * (1 + 1 / (30 + PRIOR_PEOPLE)), rel=1e-5)
        before = others[0].copy()
        for _ in range(5):
            advisor.hear("loud", ["price"])  # one person moves it only so much, however often heard
        assert np.abs(advisor.fold.policy._state.others[0] - before).max() <= 1 / (30 + PRIOR_PEOPLE)


def test_every_way_to_a_state_meets_strangers_with_the_same_bits(tmp_path):
    address = f"sqlite:{tmp_path / 'journal.db'}"
    rng = np.random.default_rng(1)
    with make(address) as advisor, make(address) as replica:
        for turn in range(120):
            user = f"user-{int(rng.integers(45))}"
            one = advisor if turn % 3 else replica
            one.catch_up()
            one.hear(user, [str(name) for name in rng.permutation(NAMES)[: rng.integers(1, 3)]])
            if turn % 10 == 4:
                one.correct(user, ["clean"])
            if turn % 30 == 20:
                one.save()
                one.shrink(5)  # most people are not in memory
            if turn % 40 == 30:
                one.forget(user)
        for one in (advisor, replica):
            one.catch_up()
        users = [f"user-{k}" for k in range(45)]
        assert advisor.digest(users) == replica.digest(users)
        assert verify(advisor).agrees
        clean = refold(advisor)[0]
        assert clean.population.summary() == advisor.fold.population.summary()
        assert clean.population.summary()["people"] >= FEWEST
        assert met(advisor.fold) == met(replica.fold) == met(clean)
        advisor.save()
        last = met(advisor.fold)
    with Advisor(store=address, parser="lexicon", policy_settings={"seed": 1}) as again:
        assert met(again.fold) == last


def test_who_is_erased_leaves_no_trace():
    with make() as advisor:
        for number in range(25):
            advisor.hear(f"user-{number}", [NAMES[number % 3]])
        before = met(advisor.fold)
        advisor.hear("eve", ["price", "clean"])
        assert met(advisor.fold) != before
        advisor.forget("eve")
        assert met(advisor.fold) == before
        for number in range(6):
            advisor.forget(f"user-{number}")
        assert weights(advisor) == pytest.approx([1 / 3] * 3)  # too few again


def test_the_sample_grows_slowly():
    sampled = sum(map(_sampled, range(1, 200_001)))
    assert sampled == pytest.approx(EVERYBODY * (1 + np.log(200_000 / EVERYBODY)), rel=0.03)


def test_a_policy_whose_users_depend_on_each_other_is_not_served():
    with pytest.raises(InvalidSetting, match="population=True; leave it out"):
        Advisor(inns(), policy="fisher-pqucb", policy_settings={"population": True}, parser="lexicon")


def test_who_says_nothing_of_what_matters_is_still_a_stranger():
    with make() as advisor:
        for number in range(FEWEST + 5):
            advisor.hear(f"user-{number}", ["clean"])
        before = weights(advisor)
        advisor.hear("new", "hm, whatever you think")
        np.testing.assert_array_equal(weights(advisor, "new"), before)
        advisor.hear("new", ["quiet"])
        assert weights(advisor, "new").argmax() == 1
        advisor.correct("new", [])
        np.testing.assert_array_equal(weights(advisor, "new"), before)
