#!/usr/bin/env python3
"""Makes rows.txt from the executable specification of the one rule (one_rule.py, ops.py and inference.py).

    python3 make_rows.py DIRECTORY_OF_THE_SPECIFICATION > rows.txt

For every op that the compiler shares with the specification, with the compiler's letters: all rows that the
specification accepts on one mesh axis. What is not listed is refused. Needs numpy.

op KIND SPEC                one op; its rows follow
row STATES -> STATE         states of the operands, state of the result: I R P M L S(dim) S(dim:level) A(stage)
convert FROM TO COLLECTIVE  kinds of states; "none" sends nothing. Pairs not listed have no conversion
route FROM TO : STATES      states to convert to, one after the other
dual STATE STATE            state of the gradient
ring COLLECTIVE RANKS SHARE bytes that a rank sends per byte of the whole array
"""
import sys

sys.path.insert(0, sys.argv[1])
import inference  # noqa: E402, F401: adds its ops
import one_rule  # noqa: E402

LEVELS, STAGES = 2, 2
# The compiler's attention has no factor r (query heads of a key head), its adamw takes three scalars more, its top
# takes the temperature apart from what a draw is keyed by.
SHARED = {
    "einsum": ["bsh,hf->bsf", "bsh,hcnd->bscnd", "bsnd,ndh->bsh", "bsh,vh->bsv", "bsf,bsh->hf", "bsv->bs", "bs->",
               "ab,ab->ab", "ab,ab->", ",ab->ab", "a,ab,b->b"],
    "combine": ["bsf,f->bsf", "bscnd,cnd->bscnd", "bsh,sh->bsh", "bsh,bsh->bsh", "bsv,bs->bsv", "bs,bs,bs->bs",
                ",,->"],
    "map": ["abc->abc", "->"],
    "layer_norm": ["abc,c,c->abc"],
    "attention": ["bsnd,btnd,btnc->bsnc"],
    "embedding": ["bs,vh->bsh"],
    "pick": ["bsv,bs->bs"],
    "max": ["bsv->bs"],
    "dropout": ["abc->abc"],
    "adamw": ["ab,ab,ab,,,->ab"],
    "append": ["btpgd,bsgd,bs,bs->btpgd"],
    "attend": ["bsgrd,btpgd,btpge,bs,bs->bsgre", "bsgd,btpgd,btpge,bs,bs->bsge"],
    "top": ["bmv->bmkz", "bmv,bm,bmq->bmkz"],
}
# The compiler keeps these whole beside the specification's: slots of caches.
WHOLE = {"layer_norm": "", "append": "st", "attend": "dt"}


def text(state):
    where = f"{state.where}:{state.level}" if state.level else f"{state.where}"
    return state.kind + (f"({where})" if state.kind in "SA" else "")


def signature(kind, spec):
    """The factor that stays whole is the specification's h of layer_norm, whatever its letter here."""
    sig = one_rule.signature(kind, spec)
    return sig._replace(blocked=WHOLE[kind] or spec[-1]) if kind in WHOLE else sig


def print_ops():
    for kind, specs in SHARED.items():
        for spec in specs:
            print("op", kind, spec)
            for states, result in one_rule.rows(signature(kind, spec), STAGES, LEVELS).items():
                print("row", *map(text, states), "->", text(result))


def print_conversions():
    states = [one_rule.I, one_rule.R, one_rule.P, one_rule.M, one_rule.S(0), one_rule.S(1),
              one_rule.At(0), one_rule.At(1), one_rule.L, one_rule.C]
    for pair, collective in one_rule.CONVERSIONS.items():
        print("convert", *pair, collective or "none")
    for source in states:
        for target in states:
            path = one_rule.route(source, target)
            if path is not None:
                print("route", text(source), text(target), ":", *map(text, path))
    for state in states:
        if state not in (one_rule.M, one_rule.L, one_rule.C):
            print("dual", text(state), text(one_rule.dual(state)))
    for collective, share in one_rule.RING.items():
        for ranks in (2, 3, 8):
            print("ring", collective or "none", ranks, repr(float(share(ranks))))


if __name__ == "__main__":
    print("# Made by make_rows.py from the executable specification of the one rule.")
    print_ops()
    print_conversions()
