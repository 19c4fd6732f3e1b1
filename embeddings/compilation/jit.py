"""How kernels are compiled, and where compiled code is cached.

numba's disk cache checks only the file of the called function, so it misses edits to helpers in other files. Here the
name of the cache folder contains a digest of every source file that a kernel depends on, so compiled code is never
older than its source.

Code that allocates nothing is compiled without numba's reference counting (`_nrt=False`), whose atomic instructions
otherwise take a third of the training time.

numba optimises every jitted function on its own and generates machine code for it, including all that it calls and two
wrappers, although an inlined helper only ever runs as a part of an entry point. A helper of a helper of a helper is
optimised four times. Here helpers get numba's function passes and are linked with what they call; module passes and
machine code are left to the entry points. This halves the time of a first run.

It overrides private classes of numba 0.62 and newer, listed in `PRIVATE_API`. If one of them is missing, helpers are
compiled by plain `njit`, which gives the same results and takes longer to compile.

numba's own cache checks only the file of the function that is called. A kernel also depends on the helpers, classes
and constants that its code names, in any file or package, and on those that these name in turn. The digest covers the
files of all of them, this folder, and all modules of any other package that they are in.
"""

import atexit
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import numba
import numba.extending
from numba import njit, types
from numba.core.errors import TypingError

from embeddings.compilation import compile_monitor
from embeddings.compilation.checked_build import CHECKED_OPTIONS, IS_CHECKED, check_calls
from embeddings.support.cache_folder import cache_folder, existing_folder, foreign_access

# What this module overrides or calls, by class; a test checks each with the installed numba.
PRIVATE_API = {
    "JITCodeLibrary": ("finalize", "get_pointer_to_function", "_raise_if_finalized", "_ensure_finalized",
                       "_get_module_for_linking", "_optimize_final_module", "enable_object_caching"),
    "Compiler": ("define_pipelines",),
    "CPUDispatcher": ("__call__", "get_call_template"),
}  # fmt: skip

OLDEST_NUMBA = (0, 62)  # which took over LLVM's new pass managers

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.registry import CPUDispatcher

    IS_AVAILABLE = numba.version_info.short >= OLDEST_NUMBA and all(
        hasattr(base, name) for base in (JITCodeLibrary, Compiler, CPUDispatcher) for name in PRIVATE_API[base.__name__]
    )
except ImportError:
    IS_AVAILABLE = False

if IS_AVAILABLE:

    class _CodegenWithoutEnvironment:
        """numba's code generator, except that it sets no environment pointer, which needs machine code."""

        def __init__(self, codegen: Any) -> None:
            self._codegen = codegen

        def __getattr__(self, name: str) -> Any:
            return getattr(self._codegen, name)

        def set_env(self, name: str, env: Any) -> None:
            """Do nothing."""

    class HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
        """LLVM code that is linked into entry points and never runs by itself."""

        @property
        def codegen(self) -> Any:
            """The code generator."""
            return _CodegenWithoutEnvironment(self._codegen)

        def finalize(self) -> None:
            """Link the callees; run no module passes and generate no machine code."""
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(self, "_reload_init"):  # since numba 0.63
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._final_module.verify()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            """Return a null pointer, which nobody calls: see `Helper`."""
            self._ensure_finalized()
            return 0

    class EntryPointLibrary(JITCodeLibrary):  # type: ignore[misc]
        """A kernel that counts no references, so that the extra module passes for pruning them are skipped."""

        def _optimize_final_module(self) -> None:
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)

    class HelperCompiler(Compiler):  # type: ignore[misc]
        """Compiles into a `HelperLibrary`."""

        def define_pipelines(self) -> list[Any]:
            """Return numba's own pipelines."""
            self.state.library = HelperLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            return super().define_pipelines()  # type: ignore[no-any-return]

    class EntryPointCompiler(Compiler):  # type: ignore[misc]
        """Compiles into an `EntryPointLibrary`, which can be cached on disk."""

        def define_pipelines(self) -> list[Any]:
            """Return numba's own pipelines."""
            self.state.library = EntryPointLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            return super().define_pipelines()  # type: ignore[no-any-return]

    class Helper(CPUDispatcher):  # type: ignore[misc]
        """A dispatcher without machine code; a call from Python, as in tests, compiles a separate function."""

        __slots__ = ()

        def __call__(self, *args: Any) -> Any:
            """Call the function, compiled by plain `njit`."""
            return plain_function(self)(*args)

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """Return how to call the function; constants do not get a compiled version of their own."""
            try:
                return super().get_call_template([types.unliteral(arg) for arg in args], kws)
            except TypingError:  # it needs a constant, such as the index of a tuple
                return super().get_call_template(args, kws)

    @cache
    def plain_function(compiled: Helper) -> Any:
        """The same function compiled by plain `njit`."""
        ignored = {"no_cpython_wrapper", "no_cfunc_wrapper", "nopython"}
        options = {name: value for name, value in compiled.targetoptions.items() if name not in ignored}
        return njit(**options)(compiled.py_func)

    ENTRY_POINT_OPTIONS: dict[str, Any] = {"pipeline_class": EntryPointCompiler}
    HELPER_OPTIONS: dict[str, Any] = {
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "pipeline_class": HelperCompiler,
    }
else:
    ENTRY_POINT_OPTIONS, HELPER_OPTIONS = {}, {}


def helper(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that only entry points call."""
    compiled = njit(**HELPER_OPTIONS, **options)(function)
    if IS_AVAILABLE and isinstance(compiled, CPUDispatcher):  # with NUMBA_DISABLE_JIT it is the function itself
        compiled.__class__ = Helper
    return compiled


CONSTANTS = (int, float, complex, str, bytes, bool, tuple, frozenset, type(None))


def kernel_digest(function: Callable[..., Any]) -> str:
    """A digest of all sources that a kernel can be compiled from, of the numba version, and of the build."""
    files, constants = reachable_sources(function)
    folders = {folder for file in files if (folder := package_folder(file)) and folder.name != "embeddings"}
    digests = [*map(package_digest, {Path(__file__).parent, *folders}), *map(file_digest, files)]
    build = [numba.__version__, "checked" if IS_CHECKED else "normal"]
    parts = [*build, *sorted(digests), *sorted(constants)]  # independent of where packages are installed
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def file_digest(file: Path) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def package_digest(folder: Path) -> str:
    """A digest of the names and contents of all Python files below a folder, links followed."""
    digest = hashlib.sha256()
    for parent, folders, files in os.walk(folder, followlinks=True):
        folders.sort()
        for name in sorted(file for file in files if file.endswith(".py")):
            path = Path(parent, name)
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def package_folder(file: Path) -> Path | None:
    """The folder of the top-level package that a file belongs to; None for a single module."""
    folder = file.parent
    if not (folder / "__init__.py").exists():
        return None
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


def reachable_sources(function: Callable[..., Any]) -> tuple[set[Path], set[str]]:
    """The files of all functions and classes that a function's code names, directly or not, and the constants."""
    files: set[Path] = set()
    constants: set[str] = set()
    seen: set[int] = set()
    stack: list[Any] = [function]
    while stack:
        item = source_function(stack.pop())
        if id(item) in seen:
            continue
        seen.add(id(item))
        module = sys.modules.get(getattr(item, "__module__", None) or "")
        if file := getattr(module, "__file__", None):
            files.add(Path(file).resolve())
        if isinstance(item, type):
            methods = (value for value in vars(item).values() if isinstance(value, FunctionType))
            stack.extend(method for method in methods if not is_library(method))  # as those of a NamedTuple
        elif isinstance(item, FunctionType):
            for name, value in named_values(item):
                if isinstance(value, CONSTANTS):
                    constants.add(f"{name}={value!r}")
                elif not is_library(value):
                    stack.append(value)
    return files, constants


def source_function(value: Any) -> Any:
    """The Python function behind a jitted function or an intrinsic; other values as they are."""
    return getattr(value, "py_func", None) or getattr(value, "_defn", None) or value


def is_library(value: Any) -> bool:
    """Whether a value comes from Python itself, numpy or numba, whose versions are checked elsewhere."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    top = name.partition(".")[0]
    return top in sys.stdlib_module_names or top in {"numpy", "numba", "llvmlite"}


def named_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The globals, closure variables and attributes of modules that a function's code names, by name."""
    names = set(code_names(function.__code__))
    scope = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # an empty cell
            continue
    for name, value in scope.items():
        if isinstance(value, ModuleType):
            yield from ((other, vars(value)[other]) for other in names & vars(value).keys())
        else:
            yield name, value


def code_names(code: CodeType) -> Iterator[str]:
    """All names that code and the functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_names(constant)


# All of fastmath except "no NaN, no inf": sums may be reordered, but NaN stays NaN.
FASTMATH = {"reassoc", "contract", "nsz", "arcp", "afn"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy", **CHECKED_OPTIONS}
IMPLEMENTATIONS: dict[type, Callable[..., Any]] = {}  # of `dispatched` functions, by type of the first argument
PACKAGE = __name__.partition(".")[0]
ENTRY_POINTS: list[Any] = []  # all entry points of this process
MAX_GENERATIONS = 32  # versions of a kernel kept in the cache; each edit and each checkout can add one
MAX_UNUSED_DAYS = 14  # of a version of a kernel in the cache

Function = TypeVar("Function", bound=Callable[..., Any])


INLINE_OPTIONS: dict[str, Any] = {"forceinline": True, "_nrt": False, **OPTIONS}


def inline(function: Function) -> Function:
    """Compile a helper that allocates nothing; LLVM inlines it into every kernel that calls it."""
    return helper(function, **INLINE_OPTIONS)  # type: ignore[no-any-return]


def implements(operand: type) -> Callable[[Function], Function]:
    """Register an inline helper as the implementation that `dispatched` functions select for a type of NamedTuple."""

    def register(function: Function) -> Function:
        IMPLEMENTATIONS[operand] = function
        return function

    return register


def dispatched(function: Function) -> Function:
    """Define a helper whose implementation, compiled into its callers, depends on the type of its first argument."""

    @wraps(function)
    def call(operand: Any, *args: Any) -> Any:
        return IMPLEMENTATIONS[type(operand)](operand, *args)

    def select(operand: Any, *args: Any) -> Callable[..., Any] | None:
        implementation = IMPLEMENTATIONS.get(getattr(operand, "instance_class", type(None)))
        return getattr(implementation, "py_func", None)

    numba.extending.overload(call, jit_options=INLINE_OPTIONS | HELPER_OPTIONS, strict=False)(select)
    return call  # type: ignore[return-value]


def wrapper(function: Function) -> Function:
    """Define a helper that only calls others: numba inserts its source, so that it is not compiled by itself."""
    return helper(function, inline="always", **INLINE_OPTIONS)  # type: ignore[no-any-return]


def noinline(function: Function) -> Function:
    """Compile a rarely called helper that allocates nothing; kernels call it, which keeps their own code small."""
    return helper(function, _nrt=False, **OPTIONS)  # type: ignore[no-any-return]


def intrinsic(function: Callable[..., Any]) -> Any:
    """Define a function that emits LLVM code: `numba.extending.intrinsic`."""
    return numba.extending.intrinsic(function)


def entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that allocates nothing; its machine code is cached on disk."""
    return _cached(function, _nrt=False, **ENTRY_POINT_OPTIONS)


def allocating_entry_point(function: Function) -> Function:
    """Compile a kernel that Python calls and that may allocate arrays; its machine code is cached on disk."""
    return _cached(function)


def as_helper(entry: Function) -> Function:
    """The function of an entry point, compiled as a helper of other kernels."""
    return noinline(getattr(entry, "py_func", entry))


def _cached(function: Function, **options: Any) -> Function:
    home = cache_dir(function)
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(home or "")
    try:
        compiled = njit(cache=home is not None, no_cfunc_wrapper=True, **OPTIONS, **options)(function)
    finally:
        numba.config.CACHE_DIR = before
    check_calls(compiled)
    if compiled is not function:  # with NUMBA_DISABLE_JIT it is the function itself
        ENTRY_POINTS.append(compiled)
    if home is not None and compiled is not function:
        ignore_save_errors(compiled._cache)
        check_implementations(compiled._cache)
        make_portable(compiled._cache, str(home))
        separate_foreign_types(compiled._cache, str(home))
    return compiled  # type: ignore[no-any-return]


def make_portable(compiled_cache: Any, home: str) -> None:
    """Let machine code be found wherever the sources are installed: the name of `home` contains their digest.

    numba stores it by the path of the source file, and checks the time and size of that file.
    """
    file: Any = getattr(compiled_cache, "_cache_file", None)
    locator: Any = getattr(getattr(compiled_cache, "_impl", None), "locator", None)
    if not (hasattr(file, "_index_name") and hasattr(locator, "_cache_path")):  # in another version of numba
        return
    file._source_stamp = None
    use_folder(compiled_cache, home)


def use_folder(compiled_cache: Any, folder: str) -> None:
    """Read and write machine code in this folder."""
    file = compiled_cache._cache_file
    file._index_path = os.path.join(folder, file._index_name)
    file._cache_path = compiled_cache._impl.locator._cache_path = compiled_cache._cache_path = folder


def separate_foreign_types(compiled_cache: Any, home: str) -> None:
    """Keep machine code for types that other packages define in folders of their own, named after their modules.

    An index refers to the classes of all types in it, so a process without one of these modules cannot read it. An
    index whose classes no longer exist is treated as empty.
    """
    file: Any = getattr(compiled_cache, "_cache_file", None)
    if getattr(file, "_cache_path", None) != home:  # in another version of numba
        return
    load_index = file._load_index

    def try_load_index() -> Any:
        try:
            return load_index()
        except (ImportError, AttributeError):
            return {}

    def in_folder(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(signature: Any, *args: Any) -> Any:
            modules = sorted({one.__module__ for one in tuple_classes(signature)})
            foreign = "-".join(module for module in modules if module.partition(".")[0] != PACKAGE)
            use_folder(compiled_cache, os.path.join(home, re.sub(r"[^\w.-]", "_", foreign)[:100]) if foreign else home)
            try:
                return method(signature, *args)
            finally:
                use_folder(compiled_cache, home)

        return call

    file._load_index = try_load_index
    compiled_cache.load_overload = in_folder(compiled_cache.load_overload)
    compiled_cache.save_overload = in_folder(compiled_cache.save_overload)


def cached_versions(compiled: Any) -> dict[Any, Path]:
    """The files of machine code in the cache that an entry point can use on this machine, by signature."""
    code, folder = (getattr(compiled._cache, name, None) for name in ("_cache_file", "cache_path"))
    if code is None or folder is None:  # in another version of numba
        return {}
    machine = compiled.targetctx.codegen().magic_tuple()
    return {key[0]: Path(folder, file) for key, file in code._load_index().items() if key[1] == machine}


def ignore_save_errors(compiled_cache: Any) -> None:
    """Let a kernel run even if its machine code cannot be saved, such as on a full disk."""
    save = compiled_cache.save_overload

    def try_save(*args: Any) -> None:
        with suppress(OSError):
            save(*args)

    compiled_cache.save_overload = try_save


def check_implementations(compiled_cache: Any) -> None:
    """Let machine code be found only if the implementations for the types of its arguments are unchanged."""
    index_key = compiled_cache._index_key

    def extended_key(signature: Any, codegen: Any) -> tuple[Any, ...]:
        digests = [kernel_digest(IMPLEMENTATIONS[one]) for one in tuple_classes(signature) if one in IMPLEMENTATIONS]
        return (*index_key(signature, codegen), *digests)

    compiled_cache._index_key = extended_key


def tuple_classes(kinds: Iterable[Any]) -> Iterator[type]:
    """The NamedTuple classes among numba types, in them included."""
    for kind in kinds:
        if isinstance(kind, numba.types.BaseNamedTuple):
            yield kind.instance_class
            yield from tuple_classes(kind.types if isinstance(kind, numba.types.NamedTuple) else [kind.dtype])


def cache_dir(function: Callable[..., Any]) -> Path | None:
    """The cache folder for the machine code of a kernel, None if there is no cache; a new one replaces old ones."""
    owner = re.sub(r"[^\w.]", "_", f"{function.__module__}.{function.__qualname__}")
    return generation(owner, kernel_digest(function))


@cache
def generation(owner: str, digest: str) -> Path | None:
    """The cache folder of a kernel for one version of its sources; a temporary one if others can write to it."""
    parts = ("kernels", owner, digest)
    is_new = existing_folder(*parts) is None
    home, prepared = cache_folder(*parts), existing_folder(*parts)
    if prepared is None:
        return None
    if access := foreign_access(prepared):  # numba's files are pickles, which can contain any code
        compile_monitor.monitor.cache_problem = access
        return private_folder(owner)
    if home is None:
        return private_copy(prepared, owner)
    with suppress(OSError):
        home.touch()  # the time of the last use
    if is_new:
        remove_old_generations(home)
    return home


def private_copy(prepared: Path, owner: str) -> Path | None:
    """A temporary copy of a read-only cache folder, as in a container."""
    folder = private_folder(owner)
    try:
        if folder is not None:
            shutil.copytree(prepared, folder, copy_function=shutil.copyfile, dirs_exist_ok=True)
            for parent, _, _ in os.walk(folder):
                os.chmod(parent, 0o700)  # copytree copies the mode of folders, which may be read-only
    except OSError:
        return None
    return folder


def private_folder(owner: str) -> Path | None:
    """A temporary cache folder for a kernel, which numba creates; None if that is not possible."""
    parent = private_root()
    return None if parent is None else parent / owner


@cache
def private_root() -> Path | None:
    """The temporary folder of all kernels of this process, which is removed at exit; None if it cannot be created."""
    try:
        folder = tempfile.mkdtemp(prefix="embeddings-kernels-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def remove_old_generations(home: Path) -> None:
    """Remove the generations of a kernel next to `home` that are unused for long, and the oldest of too many."""
    with suppress(OSError):  # another process may be removing them too
        oldest = time.time() - MAX_UNUSED_DAYS * 86400
        others = sorted(((path.stat().st_mtime, path) for path in home.parent.iterdir() if path != home), reverse=True)
        for number, (last_used, path) in enumerate(others, 2):
            if number > MAX_GENERATIONS or last_used < oldest:
                shutil.rmtree(path, ignore_errors=True)
