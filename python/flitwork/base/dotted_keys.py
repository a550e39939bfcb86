"""Keys with dots, ``workload.pattern.kind``: a field by its place, as studies and ``--set`` write it."""

from __future__ import annotations

from flitwork.base.errors import ConfigError


def parts(key: str, path: str) -> list[str]:
    """The names that ``key`` joins by dots; none may be empty. ``path`` says where the key stands."""
    names = key.split(".")
    if not all(names):
        close = ".".join(filter(None, names))
        hint = f"did you mean `{close}`?" if close else "name the field, such as workload.offered_load"
        raise ConfigError(path, f'"{key}"', "a name, or names with one dot between them", hint)
    return names
