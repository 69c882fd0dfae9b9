"""The beat table's two values that the mirror query and the card exchange both start from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """One row of a beat table (布位表): what happens, where, broken how, and what the passage is for.

    *own_scene* says that the writer already has a concrete scene for it, so nothing is looked up.
    *kind* is the type that the judging layer (判定层) gave it; left out, the method decides.

        >>> Node("被当众考问的新手妈妈", "月子中心", "用一串手上功夫顶回去", "留人").own_scene
        False
    """

    event: str
    scene: str
    method: str
    function: str
    own_scene: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Persona:
    """The account: its track (赛道) and the things that only it would have in the picture.

    >>> Persona("亲子", ("接送孩子", "保温桶")).items
    ('接送孩子', '保温桶')
    """

    track: str
    items: tuple[str, ...] = ()
