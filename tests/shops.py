"""Invented shops for tests: tables as people export them."""

from __future__ import annotations

import csv
import math
import random

CITIES = ("Vienna", "Prague", "Graz", "Lisbon", "Porto", "Ghent", "Turin", "Lyon")
HOTELS = (
    *("hotel_id", "name", "city", "kind", "price_eur", "distance_km", "noise_db", "avg_rating", "review_count"),
    *("stars", "pool", "amenities", "opened"),
)


def hotels(number=5_000, seed=3):
    """Return rows of hotels: better ones cost more, central ones are loud, and most have few reviews or none."""
    draw = random.Random(seed)
    rows = []
    for k in range(number):
        quality, far = draw.gauss(0, 1), round(draw.expovariate(1 / 3), 1)
        price = round(90 * math.exp(0.35 * quality - 0.04 * far + draw.gauss(0, 0.3)))
        reviews = int(draw.paretovariate(0.7)) - 1
        noise = draw.gauss(0, 0.9) / math.sqrt(max(reviews, 1))
        rating = round(min(5.0, max(1.0, 4.0 + 0.35 * quality + noise)), 1)
        house = f"{draw.choice(('Hotel', 'House', 'Inn'))} {draw.choice(('Amber', 'Cedar', 'Dove', 'Elm', 'Gull'))} {k}"
        amenities = "; ".join(draw.sample(("wifi", "parking", "bar", "spa", "gym"), draw.randint(1, 3)))
        rows.append(
            [
                *(f"h{k:04d}", house, draw.choice(CITIES), draw.choice(("hotel", "hostel", "apartment"))),
                *(price if draw.random() > 0.01 else "", far, round(draw.gauss(54 - 1.2 * far, 6))),
                *(rating if reviews else "", reviews, draw.choice((2, 3, 3, 4, 4, 5, ""))),
                *(draw.choice(("yes", "no")), amenities, f"{draw.randint(1960, 2024)}-0{draw.randint(1, 9)}-15"),
            ]
        )
    return rows


def write_hotels(path, number=5_000, seed=3):
    """Write a CSV file of hotels."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HOTELS)
        writer.writerows(hotels(number, seed))
    return path
