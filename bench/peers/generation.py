"""A peer of bench/generate.py, as a worker: protocol and prompts are those of bench/generate/BenchGenerate.cpp.

Usage: generation.py pytorch FOLDER threads requests prompt new
       generation.py llama.cpp MODEL.gguf threads requests prompt new
"""
import json
import sys
import time


def prompts(requests, length, vocabulary):
    return [[(i * 7919 + r * 104729 + 1) % vocabulary for i in range(length)] for r in range(requests)]


class PyTorch:
    """`generate` of transformers. It has no call for prompts alone: the time of tokens is that of `new` less that of 1."""

    def __init__(self, folder, threads, requests, length, added):
        import torch
        import transformers
        torch.set_num_threads(threads)
        self.torch, self.added = torch, added
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
        self.prompts = torch.tensor(prompts(requests, length, self.model.config.vocab_size))
        self.version = f"torch {torch.__version__}, transformers {transformers.__version__}"

    def seconds(self, count):
        start = time.perf_counter()
        with self.torch.inference_mode():
            found = self.model.generate(self.prompts, attention_mask=self.torch.ones_like(self.prompts), do_sample=False,
                                        min_new_tokens=count, max_new_tokens=count, eos_token_id=None, pad_token_id=0)
        self.tokens = found[0, self.prompts.shape[1]:].tolist()
        return time.perf_counter() - start

    def run(self):
        prefill = self.seconds(1)
        return prefill, (self.seconds(self.added) - prefill) / (self.added - 1)


class LlamaCpp:
    """llama_decode, with the caches in llama.cpp's default type, f16; the most probable tokens are found by numpy."""

    def __init__(self, path, threads, requests, length, added):
        import ctypes
        import llama_cpp
        import numpy
        self.api, self.numpy, self.added = llama_cpp, numpy, added
        llama_cpp.llama_log_set(quiet(llama_cpp), ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            sys.exit(f"llama.cpp cannot load {path}")
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.prompts = prompts(requests, length, self.vocabulary)
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = requests * (length + added)
        settings.n_batch = settings.n_ubatch = length
        settings.n_seq_max = requests
        settings.n_threads = settings.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, settings)
        if not self.context:
            sys.exit(f"llama.cpp has no memory for {settings.n_ctx} positions")
        self.batch = llama_cpp.llama_batch_init(max(length, requests), 0, requests)
        self.version = f"llama-cpp-python {llama_cpp.__version__}"

    def decode(self, rows):
        """Decodes rows, which are (token, position, request, are logits wanted); returns the most probable token after
        those that ask."""
        self.batch.n_tokens = len(rows)
        for k, (token, position, request, wanted) in enumerate(rows):
            self.batch.token[k], self.batch.pos[k] = token, position
            self.batch.n_seq_id[k], self.batch.seq_id[k][0] = 1, request
            self.batch.logits[k] = wanted
        if self.api.llama_decode(self.context, self.batch):
            raise RuntimeError("llama_decode fails")
        found = []
        for k in range(len(rows)):
            if rows[k][3]:
                logits = self.api.llama_get_logits_ith(self.context, k)
                found.append(int(self.numpy.ctypeslib.as_array(logits, (self.vocabulary,)).argmax()))
        return found

    def run(self):
        self.api.llama_memory_clear(self.api.llama_get_memory(self.context), True)
        start, last = time.perf_counter(), []
        for request, prompt in enumerate(self.prompts):
            last += self.decode([(token, i, request, i + 1 == len(prompt)) for i, token in enumerate(prompt)])
        prefill, self.tokens = time.perf_counter() - start, [last[0]]
        start = time.perf_counter()
        for position in range(len(self.prompts[0]), len(self.prompts[0]) + self.added - 1):
            last = self.decode([(token, position, request, True) for request, token in enumerate(last)])
            self.tokens.append(last[0])
        return prefill, (time.perf_counter() - start) / (self.added - 1)


def quiet(llama_cpp):
    callback = llama_cpp.llama_log_callback(lambda level, text, data: None)
    quiet.kept = callback  # must live as long as llama.cpp may call it
    return callback


def peak_resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def main():
    kind, path, *numbers = sys.argv[1:]
    peer = {"pytorch": PyTorch, "llama.cpp": LlamaCpp}[kind](path, *map(int, numbers))
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        times = [peer.run() for _ in range(int(line))]
        print(json.dumps({"prefill": [prefill for prefill, _ in times], "decode": [decode for _, decode in times],
                          "tokens": peer.tokens, "vmhwm": peak_resident()}), flush=True)


if __name__ == "__main__":
    main()
