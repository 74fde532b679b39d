"""jobset.py MANIFEST SCHEMA MODEL DATA: checks a manifest of JobSet against the excerpt of its schema, and starts its
pods here: each with its variables and its command, on the CPU, with MODEL and DATA and with a local address of rank 0.
Prints what a process prints, and its exit code."""
import json
import os
import socket
import subprocess
import sys
import tempfile

import yaml

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def problems(value, schema, path=""):
    """Returns what a server refuses with fieldValidation=Strict."""
    if schema.get("x-kubernetes-int-or-string"):
        return [] if isinstance(value, (int, str)) else [f"{path}: {value!r} is neither a number nor a text"]
    expected = TYPES.get(schema.get("type"), object)
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        return [f"{path}: {value!r} is no {schema['type']}"]
    if value not in schema.get("enum", [value]):
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    found = []
    if isinstance(value, dict) and ("properties" in schema or "additionalProperties" in schema):
        found += [f"{path}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            found += [f"{path}: {name} is unknown"] if known is None else problems(part, known, f"{path}.{name}")
    if isinstance(value, list):
        for index, part in enumerate(value):
            found += problems(part, schema.get("items", {}), f"{path}[{index}]")
    return found


def pods(manifest):
    """Yields the variables of each pod and its command."""
    name, [ranks] = manifest["metadata"]["name"], manifest["spec"]["replicatedJobs"]
    job = ranks["template"]["spec"]
    [container] = job["template"]["spec"]["containers"]
    assert job["completions"] == job["parallelism"] and ranks["replicas"] == 1 and job["backoffLimit"] == 0
    variables = {entry["name"]: entry for entry in container["env"]}
    # https://jobset.sigs.k8s.io/docs/concepts: the names of pods
    assert variables["MASTER_ADDR"]["value"] == f"{name}-{ranks['name']}-0-0.{name}"
    assert "job-completion-index" in variables["RANK"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert "secretKeyRef" in variables["TESSERA_SECRET"]["valueFrom"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for index in range(job["completions"]):
        yield {"RANK": str(index), "WORLD_SIZE": variables["WORLD_SIZE"]["value"], "MASTER_ADDR": "127.0.0.1",
               "MASTER_PORT": str(port - 1), "TESSERA_SECRET": "a secret of the pods"}, container["command"]


def main(manifest, schema, model, data):
    with open(manifest) as text, open(schema) as excerpt:
        manifest, schema = yaml.safe_load(text), json.load(excerpt)
    for problem in problems(manifest, schema):
        sys.exit(problem)
    # The check finds what is wrong.
    assert problems({**manifest, "spec": {"replicatedJobs": [{"name": "ranks", "replica": 1}]}}, schema) == [
        ".spec.replicatedJobs[0]: template is missing", ".spec.replicatedJobs[0]: replica is unknown"]
    with tempfile.TemporaryDirectory() as run:
        here = {"/data/model": model, "/data/tokens.bin": data, "/data/run": run, "cuda": "cpu"}
        processes = [subprocess.Popen([here.get(word, word) for word in command] + ["--steps", "2"],
                                      env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)
                     for variables, command in pods(manifest)]
        for process in processes:
            print(process.communicate()[0], end="")
            print("exit code", process.returncode)


main(*sys.argv[1:])
