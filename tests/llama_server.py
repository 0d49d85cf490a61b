"""A real model server: llama.cpp's own, in a process of its own, with a tiny model that is made on the spot.

    python tests/llama_server.py MODEL.gguf

prints its address once it answers, and serves until it is killed.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

WIDTH, HEADS, LAYERS, INNER, CONTEXT = 32, 2, 1, 64, 16_384
TEMPLATE = "{% for message in messages %}{{ message.content }}\n{% endfor %}"
# What the model likes to say, so that its words, and its lists, come to an end: letters, spaces and quotation marks.
LIKED = {**dict.fromkeys(b"abcdefghijklmnopqrstuvwxyz", 7.0), ord(" "): 8.5, ord('"'): 9.0, ord("]"): 12.0}


def make_model(path: Path, seed: int = 0) -> None:
    """Write a random model that speaks in bytes: a tenth of a megabyte."""
    import gguf

    random = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0.0, 0.1, shape).astype(np.float32))

    # The first column is the same for all tokens, which makes the first column of the output a bias.
    embedding = random.normal(0.0, 0.02, (len(tokens), WIDTH)).astype(np.float32)
    embedding[:, 0] = 1.0
    output = random.normal(0.0, 0.03, (len(tokens), WIDTH)).astype(np.float32)
    output[:, 0] = 0.0
    for byte, liking in LIKED.items():
        output[3 + byte, 0] = liking / WIDTH**0.5
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, dtype=np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def start(model: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server in a process of its own; return the process, to kill it, and its address."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(model)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    for line in process.stdout or ():
        if line.startswith("http"):
            return process, f"{line.strip()}/v1"
    raise RuntimeError(f"the server of {model} did not start")


def main() -> None:
    """Serve a model on a free port of this machine."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT
    params.n_parallel = 2
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
