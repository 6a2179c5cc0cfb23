"""A grammar of our own that writes little stories, for the story model to learn from.

A story is words with blanks between them; a full stop, as a word of its own, ends each sentence. Who comes
with "a" comes back with "the", or as "it", "he" or "she"; what was lost is what is found. So whoever reads
the whole story predicts better than whoever reads its last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log
from random import Random
from typing import TypeVar
from zlib import crc32

from parameters.story_words import (
    ANIMALS,
    CHASES,
    COATS,
    COLOURS,
    DISHES,
    DRINKS,
    FEELINGS,
    HIDING,
    INDOORS,
    KITCHEN,
    LOOKS,
    MEETINGS,
    OUTSIDE,
    PEOPLE,
    PLACES,
    THINGS,
    TIMES,
    UNCOUNTED,
)

LONGEST = 62  # words of a story, so that it fits 64 positions with its start and its end
AGAIN = 0.6  # chance that what may be repeated comes once more, until it has come often enough
HELD_OUT = 20  # one text in so many is never trained on

Option = TypeVar("Option")


class Writer:
    """Makes a story's choices, and keeps count of their probability.

    log_probability : natural logarithm of the probability of all choices so far, in nats.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.log_probability = 0.0

    def weigh(self, options: Mapping[Option, float]) -> Option:
        """One of the options, by their weights."""
        total = sum(options.values())
        edges = accumulate(weight / total for weight in options.values())
        draw = self._random.random()  # the one method whose numbers stay the same in every Python
        inside = (option for option, edge in zip(options, edges, strict=True) if draw < edge)
        option = next(inside, list(options)[-1])
        self.log_probability += log(options[option] / total)
        return option

    def usual(self, options: Sequence[Option], but: Sequence[Option] = ()) -> Option:
        """One of the options but those left out, the n-th with a weight of 1/n."""
        left = [option for option in options if option not in but]
        return self.weigh({option: 1 / number for number, option in enumerate(left, 1)})

    def any(self, *options: Option, but: Sequence[Option] = ()) -> Option:
        """One of the options but those left out, each with the same probability."""
        return self.weigh({option: 1.0 for option in options if option not in but})

    def chance(self, share: float) -> bool:
        """True with a probability of `share`."""
        return self.weigh({True: share, False: 1 - share})


def at(place: str) -> str:
    """A place with the word before it: "on the mat"."""
    return f"{PLACES[place][0]} the {place}"


def a(*words: str) -> str:
    """What comes up for the first time: "a cat", "an old cat", "some milk"."""
    if words[-1] in UNCOUNTED:
        return " ".join(("some", *words))
    return " ".join(("an" if words[0][0] in "aeo" else "a", *words))


def had(food: str) -> str:
    """How something goes down: "drank the milk", "ate the bone"."""
    return f"{'drank' if food in DRINKS else 'ate'} the {food}"


def resting(writer: Writer) -> list[str]:
    """The cat sat on the mat, and perhaps how it was there, or who else was somewhere."""
    hero = writer.usual(list(ANIMALS))
    verb, place = writer.usual(ANIMALS[hero].rests), writer.usual(ANIMALS[hero].places)
    time = f" {writer.any(*TIMES)}" if writer.chance(0.15) else ""
    story = [f"the {hero} {verb} {at(place)}{time}"]
    more = writer.weigh({"nothing": 4, "other": 3, "place": 2, "guest": 1})
    if more == "other":
        other = writer.usual(list(ANIMALS), but=(hero,))
        there = writer.usual(ANIMALS[other].places, but=(place,))
        too = f"the {other} {writer.usual(ANIMALS[other].rests)} {at(there)}"
        if writer.chance(0.4):
            return [f"{story[0]} and {too}"]
        return [*story, too]
    if more == "place":
        story.append(f"the {place} was {writer.any(*PLACES[place][1])}")
        if writer.chance(0.7):
            story.append(f"the {hero} was {writer.any(*FEELINGS)}")
        if writer.chance(0.4):
            story.append(f"soon it {writer.any('slept', 'went home', 'went away', but=(verb,))}")
    if more == "guest":
        other = writer.usual(list(ANIMALS), but=(hero,))
        story += [f"{a(other)} came by", f"{ANIMALS[other].says} said the {other}"]
        story.append(f"the {hero} {writer.any('was glad', 'was afraid', 'looked up', 'went away')}")
    return story


def needing(writer: Writer) -> list[str]:
    """Someone is hungry or thirsty, finds something, and has it."""
    hero, look = writer.usual(list(ANIMALS)), writer.any(*LOOKS)
    animal = ANIMALS[hero]
    food = writer.any(*animal.eats)
    where = writer.any(*KITCHEN) if hero in INDOORS else at(writer.usual(animal.places))
    very = ""
    while len(very) < 40 and writer.chance(AGAIN if very else 0.4):
        very += "very "
    story = [
        f"{writer.any('there was', 'once there was', 'one day there was')} {a(look, hero)}",
        f"it was {very}{'thirsty' if food in DRINKS else 'hungry'}",
        f"it {writer.any('found', 'saw')} {a(food)} {where}",
        f"the {hero} {had(food)}",
    ]
    close = writer.any("then it slept", "then it went home", "the hero was")
    if close == "the hero was":
        return [*story, f"the {look} {hero} was {writer.any('happy', 'glad')}"]
    return [*story, close + (f" {at(writer.usual(animal.places))}" if close.endswith("slept") else "")]


def chasing(writer: Writer) -> list[str]:
    """One animal runs after another, which gets away."""
    hunter, prey = writer.usual(CHASES)
    story = [f"{a(hunter)} saw {a(prey)} {at(writer.any(*OUTSIDE))}"]
    if writer.chance(0.3):
        story.append(f"{ANIMALS[hunter].says} said the {hunter}")
    story.append(f"the {hunter} {'flew' if hunter == 'owl' else 'ran'} after the {prey}")
    if writer.chance(0.3):
        story.append(f"{ANIMALS[prey].says} said the {prey}")
    story.append(f"the {prey} {ANIMALS[prey].escapes}")
    close = writer.any(f"the {hunter} was", f"then the {hunter} went home", f"the {hunter} waited and waited")
    feeling = f" {writer.any('angry', 'sad', 'tired')}" if close.endswith("was") else ""
    return [*story, close + feeling]


def searching(writer: Writer) -> list[str]:
    """Someone has lost something and looks in one place after the other, in none of them twice."""
    who, thing = writer.usual(list(PEOPLE)), writer.any(*THINGS)
    she, her = PEOPLE[who]
    story = [f"{writer.any('a', 'the')} {who} lost {her} {thing}"]
    seen = [writer.any(*HIDING)]
    story.append(f"{she} looked {seen[0]}")
    while len(seen) < 5 and writer.chance(AGAIN):
        seen.append(writer.any(*HIDING, but=seen))
        story += ["it was not there", f"{she} looked {seen[-1]}"]
    story += ["it was there", f"the {who} {writer.any('was happy', 'laughed', f'took the {thing} home')}"]
    return story


def throwing(writer: Writer) -> list[str]:
    """Something is thrown, and brought back, and thrown again."""
    who, colour = writer.usual(("boy", "girl", "man", "woman")), writer.any(*COLOURS)
    she, her = PEOPLE[who]
    thing = writer.usual(("ball", "stick", "shoe"))
    story = [f"a {who} had {a(colour, thing)}", f"{she} threw the {thing}", f"{her} dog brought it back"]
    while len(story) < 9 and writer.chance(AGAIN):
        story += [f"{she} threw the {thing} again", f"{her} dog brought it back"]
    story.append(f"then the {writer.any('dog', who)} was tired")
    if writer.chance(0.5):
        story.append(f"they {writer.any('went home', 'sat on the grass', 'slept in the sun')}")
    return story


def running(writer: Writer) -> list[str]:
    """Someone runs and runs and runs."""
    hero = writer.usual(list(ANIMALS))
    verb = ANIMALS[hero].moves
    far = f"{verb} and {verb}"
    while len(far) < 80 and writer.chance(AGAIN):
        far += f" and {verb}"
    story = [
        f"the {hero} {far}",
        writer.any("then it was tired", "at last it came home", "it was very happy"),
    ]
    if writer.chance(0.5):
        story.append(f"it slept {at(writer.usual(ANIMALS[hero].places))}")
    return story


def meeting(writer: Writer) -> list[str]:
    """Two meet, and greet each other."""
    one = writer.usual(list(ANIMALS))
    other = writer.usual(list(ANIMALS), but=(one,))
    time = writer.any("morning", "day", "evening")
    return [
        f"one {time} {a(one)} met {a(other)} {writer.any(*MEETINGS)}",
        f"good {time} said the {one}",
        f"good {time} said the {other}",
        f"then the {one} and the {other} {writer.any('went home', 'sang a song', 'danced', 'were friends')}",
    ]


def talking(writer: Writer) -> list[str]:
    """An animal says what its kind says, and is given what its kind eats."""
    hero, who = writer.usual(list(ANIMALS)), writer.usual(list(PEOPLE))
    animal = ANIMALS[hero]
    story = [f"{a(hero)} {writer.usual(animal.rests, but=('slept',))} {at(writer.usual(animal.places))}"]
    story.append(f"{animal.says} said the {hero}")
    if writer.chance(0.3):
        return [*story, f"the {who} {writer.any('laughed', 'smiled', 'came out')}"]
    food = writer.any(*animal.eats)
    return [*story, f"the {who} gave it {a(food)}", f"the {hero} {had(food)}"]


def comparing(writer: Writer) -> list[str]:
    """Two of a kind that differ in colour, and how each of them was."""
    hero = writer.usual(("cat", "dog", "bird", "mouse", "horse", "cow"))
    animal, one = ANIMALS[hero], writer.any(*COATS)
    other = writer.any(*COATS, but=(one,))
    verb = writer.any("played", *animal.rests)
    return [
        f"a {one} {hero} and a {other} {hero} {verb} {at(writer.usual(animal.places))}",
        f"the {one} {hero} was {writer.any(*FEELINGS[:3])}",
        f"the {other} {hero} was {writer.any(*FEELINGS[3:])}",
        f"then the {writer.any(one, other)} {hero} {animal.moves} away",
    ]


def weather(writer: Writer) -> list[str]:
    """What the day was like, and what was done about it."""
    day = writer.any("cold", "hot", "rainy", "windy")
    hero = writer.usual(("cat", "girl", "dog", "boy", "woman", "mouse", "man"))
    it, _ = PEOPLE.get(hero, ("it", "its"))
    story = [f"it was a {day} day"]
    if day == "cold":
        story.append(f"the {hero} {writer.any('went into the house', 'came home', 'came in')}")
        story.append(f"{it} {writer.any('sat', 'slept', 'lay')} by the {writer.any('fire', 'stove')}")
        return [*story, f"soon {it} was warm"]
    if day == "hot":
        story.append(f"the {hero} went to the {writer.any('river', 'pond', 'lake')}")
        story.append(f"{it} {writer.any('drank some water', 'swam in the water', 'sat in the water')}")
        return [*story, f"then {it} slept under {writer.any('the tree', 'the bridge')}"]
    if day == "rainy":
        fell = "fell and fell"
        while len(fell) < 60 and writer.chance(AGAIN):
            fell += " and fell"
        story += [f"the rain {fell}", f"the {hero} was {writer.any('wet', 'cold', 'sad')}"]
        return [*story, f"{it} {writer.any('ran into the house', 'went home', 'looked for the sun')}"]
    who = writer.any(*PEOPLE, but=(hero,))
    thing = writer.any("hat", "coat", "kite")
    story += [f"the {who} had a new {thing}", f"the wind took the {thing}", f"the {hero} ran after it"]
    return [*story, writer.any(f"the {hero} brought the {thing} back", f"the {thing} was in the tree")]


def cooking(writer: Writer) -> list[str]:
    """A dish is made, and eaten by whom it was not made for."""
    who, dish = writer.any("woman", "grandmother", "man", "baker", "girl"), writer.any(*DISHES)
    she, _ = PEOPLE[who]
    thief = writer.any("dog", "cat", "pig", "mouse", "bird", "fox")
    story = [
        f"the {who} made {a(dish)}",
        f"{she} put the {dish} {writer.any('on the table', 'by the window', 'on the shelf')}",
        f"{a(thief)} came into the kitchen",
        f"the {thief} ate the {dish}",
    ]
    if writer.chance(0.5):
        return [*story, f"the {who} was angry", f"the {thief} {ANIMALS[thief].moves} away"]
    more = "some more" if dish in UNCOUNTED else "another"
    return [*story, f"the {who} laughed", f"{she} made {more} {dish}"]


def giving(writer: Writer) -> list[str]:
    """Somebody gives somebody something."""
    giver, who = (
        writer.any("queen", "king", "grandmother", "farmer"),
        writer.any("girl", "boy", "woman", "man"),
    )
    colour, thing = writer.any(*COLOURS), writer.any("hat", "coat", "ring", "ball", "book", "cup")
    she, _ = PEOPLE[who]
    story = [f"the {giver} gave the {who} {a(colour, thing)}"]
    if thing in ("hat", "coat", "ring") and writer.chance(0.6):
        story += [f"{she} put it on", f"it was too {writer.any('big', 'small')}"]
        return [*story, f"the {who} gave the {colour} {thing} back"]
    return [*story, f"{she} liked the {colour} {thing}", f"thank you said the {who}"]


FORMS: Mapping[Callable[[Writer], list[str]], float] = {
    resting: 24,
    needing: 12,
    chasing: 10,
    searching: 9,
    throwing: 7,
    running: 7,
    meeting: 6,
    talking: 7,
    comparing: 5,
    weather: 6,
    cooking: 4,
    giving: 4,
}


@dataclass(frozen=True)
class Story:
    """A story's words, and its log-probability under the grammar in nats.

    Where two ways lead to the same words, the log-probability is that of the way taken.
    """

    text: str
    log_probability: float

    @property
    def held_out(self) -> bool:
        """Whether it is kept from training. The text decides, so that no copy of it is trained on."""
        return crc32(self.text.encode()) % HELD_OUT == 0


def write(random: Random) -> Story:
    """One story."""
    while True:
        writer = Writer(random)
        sentences = writer.weigh(FORMS)(writer)
        text = " ".join(f"{sentence} ." for sentence in sentences)
        if len(text.split()) <= LONGEST:
            return Story(text, writer.log_probability)


def stories(seed: int) -> Iterator[Story]:
    """Stories without end; the same seed gives the same ones."""
    random = Random(seed)
    while True:
        yield write(random)
