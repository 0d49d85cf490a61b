"""The data pipelines as one would write them for small files: everything in memory, pandas, no thought of speed.

Nothing here is shared with the package: it is the specification of what the pipelines compute.
"""

from __future__ import annotations

import gzip
import json
import math

import numpy as np
import pandas as pd

BEERS = ["appearance", "aroma", "palate", "taste"]
HOTELS = ["cleanliness", "location", "rooms", "service", "sleep_quality", "value"]


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def rating(value):
    """A number from 1 to 5, None where there is nothing; else it is no rating."""
    if value is None or value == b"":
        return None
    number = float(value)
    if not 1 <= number <= 5:
        raise ValueError(value)
    return number


def beer_reviews(path):
    """Return a frame of the reviews, and how many records are damaged."""
    rows, damaged = [], 0
    for record in content(path).replace(b"\r\n", b"\n").split(b"\n\n"):
        if not record.strip():
            continue
        pairs = [
            (line.split(b":", 1)[0], line.split(b":", 1)[1].strip()) for line in record.split(b"\n") if b":" in line
        ]
        wanted = [f"review/{aspect}".encode() for aspect in [*BEERS, "overall"]]
        pairs = [pair for pair in pairs if pair[0] in [b"beer/name", b"beer/beerId", b"review/profileName", *wanted]]
        fields = dict(pairs)
        try:
            ratings = [rating(fields.get(key)) for key in wanted]
        except ValueError:
            ratings = None
        beer, user = fields.get(b"beer/beerId", b""), fields.get(b"review/profileName", b"")
        if len(fields) < len(pairs) or not beer or ratings is None or max(len(beer), len(user)) > 200:
            damaged += 1
            continue
        rows.append([user or None, beer, *ratings])
    return frame_of(rows, BEERS), damaged


def hotel_reviews(path):
    """Return a frame of the reviews, and how many lines are damaged."""
    rows, damaged = [], 0
    for line in content(path).split(b"\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
            hotel = identity(record["offering_id"])
            assert hotel
            ratings = record.get("ratings")
            if ratings is None:
                ratings = {}
            values = [ratings.get(key) for key in [*HOTELS, "overall"]]
            assert all(value is None or type(value) in (int, float) for value in values)
            values = [rating(value) for value in values]
            author = record.get("author")
            user = identity(author.get("id")) if isinstance(author, dict) else None
        except (ValueError, KeyError, TypeError, AttributeError, AssertionError, OverflowError, RecursionError):
            damaged += 1
            continue
        rows.append([user or None, hotel, *values])
    return frame_of(rows, HOTELS), damaged


def frame_of(rows, aspects):
    frame = pd.DataFrame(rows, columns=["user", "item", *aspects, "overall"], dtype=object)
    return frame.astype(dict.fromkeys([*aspects, "overall"], float))


def identity(value):
    if type(value) is int and 0 <= value < 10**200:
        return str(value).encode()
    return value.strip().encode("utf-8", "surrogatepass") if isinstance(value, str) and len(value) <= 200 else None


def enough(frame, column, number):
    return frame[frame.groupby(column)["item"].transform("size") >= number]


def counts(frame):
    return len(frame), frame["user"].nunique(), frame["item"].nunique()


def arrays(frame, everything, aspects, n_users, ridge):
    """Return what is estimated: items by first appearance in the file, users by most reviews, then by appearance."""
    rewards = frame.groupby("item")[aspects].mean()
    rewards = rewards.reindex([item for item in everything["item"].unique() if item in rewards.index])
    sizes = frame.groupby("user").size()
    sizes = sizes.reindex([user for user in everything["user"].unique() if user in sizes.index])
    users = sizes.sort_values(ascending=False, kind="stable").index[:n_users].tolist()
    preferences = []
    for user in users:
        mine = frame[frame["user"] == user]
        scores, overall = mine[aspects].to_numpy(), mine["overall"].to_numpy()
        if ridge:
            scores = np.vstack([scores, math.sqrt(ridge) * np.eye(len(aspects))])
            overall = np.append(overall, np.zeros(len(aspects)))
        preferences.append(np.linalg.lstsq(scores, overall)[0])
    return rewards, np.array(preferences), users


def beers(path, of_user, of_item, ridge=0.0):
    """Return counts after each step, rewards by beer, preferences, users and how many records are damaged."""
    everything, damaged = beer_reviews(path)
    frames = [everything]
    frames.append(frames[-1].dropna(subset="user"))
    frames.append(frames[-1].dropna())
    frames.append(enough(frames[-1], "item", of_item))
    frames.append(enough(frames[-1], "user", of_user))
    frame = frames[-1]
    frames.append(frame[frame.groupby("item")["user"].transform("nunique") == frame["user"].nunique()])
    return [counts(frame) for frame in frames], *arrays(frames[-1], everything, BEERS, None, ridge), damaged


def hotels(path, of_user, of_item, n_users, ridge=0.0, fixed_point=False):
    """Return counts after each step, rewards by hotel, preferences, users and how many lines are damaged."""
    everything, damaged = hotel_reviews(path)
    frames = [everything]
    frames.append(frames[-1].dropna(subset="user"))
    frames.append(frames[-1].dropna())
    while True:
        before = len(frames[-1])
        frames.append(enough(frames[-1], "user", of_user))
        frames.append(enough(frames[-1], "item", of_item))
        if not fixed_point or len(frames[-1]) == before:
            break
    return [counts(frame) for frame in frames], *arrays(frames[-1], everything, HOTELS, n_users, ridge), damaged
