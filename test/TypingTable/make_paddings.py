#!/usr/bin/env python3
"""Makes paddings.txt from the executable specification of padding (padding.py).

    python3 make_paddings.py DIRECTORY_OF_THE_SPECIFICATION > paddings.txt

For every op that the compiler shares with the specification, what it makes of padding along each factor, from every
combination of what its operands hold there. Needs numpy.

op exact|within TEXT               an op in the compiler's IR on arguments %0, %1, ..; its lines follow. exact: the
                                   compiler says the same; within: it may say less
padding R K:D STATES -> STATE      what result R holds along the factor of operand K's dimension D, given what the
                                   operands hold: Z zeros, N -inf, F finite, X anything; F of those without the factor
"""
import itertools
import sys

sys.path.insert(0, sys.argv[1])
from padding import RULES  # noqa: E402

SIZES = dict(zip("abcdefghijklmnopqrstuvwxyz", range(2, 54, 2))) | {"t": 38, "x": 4, "k": 22, "e": 4}
INDICES = {("embedding", 0), ("pick", 1), ("counted", 0), ("embedding_grad", 1), ("pick_grad", 1)}


def typeOf(letters, kind, operand):
    element = "i32" if (kind, operand) in INDICES else "f32"
    return "tensor<" + "".join(f"{SIZES[f]}x" for f in letters) + element + ">"


def functional(kind, ins, outs):
    operands = ", ".join(typeOf(letters, kind, k) for k, letters in enumerate(ins))
    results = ", ".join(typeOf(letters, "", 0) for letters in outs)
    return f"({operands}) -> " + (f"({results})" if len(outs) > 1 else results)


def values(count):
    return ", ".join(f"%{k}" for k in range(count))


def show(certainty, text, ins, formulas, blocked):
    """`formulas`: for each result what it makes of (factor, states of operands)."""
    print("op", certainty, text)
    for result, formula in enumerate(formulas):
        for f in dict.fromkeys("".join(ins)):
            if f in blocked:
                continue
            k = next(k for k, letters in enumerate(ins) if f in letters)
            options = ["ZNFX" if f in letters else "F" for letters in ins]
            for states in itertools.product(*options):
                print("padding", result, f"{k}:{ins[k].index(f)}", *states, "->", formula(f, *states))


def forward(kind, attributes, text, ins, blocked="", order=None, certainty="exact"):
    rule = RULES[kind].gives
    show(certainty, text, ins, [lambda f, *xs: rule(attributes, f, *xs)], blocked)


def backward(kind, attributes, text, ins, formula, blocked=""):
    rule = RULES[kind].gradient
    show("exact", text, ins, [lambda f, *xs: formula(lambda j, g, *ys: rule(attributes, f, j, g, *ys), *xs)], blocked)


def products():
    for spec in ("bsh,hf->bsf", "bsh,hcnd->bscnd", "bsnd,ndh->bsh", "bsv->bs", "ab,ab->ab", "a,ab,b->b"):
        ins, out = spec.split("->")[0].split(","), spec.split("->")[1]
        forward("einsum", {}, f'nn.einsum "{spec}" {values(len(ins))} : {functional("einsum", ins, [out])}', ins)
    for spec, coefs in (("bsf,f->bsf", None), ("bsv,bs->bsv", (1.0, -1.0)), ("bs,bs,bs->bs", None), ("ab,ab->ab", (-1.0, 0.5))):
        ins, out = spec.split("->")[0].split(","), spec.split("->")[1]
        given = "" if coefs is None else "{coefs = array<f64: " + ", ".join(map(str, coefs)) + ">} "
        forward("combine", {} if coefs is None else {"coefs": coefs},
                f'nn.add "{spec}" {values(len(ins))} {given}: {functional("combine", ins, [out])}', ins)


def functions():
    names = {"gelu": ("gelu", "gelu_tanh"), "silu": ("silu",), "relu": ("relu",), "exp": ("exp",), "log": ("log",),
             "reciprocal": ("reciprocal",), "sqrt": ("sqrt",)}
    for fn, ours in names.items():
        for name in ours:
            forward("map", {"fn": fn}, f"nn.map {name} %0 : {typeOf('ab', '', 0)} -> {typeOf('ab', '', 0)}", ["ab"])
            backward("map", {"fn": fn}, f"nn.map_grad {name} %0, %1 : {functional('', ['ab', 'ab'], ['ab'])}", ["ab", "ab"],
                     lambda rule, g, x: rule(0, g, x))
    forward("dropout", {}, f"nn.dropout %0 {{p = 0.5 : f64, stream = 1 : i64}} : {typeOf('ab', '', 0)} -> {typeOf('ab', '', 0)}", ["ab"])
    forward("max", {}, f"nn.max %0 : {typeOf('bsv', '', 0)} -> {typeOf('bs', '', 0)}", ["bsv"])


def norms():
    epsilon = "{epsilon = 1.0e-5 : f64}"
    for kind, ins in (("layer_norm", ["bsh", "h", "h"]), ("rms_norm", ["bsh", "h"])):
        forward(kind, {}, f"nn.{kind} {values(len(ins))} {epsilon} : {functional(kind, ins, ['bsh'])}", ins, "h")
        others = ("F",) * (len(ins) - 2)
        backward(kind, {}, f"nn.{kind}_grad_input %0, %1, %2 {epsilon} : {functional('', ['bsh', 'bsh', 'h'], ['bsh'])}",
                 ["bsh", "bsh", "h"], lambda rule, g, x, w: rule(0, g, x, w, *others), "h")
        backward(kind, {}, f"nn.{kind}_grad_weight %0, %1 {epsilon} : {functional('', ['bsh', 'bsh'], ['h'])}",
                 ["bsh", "bsh"], lambda rule, g, x: rule(1, g, x, "F", *others), "h")


def lookups():
    ins = ["bs", "vh"]
    forward("embedding", {}, f"nn.embedding %0, %1 : {functional('embedding', ins, ['bsh'])}", ins)
    backward("embedding", {}, "nn.embedding_grad %0, %1 like %2 : " + functional("embedding_grad", ["bsh", "bs", "vh"], ["vh"]),
             ["bsh", "bs"], lambda rule, g, ids: rule(1, g, ids, "F"))
    ins = ["bsv", "bs"]
    forward("pick", {}, f"nn.pick %0, %1 : {functional('pick', ins, ['bs'])}", ins)
    forward("counted", {}, f"nn.counted %0 as f32 : {typeOf('bs', 'counted', 0)} -> {typeOf('bs', '', 0)}", ["bs"])
    ins = ["ab", "ab", "ab", "", "", ""]
    show("exact", f"nn.adamw {values(6)} {{epsilon = 1.0e-8 : f64, decay = 0.1 : f64}} : {functional('', ins, ['ab'])}", ins,
         [lambda f, x, m, s, *_: RULES["adamw"].gives({}, f, x, m, s)], "")


def attention():
    ins, lse = ["bsnd", "btnd", "btnc"], "bns"
    attributes = "<causal, scale = 0.25>"
    sizes = {"d": 6, "c": 6}
    SIZES.update(sizes)
    print("op exact", f"nn.attention %0, %1, %2 {attributes} : {functional('', ins, ['bsnc', lse])}")
    rule = RULES["attention"]
    for f, place in (("b", "0:0"), ("s", "0:1"), ("n", "0:2")):
        options = ["ZNFX" if f in letters else "F" for letters in ins]
        for states in itertools.product(*options):
            print("padding", 0, place, *states, "->", rule.gives({}, f, *states))
    grad = ["bsnc", *ins, "bsnc", lse]
    print("op within", f"nn.attention_grad {values(6)} {attributes} : {functional('', grad, ins)}")
    for j in range(3):
        for f, place in (("b", "0:0"), ("s", "0:1"), ("n", "0:2")):
            options = ["ZNFX" if f in letters else "F" for letters in grad[:4]]
            for g, *xs in itertools.product(*options):
                print("padding", j, place, g, *xs, "F", "F", "->", rule.gradient({}, f, j, g, *xs))


def experts():
    gates = "bsx"
    forward("top_k", {}, f"nn.top_k 2 of %0 : {typeOf(gates, '', 0)} -> {typeOf(gates, '', 0)}", [gates], "x")
    forward("routed", {}, f"nn.routed %0 : {typeOf(gates, '', 0)} -> {typeOf(gates, '', 0)}", [gates])
    ins = ["bsh", gates]
    forward("dispatch", {}, f"nn.dispatch %0 by %1 : {functional('', ins, ['xbsh'])}", ins)
    ins = ["xbsk", "xnk", gates]
    forward("expert", {}, f"nn.expert_linear %0, %1 by %2 : {functional('', ins, ['xbsn'])}", ins)
    ins = ["xbsh", gates]
    forward("collect", {}, f"nn.collect %0 by %1 weighted : {functional('', ins, ['bsh'])}", ins)
    ins = ["bsh", "xbsh", gates]
    backward("collect", {}, f"nn.collect_grad_gates %0, %1 by %2 : {functional('', ins, [gates])}", ins,
             lambda rule, g, rows, gate: rule(1, g, rows, gate))
    ins = ["xbsn", "xbsk", gates]
    backward("expert", {}, f"nn.expert_linear_grad_weight %0, %1 by %2 : {functional('', ins, ['xnk'])}", ins,
             lambda rule, g, rows, gate: rule(1, g, rows, "F", gate))


if __name__ == "__main__":
    print("# Made by make_paddings.py from the executable specification of padding.")
    for family in (products, functions, norms, lookups, attention, experts):
        family()
