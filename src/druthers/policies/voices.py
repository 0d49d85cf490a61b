"""Readings of a user's rankings: what each would mean for the preference, and how probable utilities make it."""

import math
from typing import NamedTuple

import numpy as np

from druthers._jit import kernel
from druthers._matrices import clear, invert, log_evidence, softmax, solve
from druthers.policies.belief import NOTHING, Evidence, Posterior, combine, surprise
from druthers.policies.units import SLAB, SPIKE, UnitLaw, average_units, mix_normals, tell
from druthers.types import Floats

# How far a voice may be off: variances added to that of each of its weights, in units of the Plackett-Luce model; with
# an infinite one it says nothing.
SLACKS = (0.0, 0.25, 1.0, 4.0, np.inf)
# Readings of the rankings: the main voice, the main voice upside down, the rival voice; and not at all.
MAIN, CONTRARY, RIVAL, SILENT = 0, 1, 2, 3
# Log-odds against a reading before anything is felt, compared with taking the main voice at its word.
AGAINST_SLACK = 1.0
AGAINST_CONTRARY = 4.0
# The same in what is told of a person: words upside down, those of somebody else, and noise.
AGAINST_LIES = 2.0
# How far apart weights lie is not known before words tell: the precision of the prior times these, the logarithm of
# the factor being N(0, 1). With one precision, words of people whose weights are alike would pass for noise.
PRECISIONS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
PRECISION_CHANCES = tuple(math.exp(-0.5 * math.log(factor) ** 2) for factor in PRECISIONS)
# The noise in utilities may be the estimate, which doubtful rankings inflate, or these times less.
NOISES = (1.0, 0.5, 0.25)


class Rival(NamedTuple):
    """What the rival voice says and how surely, and its log-odds before utilities: minus infinity for no rival."""

    anchor: Floats
    information: Floats
    odds: float


class Readings(NamedTuple):
    """What is made of two voices: the probabilities of the readings, and what they say on average.

    `trust` (4,) are the probabilities, `taken` (2,) the part of the first two that is taken without slack, and
    `tempered` (D, D) and `pulled` (D,) the information and pull of all the rest.
    """

    trust: Floats
    taken: Floats
    tempered: Floats
    pulled: Floats


@kernel
def listen(
    voice: Floats, information: Floats, slack: float, unit: float, pull: float, kept: Floats, drawn: Floats
) -> bool:
    """Write the information and the pull of a voice that may be off by `slack` more in each weight.

    (J^+ + slack I)^-1 is (I - (I + slack J)^-1)/slack: all of J without slack, nothing with an infinite one. The voice
    was drawn to zero by `pull` already, so rankings alone say (I + slack J)^-1 (J + pull) voice. Returns False where J
    is no information.
    """
    size = voice.shape[0]
    scale = 1.0 / (unit * unit)
    if slack == np.inf:
        clear(drawn, kept)
        return True
    if slack > 0.0:
        for k in range(size):
            for j in range(size):
                kept[k, j] = slack * information[k, j]
            kept[k, k] += 1.0
        if not invert(kept, kept):
            return False
        for k in range(size):
            for j in range(size):
                kept[k, j] = -kept[k, j] / slack
            kept[k, k] += 1.0 / slack
    for k in range(size):
        value = pull * voice[k]
        for j in range(size):
            if slack == 0.0:
                kept[k, j] = information[k, j]
            value += (1.0 - pull * slack) * kept[k, j] * voice[j]
            kept[k, j] *= scale
        drawn[k] = value / unit
    return True


@kernel
def prior_surprise(information: Floats, pull: Floats, ridge: float) -> float:
    """Return ln |L| - b'L^-1 b of a reading's own information L, ridge included, and pull b."""
    size = pull.shape[0]
    root = np.empty((size, size))
    for k in range(size):
        for j in range(size):
            root[k, j] = information[k, j] - ridge / size
        root[k, k] += ridge + NOTHING
    evidence = log_evidence(root, pull.copy())
    return -np.inf if np.isnan(evidence) else -2.0 * evidence


@kernel
def judge(
    told: Evidence, variance: float, unit: float, kept: Floats, drawn: Floats, ridge: float, contrary: bool
) -> tuple[float, float]:
    """Return minus twice the log-probability of utilities and choices, if a reading of this pull is true.

    And, where asked for, if the same upside down is: it has the same information, and so the same factor.
    """
    size, products, sites = drawn.shape[0], told.products, told.sites
    estimate, other = np.empty(size), np.empty(size)
    root = np.empty((size, size))
    feedbacks, weight = 0.0, 1.0 / variance
    for k in range(size):
        feedbacks += products[k, k]  # rewards were scaled to length one, or less where they count for less
        estimate[k] = drawn[k]
        other[k] = weight * products[k, size] + sites[k, size] / unit - drawn[k]
        for j in range(size):
            root[k, j] = kept[k, j]
    believed = combine(told, variance, unit, ridge, estimate, root)
    volume, energy = feedbacks * np.log(variance), products[size, size] / variance
    score = float(surprise(believed) + volume + energy)
    if not contrary:
        return score, np.inf
    solve(root, other)
    return score, float(surprise(Posterior(other, root, variance)) + volume + energy)


@kernel
def weigh_voices(told: Evidence, rival: Rival, unit: float, out: Readings) -> tuple[float, float]:
    """Write the probabilities of all readings of a user's rankings given utilities and choices, and what follows.

    The anchor of what was `told` is the main voice. Returns by how much the estimated noise is to be divided, and by
    how much twice the log-probability of the utilities is higher than if the main voice were taken at its word.
    """
    size = rival.anchor.shape[0]
    kept = np.empty((2, len(SLACKS), size, size))
    drawn = np.empty((2, len(SLACKS), size))
    scores = np.full((3, len(SLACKS), len(NOISES)), np.inf)
    scaled = told.ridge / (unit * unit)
    for voice in range(2):
        reading = RIVAL if voice == 1 else MAIN
        said, surely = (rival.anchor, rival.information) if voice == 1 else (told.anchor, told.information)
        for level in range(len(SLACKS)):
            against = against_reading(reading, level, rival.odds)
            contrary = against_reading(CONTRARY, level, rival.odds) if voice == 0 else np.inf
            held, pull = kept[voice, level], drawn[voice, level]
            if against == np.inf or not listen(said, surely, SLACKS[level], unit, told.pull, held, pull):
                continue
            before = prior_surprise(held, pull, scaled)
            for n in range(len(NOISES)):
                noise = told.variance * NOISES[n]
                score, opposite = judge(told, noise, unit, held, pull, scaled, contrary < np.inf)
                scores[reading, level, n] = score - (before - 2.0 * against)
                if contrary < np.inf:
                    scores[CONTRARY, level, n] = opposite - (before - 2.0 * contrary)
    return average(scores, kept, drawn, out)


@kernel
def average(scores: Floats, kept: Floats, drawn: Floats, out: Readings) -> tuple[float, float]:
    """Weigh readings by exp(-score/2) and write what they say on average; return as `weigh_voices` does."""
    trust, taken, tempered, pulled = out
    size = pulled.shape[0]
    plain, shares = scores[MAIN, 0, 0], scores.ravel()
    for i in range(shares.shape[0]):
        shares[i] *= -0.5
    evidence = softmax(shares)
    precision = 0.0
    for k in range(4):
        trust[k] = 0.0
    clear(pulled, tempered)
    for reading in range(3):
        voice = 1 if reading == RIVAL else 0
        sign = -1.0 if reading == CONTRARY else 1.0
        for level in range(len(SLACKS)):
            share = 0.0
            for n in range(len(NOISES)):
                share += scores[reading, level, n]
                precision += scores[reading, level, n] / NOISES[n]
            trust[SILENT if SLACKS[level] == np.inf else reading] += share
            if level == 0 and reading != RIVAL:
                taken[reading] = share
            if share == 0.0 or (level == 0 and reading != RIVAL):  # what nobody says was not written
                continue
            for k in range(size):
                pulled[k] += sign * share * drawn[voice, level, k]
                for j in range(size):
                    tempered[k, j] += share * kept[voice, level, k, j]
    return float(precision), float(plain + 2.0 * evidence)


@kernel
def against_reading(reading: int, level: int, rival_odds: float) -> float:
    """Return the log-odds against a reading before anything is felt; infinity for one that there is not."""
    if SLACKS[level] == np.inf:
        return 0.0 if reading == MAIN else np.inf  # not to listen at all is one reading
    against = AGAINST_SLACK if SLACKS[level] > 0.0 else 0.0
    if reading == CONTRARY:
        return against + AGAINST_CONTRARY
    return against - rival_odds if reading == RIVAL else against


@kernel
def read_as(told: Evidence, rival: Rival, reading: int) -> Evidence:
    """Return what was told if words are taken as they are, upside down, as the rival says, or not at all."""
    products, feedbacks, variance, anchor, information, sites, dimensions, ridge, pull = told
    if reading == RIVAL:
        anchor, information = rival.anchor, rival.information
    size = anchor.shape[0]
    voice, known = np.zeros(size), np.zeros((size, size))
    for k in range(size if reading != SILENT else 0):
        voice[k] = -anchor[k] if reading == CONTRARY else anchor[k]
        for j in range(size):
            known[k, j] = information[k, j]
    return Evidence(products, feedbacks, variance, voice, known, sites, dimensions, ridge, pull)


@kernel
def pull_of_words(told: Evidence) -> Floats:
    """Return the pull of rankings alone."""
    size = told.anchor.shape[0]
    drawn = np.empty(size)
    for k in range(size):
        drawn[k] = told.pull * told.anchor[k]
        for j in range(size):
            drawn[k] += told.information[k, j] * told.anchor[j]
    return drawn


@kernel
def own_surprise(told: Evidence) -> float:
    """Return minus the log-probability of words themselves, relative to noise but for what all readings share."""
    return 0.5 * prior_surprise(told.information, pull_of_words(told), told.ridge)


@kernel
def log_consistency(told: Evidence) -> float:
    """Return the log-probability of words that mean something, relative to noise: over all precisions of the prior."""
    size, drawn, logs = told.anchor.shape[0], pull_of_words(told), np.empty(len(PRECISIONS))
    total = 0.0
    for i in range(len(PRECISIONS)):
        ridge = told.ridge * PRECISIONS[i]
        with_words = prior_surprise(told.information, drawn, ridge)
        if with_words == -np.inf:  # no information
            return np.inf
        without = (size - 1.0) * np.log(ridge + NOTHING) + np.log(NOTHING)
        logs[i] = np.log(PRECISION_CHANCES[i]) - 0.5 * (with_words - without)
        total += PRECISION_CHANCES[i]
    return float(softmax(logs) - np.log(total))


@kernel
def reading_odds(told: Evidence, rival: Rival, reading: int) -> float:
    """Return the log-odds of such a reading before utilities, and what its own law is to be divided by.

    Words that tell nothing are those of somebody else, as likely as these, or noise, which is uniform: that, words
    themselves show, whatever the spread of weights.
    """
    own = own_surprise(read_as(told, rival, reading))
    if reading == MAIN:
        return own
    if reading == RIVAL:
        return own + rival.odds
    if reading == CONTRARY:
        return own - AGAINST_LIES
    return float(own - AGAINST_LIES + np.logaddexp(0.0, -log_consistency(told)))


@kernel
def mix_readings(
    told: Evidence, rival: Rival, usual: float, of_words: bool, estimate: Floats, covariance: Floats
) -> bool:
    """Write mean and covariance of the weights over readings and units; what lies between readings stays in it.

    The score pools what readings say, which is nearer to the truth where words are honest, but too sure of itself.
    Words are taken as they are or not at all: a reading with slack is too wide for those that are right, too narrow for
    those that are wrong, and serves those alone that are slightly off.
    """
    size, law = estimate.shape[0], UnitLaw(usual, SPIKE, SLAB)
    means, spreads, logs = np.zeros((4, size)), np.zeros((4, size, size)), np.full(4, -np.inf)
    for reading in range(4):
        said = read_as(told, rival, reading)
        odds = reading_odds(told, rival, reading)
        if odds > -np.inf:
            _, evidence = average_units(said, tell(said), law, of_words, means[reading], spreads[reading])
            logs[reading] = -np.inf if np.isnan(evidence) else evidence + odds
    return mix_normals(logs, means, spreads, estimate, covariance)
