"""A plain GPT-2 training step in PyTorch, as a worker of bench/run.py (see Worker.h).

Usage: pytorch_gpt2.py config.json batch sequence f32|bf16 threads [cpu|cuda [eager|graphs|compile|compile+graphs]]
bf16 is torch.autocast. On a GPU: the optimizer is fused, the vocabulary padded to a multiple of 64 as PyTorch's users
do, `graphs` captures the whole step, `compile` is torch.compile of the model and its loss. On the CPU, PyTorch's own
`linear` calls the system's BLAS in fp32; where PyTorch also offers oneDNN's, both are tried on one product of this
shape and the faster is measured. The BLAS is Debian's choice: with `libopenblas0-pthread` installed F.linear is an
order faster than with the reference BLAS.
"""
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


def onednn_linear(x, weight, bias):
    """Computes linear(x, weight, bias) with all three products in oneDNN."""
    return torch._C._nn.mkldnn_linear(x.to_mkldnn(), weight, bias).to_dense()


class Linear(nn.Linear):
    function = staticmethod(F.linear)

    def forward(self, x):
        return Linear.function(x, self.weight, self.bias)


def attention(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    s = q.shape[-2]
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    mask = torch.ones(s, s, dtype=torch.bool).triu(1)
    return scores.masked_fill(mask, float("-inf")).softmax(-1) @ v


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = Linear(width, 3 * width), Linear(width, width)
        self.fc, self.proj2 = Linear(width, inner), Linear(inner, width)

    def forward(self, x):
        b, s, h = x.shape
        split = lambda t: t.view(b, s, self.heads, h // self.heads).transpose(1, 2)
        q, k, v = map(split, self.qkv(self.ln_1(x)).chunk(3, -1))
        x = x + self.proj(attention(q, k, v).transpose(1, 2).reshape(b, s, h))
        return x + self.proj2(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, heads = config["n_embd"], config["n_head"]
        self.wte = nn.Embedding(config["vocab_size"], width)
        self.wpe = nn.Embedding(config["n_positions"], width)
        inner = config.get("n_inner") or 4 * width
        self.layers = nn.ModuleList(Layer(width, heads, inner) for _ in range(config["n_layer"]))
        self.ln_f = nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x)
        return Linear.function(self.ln_f(x), self.wte.weight, None)


def adamw(model, device):
    decayed = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    fused = {"fused": True, "capturable": True} if device == "cuda" else {}
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), **fused)


def captured(step):
    """Captures the step as one CUDA graph: what it reads and writes stays where it is."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


def peak_resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def main():
    path, batch, sequence, precision, threads = sys.argv[1:6]
    device, mode = sys.argv[6:] + ["cpu", "eager"][len(sys.argv) - 6:]
    batch, sequence = int(batch), int(sequence)
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    with open(path) as file:
        config = json.load(file)
    tokens = torch.randint(config["vocab_size"], (batch, sequence + 1), device=device)
    if device == "cuda":
        config["vocab_size"] = -(-config["vocab_size"] // 64) * 64
    model = Gpt2(config).to(device)
    optimizer = adamw(model, device)

    def loss_of(ids, targets):
        return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())

    run = torch.compile(loss_of) if "compile" in mode else loss_of

    def queue():
        with torch.autocast(device, dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = run(tokens[:, :-1], tokens[:, 1:])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    work = captured(queue) if "graphs" in mode else queue

    def step():
        return work().item()

    def timed(function=step):
        start = time.perf_counter()
        function()
        return time.perf_counter() - start

    def trial(function):
        """Returns the seconds of the first MLP product of a layer, forward and backward: the least of five."""
        layer, x = model.layers[0].fc, torch.randn(batch * sequence, config["n_embd"], requires_grad=True)

        def products():
            function(x, layer.weight, layer.bias).sum().backward()

        return min(timed(products) for _ in range(5))

    linears = {"F.linear": F.linear}
    if device == "cpu" and precision == "f32" and hasattr(torch._C._nn, "mkldnn_linear"):
        linears["oneDNN linear"] = onednn_linear
    trials = {name: trial(function) for name, function in linears.items()} if len(linears) > 1 else {}
    name = min(trials, key=trials.get, default="F.linear")
    Linear.function = staticmethod(linears[name])
    print(json.dumps({"version": torch.__version__, "linear": name, "trials": trials,
                      "fused_attention": hasattr(F, "scaled_dot_product_attention")}), flush=True)
    for line in sys.stdin:
        seconds, processor = [], []
        for _ in range(int(line)):
            start = time.process_time()
            seconds.append(timed())
            processor.append(time.process_time() - start)
        peak = torch.cuda.max_memory_allocated() if device == "cuda" else None
        print(json.dumps({"seconds": seconds, "processor_seconds": processor, "vmhwm": peak_resident(),
                          "peak_device": peak}), flush=True)


if __name__ == "__main__":
    main()
