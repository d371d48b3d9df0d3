"""frontload blame: says between which commits a startup profile lost its names."""

import argparse
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from frontload import __version__
from frontload.base import files
from frontload.base.errors import EXIT_OK, EXIT_VERDICT, Failure, count, printable
from frontload.cli.arguments import add_json, named

if TYPE_CHECKING:
    from frontload.blame.lives import Event, Life
    from frontload.blame.losses import Loss
    from frontload.blame.versions import Version

SCHEMA = "frontload-blame/1"
DESCRIPTION = """\
Say between which versions a startup profile lost its names. The versions are those that git has of
PROFILE, also under its earlier names, and the file itself if it has changed since; or, if there is
more than one PROFILE, these files, the oldest first.

Names are followed where they are renamed: by the rules by which links find them, and, with builds,
by their code. A function that only the newer build has, and that has the same instructions as one
that only the older build has, is taken for the same, if no other function has them. The addresses
in the instructions do not count. Each of these is a guess, and is shown with how it was made.

With builds, blame also tells whether the program still has a name that no start touches any more,
and finds narrower limits for when it was lost. With --name, blame shows the whole life of a name,
and the commits between its last version and the next that change how often the sources say it.
"""
EXAMPLES = """\
# all names that the profile has lost, with the commits between which that was
frontload blame app.startup
# the life of one name, by the builds of two releases
frontload blame app.startup --name parse --build v1.0=old/app --build v1.1=build/app
# in which of these files a name is lost; the objects of two of them find it under another name
frontload blame 1.startup 2.startup 3.startup --build 2.startup=old --build 3.startup=build
"""
EXIT_STATUS = {"1": "no version of the profile has the name that --name asks for"}
_SHOWN = 10  # names of each list, and commits
_WORD = re.compile(r"[A-Za-z_~][\w~]*")


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser("blame", description=DESCRIPTION, examples=EXAMPLES,
                              exit_status=EXIT_STATUS)
    parser.add_argument("profiles", metavar="PROFILE", nargs="+",
                        help="a startup profile that is checked in; or several, the oldest first")
    parser.add_argument("--name", metavar="NAME", action="append", default=[],
                        help="show only the lives of this name, which is a symbol or what people "
                        "call it; may be repeated")
    parser.add_argument("--build", metavar="VERSION=PATH", action="append", default=[],
                        type=named("VERSION=PATH"),
                        help="a build of a commit, tag or branch, or of one of several PROFILEs: "
                        "an object, an archive, a folder of these, or a linked program; may be "
                        "repeated, also for the same version")
    parser.add_argument("--objects", metavar="PATH", action="append", default=[],
                        help="an object, archive or program that is checked in, too: its versions "
                        "are builds; may be repeated")
    parser.add_argument("--all", action="store_true",
                        help="list all names and commits, not only the first")
    add_json(parser, "JSON, with all names,", before_files=True)
    return parser


def run(args: argparse.Namespace) -> int:
    # Imported here because numpy takes a while, which --help need not pay.
    from frontload.base.scratch import scratch_folder
    from frontload.blame import lives, versions
    from frontload.blame.git import Repository
    from frontload.blame.losses import Timeline

    repository = Repository(args.profiles[0]) if len(args.profiles) == 1 else None
    if args.objects and not repository:
        raise Failure("--objects: several profiles are given, so git is not asked",
                      note="give the objects of each with --build PROFILE=PATH")
    found = versions.of_git(repository, args.profiles[0]) if repository else \
        versions.of_files(args.profiles)
    given: dict[str, list[str]] = {}
    for version, path in args.build:
        given.setdefault(version, []).append(path)
    with scratch_folder("frontload-blame-") as folder:
        timeline = Timeline(found, repository, given, args.objects, folder)
        all_lives = lives.follow([each.profile for each in found], timeline.likeness)
        chosen, words = _choose(all_lives, args.name)
        lost = [life for life in chosen if life.lost]
        losses = timeline.losses([(life.lost, words.get(id(life), "")) for life in lost])
        losses_of = {id(life): loss for life, loss in zip(lost, losses, strict=True)}
        described = [_describe(life, found, losses_of.get(id(life))) for life in chosen]
    document = {"schema": SCHEMA, "frontload": __version__,
                "versions": [_version(each) for each in found], "names": described}
    if args.json:
        files.write_json(args.json, document)
    if args.json != files.STDOUT:
        most = None if args.all else _SHOWN
        if args.name:
            _show_lives(document, most)
        else:
            _show_losses(document, most)
    return EXIT_OK


def _choose(all_lives: "list[Life]", wanted: list[str]) -> "tuple[list[Life], dict[int, str]]":
    """The lives to be shown, and what sources call each of them, if it was asked for."""
    from frontload.base.demangle import demangled
    from frontload.elf.functions import is_called, word_of

    if not wanted:
        return [life for life in all_lives if life.lost], {}
    shown = demangled(name.name for life in all_lives for name in life.names() if name.has_symbol)
    chosen, words = [], {}
    for asked in wanted:
        found = [life for life in all_lives for name in life.names() if name.has_symbol and (
            name.name == asked.encode() or is_called(shown[name.name], asked))]
        if not found:
            raise Failure(f"{asked}: no version of the profile has this name", code=EXIT_VERDICT,
                          note="give a symbol, or what people call it; frontload show --all lists "
                          "those of one version")
        known = {id(life) for life in chosen}
        chosen += {id(life): life for life in found if id(life) not in known}.values()
    for life in chosen:
        word = word_of(shown[life.name.name])
        words[id(life)] = word if _WORD.fullmatch(word) else ""
    return chosen, words


def _version(version: "Version") -> dict:
    commit = version.commit
    return {"version": version.label, "path": version.path, "names": len(version.profile.touches),
            "commit": commit and {"hash": commit.hash, "date": commit.date,
                                  "subject": commit.subject}}


def _describe(life: "Life", versions: "list[Version]", loss: "Loss | None") -> dict:
    from frontload.profile import summary

    def describe(event: "Event") -> dict:
        return {"what": event.what, "before": event.before if event.before >= 0 else None,
                "after": event.after, "name": summary.text(event.name.name),
                "how": event.how or None}

    name = summary.entry(versions[life.last_seen].profile, life.name)
    return {**{key: name[key] for key in ("name", "kind", "class", "file")},
            "events": [describe(event) for event in life.events],
            "lost": _loss(loss) if loss else None}


def _loss(loss: "Loss") -> dict:
    from frontload.profile import summary

    return {"first": loss.first, "last": loss.last, "commits": loss.commits,
            "suspects": [{"hash": each.hash, "date": each.date, "subject": each.subject,
                          "shown": str(each)} for each in loss.suspects],
            "builds": [{"build": each.label, "has": each.has} for each in loss.builds],
            "in_program": loss.in_program,
            "now": loss.now and {"name": summary.text(loss.now.symbol), "bytes": loss.now.size}}


def _show_head(document: dict) -> None:
    found = document["versions"]
    print(f"{count(len(found), 'version')} of the profile, from {printable(found[0]['version'])} "
          f"to {printable(found[-1]['version'])}")


def _called(name: dict) -> str:
    return printable(name["name"] + (f"  ({name['file']})" if name["file"] else ""))


def _between(lost: dict) -> str:
    commits = "" if lost["commits"] is None else f": {count(lost['commits'], 'commit')}"
    return f"between {printable(lost['first'])} and {printable(lost['last'])}{commits}"


def _guesses(name: dict) -> Iterator[str]:
    """What is known of a lost name besides where that was, a line each."""
    lost = name["lost"]
    if lost["in_program"]:
        yield "the program still had it then, and no start touches it any more"
    if lost["now"]:
        yield (f"its code is now that of {lost['now']['name']} "
               f"({count(lost['now']['bytes'], 'byte')}), a guess")


def _show_losses(document: dict, most: int | None) -> None:
    _show_head(document)
    print(f"lost, and not seen since: {count(len(document['names']), 'name')}")
    places: dict[str, list[dict]] = {}
    for name in document["names"]:
        places.setdefault(_between(name["lost"]), []).append(name)
    for place, names in places.items():
        print(f"{place}: {count(len(names), 'name')}")
        for name in names[:most]:
            print(f"  {_called(name)}" + "".join(f"; {printable(guess)}"
                                                 for guess in _guesses(name)))
        _and_more(len(names), most, "name")


def _and_more(total: int, most: int | None, noun: str) -> None:
    if most is not None and total > most:
        print(f"  and {count(total - most, 'other ' + noun)} (--all shows all)")


def _show_lives(document: dict, most: int | None) -> None:
    _show_head(document)
    labels = [printable(each["version"]) for each in document["versions"]]
    for name in document["names"]:
        print(_called(name))
        for event in name["events"][:-1 if name["lost"] else None]:
            print(f"  {_event(event, labels)}")
        if name["lost"]:
            _show_loss(name, most)
        else:
            print("  is in the newest version")


def _event(event: dict, labels: list[str]) -> str:
    if event["what"] == "lost":
        return f"lost: between {labels[event['before']]} and {labels[event['after']]}"
    called = ""
    if event["how"]:
        called = f"{printable(event['name'])}, a guess by {event['how']}, in "
    return f"{event['what']}: {called}{labels[event['after']]}"


def _show_loss(name: dict, most: int | None) -> None:
    lost = name["lost"]
    print(f"  lost: {_between(lost)}")
    for each in lost["builds"]:
        print(f"  {printable(each['build'])} {'has' if each['has'] else 'lacks'} it")
    for guess in _guesses(name):
        print(f"  {printable(guess)}")
    if lost["suspects"]:
        print("  commits that change how often the sources say it:")
    for each in lost["suspects"][:most]:
        print(f"    {printable(each['shown'])}")
    _and_more(len(lost["suspects"]), most, "commit")
