// Nothing: the target that has the precompiled header needs a source.
