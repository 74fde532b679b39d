"""lit's configuration: .mlir, .json and .test files with RUN lines; folders mirror lib/ and tools/.

Starts are what these tests cost. RUN lines start Python as %python, since python3 may be a version manager's script, and
a check of several things in one output reads it with several prefixes of one FileCheck, or saves it.
"""
import importlib.util
import os
import shutil
import sys

import lit.formats

config.name = "Tessera"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Runtime", "Numerics", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tessera_obj_root, "test")

# Only our tools and LLVM's test tools: nothing else of this machine is needed but coreutils and openssl.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tessera_obj_root, "bin"), config.llvm_tools_dir, os.environ.get("PATH", "")])
config.environment["LC_ALL"] = "C"
# Processes of one user know each other by a file there; not in the home of who runs the tests.
config.environment["XDG_STATE_HOME"] = os.path.join(config.test_exec_root, "state")
config.environment["TESSERA_LINKER"] = config.test_linker
config.substitutions.append(("%{examples}", os.path.join(config.tessera_src_root, "examples")))
config.substitutions.append(("%{source}", config.tessera_src_root))
config.substitutions.append(("%{build}", config.tessera_obj_root))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%{cmake}", config.cmake))
for name in ("cc", "cxx", "cpack", "libdir"):
    config.substitutions.append(("%%{%s}" % name, getattr(config, name)))
for tool in ("pkg-config", "groff", "fish", "zsh", "dpkg-shlibdeps", "chromium", "torchrun", "mpirun.openmpi",
             "mpirun.mpich"):
    if shutil.which(tool):
        config.available_features.add(tool)
# An MPI counts if it was there when Tessera was built, too.
plugins = os.path.join(config.tessera_obj_root, "lib")
config.substitutions.append(("%{mpi_plugins}", plugins))
for name in ("openmpi", "mpich"):
    if os.path.exists(os.path.join(plugins, f"libtessera_mpi_{name}.so")) and shutil.which(f"mpirun.{name}"):
        config.available_features.add(f"mpi-{name}")
# Root may start its daemons.
if os.geteuid() == 0 and all(shutil.which(tool, path=os.environ.get("PATH", "") + os.pathsep + "/usr/sbin")
                             for tool in ("slurmctld", "slurmd", "srun", "munged")):
    config.available_features.add("slurm")
if importlib.util.find_spec("yaml"):
    config.available_features.add("pyyaml")
ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%{ptxas}", ptxas))
config.available_features.add("cuda-plugin" if config.has_cuda else "no-cuda-plugin")
