"""What the story grammar knows of its world: who does what, where, and what is eaten.

Where the order of a list matters, what stands first is the most usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HOME = ("mat", "floor", "bed", "sofa", "chair", "rug", "basket")
YARD = ("grass", "step", "wall", "garden", "bench")
FARM = ("field", "barn", "hill", "yard", "meadow")
WATER = ("pond", "river", "lake", "bank")
HIGH = ("roof", "tree", "fence", "branch", "gate")


@dataclass(frozen=True)
class Animal:
    """How it rests, where, how it moves, what it says, what it eats, and how it gets away."""

    rests: tuple[str, ...]
    places: tuple[str, ...]
    moves: str
    says: str
    eats: tuple[str, ...]
    escapes: str


ANIMALS: Mapping[str, Animal] = {
    "cat": Animal(("sat", "slept", "lay"), HOME, "ran", "meow", ("milk", "fish", "cream"), "ran up the tree"),
    "dog": Animal(
        ("slept", "sat", "lay"),
        ("floor", *HOME[2:], "grass", "step", "garden"),
        "ran",
        "woof",
        ("bone", "meat", "water"),
        "ran home",
    ),
    "bird": Animal(("sat", "slept"), HIGH, "flew", "tweet", ("seed", "worm", "water"), "flew away"),
    "mouse": Animal(
        ("sat", "slept", "hid"),
        ("floor", "basket", "barn", "step"),
        "ran",
        "squeak",
        ("cheese", "corn", "bread"),
        "ran into a hole",
    ),
    "cow": Animal(("stood", "lay", "slept"), FARM, "walked", "moo", ("grass", "hay", "water"), "went home"),
    "horse": Animal(("stood", "slept"), FARM, "ran", "neigh", ("hay", "apple", "water"), "ran home"),
    "duck": Animal(("sat", "slept", "stood"), WATER, "swam", "quack", ("bread", "worm", "corn"), "swam away"),
    "pig": Animal(
        ("lay", "slept", "stood"),
        ("yard", *FARM[:3]),
        "walked",
        "oink",
        ("apple", "corn", "potato"),
        "ran home",
    ),
    "hen": Animal(
        ("sat", "stood", "slept"),
        ("yard", "fence", "barn", "step"),
        "walked",
        "cluck",
        ("corn", "seed", "worm"),
        "flew onto the fence",
    ),
    "rabbit": Animal(
        ("sat", "slept", "hid"),
        ("meadow", "grass", "field", "garden"),
        "hopped",
        "sniff",
        ("carrot", "grass", "apple"),
        "ran into a hole",
    ),
    "sheep": Animal(("stood", "lay", "slept"), FARM[::-1], "walked", "baa", ("grass", "hay"), "ran home"),
    "frog": Animal(
        ("sat", "slept"), ("bank", "pond", "grass", "lake"), "hopped", "croak", ("fly", "worm"), "swam away"
    ),
    "fox": Animal(
        ("lay", "slept", "hid"),
        ("hill", "meadow", "field", "bank"),
        "ran",
        "yip",
        ("egg", "meat", "water"),
        "ran into the forest",
    ),
    "owl": Animal(
        ("sat", "slept"), ("tree", "branch", "barn", "roof"), "flew", "hoot", ("worm", "mouse"), "flew away"
    ),
}
CHASES = (
    ("dog", "cat"),
    ("cat", "mouse"),
    ("cat", "bird"),
    ("fox", "hen"),
    ("dog", "rabbit"),
    ("owl", "mouse"),
    ("fox", "duck"),
    ("dog", "fox"),
    ("dog", "sheep"),
)

# Each place: the word before it, and what it may be like.
PLACES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "mat": ("on", ("soft", "warm", "new")),
    "floor": ("on", ("hard", "cold", "clean")),
    "bed": ("on", ("soft", "warm", "big")),
    "sofa": ("on", ("soft", "old", "big")),
    "chair": ("on", ("old", "hard", "new")),
    "rug": ("on", ("warm", "soft", "old")),
    "basket": ("in", ("small", "warm", "round")),
    "grass": ("on", ("green", "wet", "long")),
    "step": ("on", ("cold", "clean", "wet")),
    "wall": ("on", ("high", "old", "warm")),
    "garden": ("in", ("green", "quiet", "small")),
    "bench": ("on", ("hard", "wet", "long")),
    "field": ("in", ("green", "wide", "quiet")),
    "barn": ("in", ("dark", "warm", "big")),
    "hill": ("on", ("high", "green", "steep")),
    "yard": ("in", ("clean", "quiet", "small")),
    "meadow": ("in", ("green", "wide", "wet")),
    "pond": ("by", ("cold", "round", "small")),
    "river": ("by", ("wide", "deep", "cold")),
    "lake": ("by", ("deep", "wide", "quiet")),
    "bank": ("on", ("steep", "green", "wet")),
    "roof": ("on", ("high", "steep", "red")),
    "tree": ("in", ("high", "old", "green")),
    "fence": ("on", ("new", "high", "long")),
    "branch": ("on", ("long", "green", "thin")),
    "gate": ("on", ("old", "wide", "red")),
}
INDOORS = ("cat", "dog", "mouse")
KITCHEN = ("on the floor", "in the kitchen", "by the door")
OUTSIDE = ("garden", "yard", "field", "meadow", "hill")
MEETINGS = ("on the road", "by the river", "in the forest", "on the bridge", "at the market", "by the gate")

DRINKS = ("milk", "cream", "water", "tea")
UNCOUNTED = (*DRINKS, "meat", "fish", "cheese", "bread", "corn", "grass", "hay", "soup", "rice")

# A person's pronouns: who does something, and whose something is.
PEOPLE: Mapping[str, tuple[str, str]] = {
    "girl": ("she", "her"),
    "boy": ("he", "his"),
    "woman": ("she", "her"),
    "man": ("he", "his"),
    "farmer": ("he", "his"),
    "queen": ("she", "her"),
    "king": ("he", "his"),
    "grandmother": ("she", "her"),
    "baker": ("he", "his"),
}
COLOURS = ("red", "blue", "yellow", "green", "black", "white", "brown")
COATS = ("black", "white", "brown", "grey")
LOOKS = ("little", "big", "old", "young", "fat", "thin", *COATS)
FEELINGS = ("happy", "tired", "sad", "glad", "cold", "warm", "hungry")
TIMES = ("all day", "all night", "in the sun", "in the rain", "for a while")

THINGS = ("ball", "hat", "key", "book", "shoe", "ring", "doll", "coat", "spoon", "cup")
HIDING = (
    "under the bed",
    "in the box",
    "under the table",
    "behind the door",
    "in the kitchen",
    "on the shelf",
    "under the chair",
    "in the garden",
    "behind the house",
    "in the bag",
)
DISHES = ("cake", "soup", "pie", "bread", "pancake", "rice")
