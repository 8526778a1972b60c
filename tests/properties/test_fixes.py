"""The laws of fixes: a safe one only adds quotes and the like, an unsafe one asks for nothing else and nothing less.

Both are held against what is written by readers of their own: no pattern or table of the suggestions is used here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source
from evalc.diagnostics import Problem
from evalc.diagnostics.fixing import applied, ends_the_file, fixed
from evalc.grammar.nodes import PatternAtom
from evalc.grammar.read_check import read_check
from evalc.translate import translated
from tests.support.laws import examples

HEAD = """\
suite: s
eval:
  criteria: [tone, waiting]
  test_cases:
    - name: a
      message: hi
      validate:
"""

BEGINNINGS = [
    each.strip()
    for each in """
    contains|not contains|contains any of|not contains any of|does not contain|doesn't contain|never contains
    includes|mentions|must not mention|icontains|not icontains|ncontains|notcontains|not-contains|not_contains
    Contains|containz|matches|not matches|match|equals|not equals|is|is not|is equal to|==|!=|starts with|startsWith
    begins with|ends with|similar to|judge|json matching|json|is json|non-empty|NonEmpty|not empty|is not empty
    has fields|has headings|has heading|tools called|tool called|tools not called|tools only|tools in order
    tools include|tools includes|no tools|no tool errors|no errors|tool x.q|tool x.q not|tool x.q equals
    tool x.q one of|tool x.q is|tool x.q is not|tool book.nights >|tool book.nights >=|any call of book has
    any call of book has city|no call of book has city|every call of book has|call 2 of book has|at items[0].price
    at $.total|at a.b contains|at a.b not contains|at a.b count|at a.b equals|response contains
    the response should contain|turn 2 contains|length|length >|length <|length at least|length between|max|min
    latency|latency <|latency under|tokens|tokens <|total-tokens|tool count|tool_error_count|tool count >|cost
    cost <|count|numbers from|quotes from|check f(|contains at least 2 of|contains all of
    """.replace("\n", "|").split("|")
    if each.strip()
]
BEGINNINGS += [
    f"tool x.q {test} {link}"
    for test in ("exists", 'not equals "a"', 'contains "b"')
    for link in ("and", "or", "and not")
]
PIECES = [
    each.strip()
    for each in """
    Q&A|A|B|secret|password|secret, password|text message|one moment|thanks for waiting|'Total: 5'|"a: b"|"a, b"
    # why|"a"|'b'|"a", "b"|["a", "b"]|[a, b]|[search]|search|search, book|search&book|get_weather|Tokyo|New York
    hello world|an email address|a number|a table|a question mark|a capital letter|bullet points|url|schema a.json
    /x/i|\\d+|https?|for tone|for waiting|for Tone|ignoring case|ignore case|case-insensitive|(case insensitive)|and
    or|&&|!|and not|or contains|not|no|never|none|any of|one of|>|>=|<|<=|==|=|at least|at most|more than|less than
    exactly|between|5|20 words|30 characters|10 and 20|10..20|2s|500 ms|3 seconds|1.5 minutes|0|-1|0.8|80%|4/5|$0.05
    Summary and Risks|Summary, Risks|Summary, Next steps|exists|is null|empty|required|as string|“hi”|`hi`|it's|: x
    note: x|{a: b}|{{x}}|Paris|OK|東京|-|,|;|(|)|[|]|"|'|/|\\|Total: 5|equals 5|PATH|TOOL|has city Paris|once|twice
    tools|message|sorry
    """.replace("\n", "|").split("|")
    if each.strip()
] + ["A|B", "/a|b/", "^(a|b)$", "||", "ssn|password", "Tokyo", "Paris", "hello", '"x"', "'x'", "5", "10 words"]
PIECES += [
    "'a' 'b'",
    '"a" or "b"',
    'contains "b"',
    "equals 'a'",
    "matches /x/",
    "not contains 'a'",
    "bob ignoring case",
    "bob for tone",
    "/bob/i",
]


def drawn_line(seed: int) -> str:
    """The beginning of a check, right or not, and what may follow it; all of them are equally likely."""
    random = Random(seed)
    begin = random.choice(BEGINNINGS if random.random() < 0.9 else PIECES)
    glue = random.choice([" "] * 8 + [": ", "  ", ", ", ""])
    if random.random() < 0.2:  # a key and its value, which may be empty
        return f"{begin}: {' '.join(random.choices(PIECES, k=random.choice([0, 1, 1, 2, 3])))}".strip()
    pieces = random.choices(PIECES, k=random.choice([0, 1, 1, 1, 1, 1, 2, 2, 3, 4]))
    if random.random() < 0.1:
        pieces.insert(0, "".join(random.choices("aZ&|'\":#,[]%!=<>/ ", k=random.randint(1, 4))))
    return glue.join([begin, *pieces]).strip()


LINES = st.integers(0, 2**60).map(drawn_line)
SHAPES = st.sampled_from(["        - {0}\n", "        - {0}\n", "        - {0}  # why\n", "        [non-empty, {0}]\n"])
"""The line as an item of a block and of a list in brackets, which are taken apart by YAML in other ways."""


def written(line: str, shape: str) -> Source:
    return Source("a.eval.yaml", HEAD + shape.format(line))


def errors(problems: Sequence[Problem]) -> Counter[str]:
    return Counter(problem.code for problem in problems if problem.severity == "error")


def fixes_of(source: Source) -> list[Source]:
    """The source after each fix alone: it leaves fewer errors and no new one, or the file is read further."""
    found = []
    before = evalc.check(source)
    for problem in before:
        if problem.fix is not None and not is_translation(problem, source):
            edit = problem.fix.edit
            after = Source(source.name, applied(source.text, [edit]))
            left = evalc.check(after)
            mended = errors(left) < errors(before) or problem.severity == "warning"
            read_on = ends_the_file(problem) and all(each.span.start > edit.end for each in left)
            assert mended or read_on, (source.text, after.text)
            found.append(after)
    return found


def is_translation(problem: Problem, source: Source) -> bool:
    """Whether a fix writes what the translator says, of which other laws hold."""
    if problem.code == "EV163":
        return True
    lines = line_of(source).split("\n")
    written = str(problem.finding.fields.get("line", ""))
    bodies = [body for line in lines for body in (line, re.sub(r"\s+for\s+\S+$", "", line))]
    return any(found is not None and found.line in written for found in map(translated, bodies))


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""As evalc reads YAML; PyYAML's own parser takes a `?` in brackets for a sign."""


def line_of(source: Source) -> str:
    """The lines of the checks, as YAML reads them; empty if one is not text."""
    try:
        (case,) = yaml.load(source.text, LOADER)["eval"]["test_cases"]
    except yaml.YAMLError:
        return ""
    items = case["validate"]
    if items[0] == "non-empty":  # of the shape
        items = items[1:] or items
    return "\n".join(items) if all(isinstance(item, str) for item in items) else ""


# --- safe fixes ------------------------------------------------------------------------------------------------------


def holds_for_safe_fixes(line: str, shape: str) -> bool:
    """Whether there was a safe fix, of which all holds that is promised."""
    source = written(line, shape)
    result = fixed(source, evalc.check(source), evalc.check, selected=lambda _: True)
    if not result.fixes:
        return False
    assert only_gains(source.text, result.text, "\"'[],% "), result.text
    after = Source(source.name, result.text)
    assert not errors(evalc.check(after)), result.text
    for check in filter(None, line_of(after).split("\n")):  # a mapping is no line
        parsed = read_check(check).node
        assert parsed is not None, result.text
        for atom in parsed.places:
            assert (atom.pattern if isinstance(atom, PatternAtom) else atom.value) in source.text, result.text
        bare = re.sub(r"\"[^\"]*\"|'[^']*'", "", line)
        assert check == line or not NEGATED_OR_JOINED.search(rest_of(check, bare)), result.text
    return True


NEGATED_OR_JOINED = re.compile(r"[&|]|\b(?:and|or|not|any|one|for)\b")


def rest_of(fixed: str, bare: str) -> str:
    """The part of the bare words that became a text."""
    return " ".join(text for text in re.findall(r'"([^"]*)"', fixed) if text in bare)


def only_gains(before: str, after: str, characters: str) -> bool:
    """Whether the text is still there, character by character, and only these came to it."""
    rest = iter(after)
    for character in before:
        for found in rest:
            if found == character:
                break
            if found not in characters:
                return False
        else:
            return False
    return set(rest) <= set(characters)


# --- unsafe fixes ----------------------------------------------------------------------------------------------------

WORD = re.compile(r"[^\W\d_]+")
SAME = {
    **dict.fromkeys(["does", "do", "doesn", "must", "mustn", "should", "never", "is", "isn", "t", "to", "be"], ""),
    **dict.fromkeys(["contain", "include", "mention", "mentions", "icontains"], "contains"),
    **dict.fromkeys(["match", "regex"], "matches"),
    **dict.fromkeys(["equal"], "equals"),
    **dict.fromkeys(["start", "begins", "begin"], "starts"),
    **dict.fromkeys(["end"], "ends"),
    **dict.fromkeys(["ignore", "insensitive"], "ignoring"),
    **dict.fromkeys(["characters", "character"], "chars"),
    **dict.fromkeys(["seconds", "second", "sec"], "s"),
    **dict.fromkeys(["minutes", "minute"], "m"),
    **dict.fromkeys(["milliseconds"], "ms"),
    **dict.fromkeys(
        ["at", "least", "most", "more", "less", "than", "max", "min", "between", "exactly", "under", "with"], ""
    ),
    "includes": "",
}
"""The words that may go, each with the word that must be there for it, if any."""
NEGATION = re.compile(
    r"(?<![\w-])(?:not|never|non|without)(?![\w])|(?<=n)['\u2019]t\b|(?<![\w])!=?|(?<![\w-])no(?:ne)?(?![\w-])"
)
NEGATED_NAME = re.compile(r"(?i)(?<![a-z])(?:not[-_]?|n)(?=(?:i?contains|equals|matches|called)\w?\b)")
ANY_CASE = re.compile(r"(?i)(?<![a-z])i(?=contains|equals|matches)|ignor|insensitive|/\w*i\w*(?![/\w])")
MORE, LESS = r"(?:>(?!=)|over|above|more than)", r"(?:<(?!=)|under|below|less than|fewer than)"


COMMENT = re.compile(r"(?:^|[\s\]])#.*")


def holds_for_all_fixes(line: str, shape: str) -> bool:
    """Whether there was a fix; each asks for what was written, and for no less."""
    source = written(line, shape)
    found = fixes_of(source)
    for after in found:
        fixed_line = line_of(after).replace("\n", ", ")
        if not fixed_line:  # a mapping with keys of its own, for which more is written
            assert "PATH" not in after.text or "PATH" in source.text
            continue
        kept = re.sub(" +,", ",", line)
        if fixed_line in (line, kept):  # all of it stands in quotes
            continue
        comment = COMMENT.search(kept)
        if comment is not None and comment[0].strip()[:2] not in fixed_line:
            kept = kept[: comment.start()]
        keeps_words(kept, fixed_line)
        texts_are_bare_words(kept, fixed_line)
        subject_is_the_same(kept, fixed_line)
        keeps_negations_and_case(kept, fixed_line)
        keeps_bounds(kept, fixed_line)
    return bool(found)


def keeps_words(line: str, fixed: str) -> None:
    line = re.sub(r"\bbetween (\d+) and (\d+)", r"\1 \2", line)
    words, left = Counter(WORD.findall(line.lower())), Counter(WORD.findall(fixed.lower()))
    for word, times in words.items():
        if left[word] >= times:
            continue
        near = [new for new in left - words if new[0] == word[0] and abs(len(new) - len(word)) <= 3]
        joined = [new for new in left - words if new in word]
        assert word in SAME or near or joined, (line, fixed)
        assert not SAME.get(word) or left[SAME[word]], (line, fixed)
    node = read_check(fixed).node
    assert node is not None or "," in line, (line, fixed)
    for atom in () if node is None else node.places:
        text = atom.pattern if isinstance(atom, PatternAtom) else atom.value
        assert text in line or text in yaml_text(line), (line, fixed)
    for number in re.findall(r"\d+(?:\.\d+)?", line):
        assert number in fixed or re.search(rf"(?:{MORE}|{LESS}) ?{number}", line), (line, fixed)
    assert not re.search(r"\b(?:PATH|TOOL|NAME|PARAM)\b|\bcall N\b", fixed) or re.search("PATH|TOOL", line), fixed


LANGUAGE = re.compile(r"(?i)[&|]{2}|\b(?:and|or|not|any|for|ignor\w*|case|contains|equals|matches|tools?)\b|^/.*/\w*$")


def texts_are_bare_words(line: str, fixed: str) -> None:
    """A text that was in no quotes is not empty, and nothing of the language is in it."""
    node = read_check(fixed).node
    texts = [] if node is None else [each.value for each in node.places if not isinstance(each, PatternAtom)]
    for text in texts:
        in_quotes = rf"""["'“`]{re.escape(text)}["'”`]"""
        if not re.search(in_quotes, line) and not re.search(in_quotes, yaml_text(line)):
            assert text, (line, fixed)
            assert not re.search(r"""(['"]).*\1.*\1""", text), (line, fixed)
            assert not LANGUAGE.search(text) or not re.search(in_quotes, fixed), (line, fixed)


def subject_is_the_same(line: str, fixed: str) -> None:
    """A check that a parameter can have as well does not become one of the response."""
    if "response" not in line:
        assert not re.search(r"\bresponse (?:not )*(?:contains|equals|matches)\b", fixed), (line, fixed)


def yaml_text(line: str) -> str:
    """The line with the escapes of quoted YAML undone."""
    return line.replace("''", "'")


def keeps_negations_and_case(line: str, fixed: str) -> None:
    line, fixed = re.sub(r"non-empty|NonEmpty|not empty", "", line), re.sub(r"non-empty|not empty", "", fixed)
    bare = NEGATED_NAME.sub("not ", line)
    assert len(NEGATION.findall(bare)) == len(NEGATION.findall(fixed)), (line, fixed)
    assert not ANY_CASE.search(line) or ANY_CASE.search(fixed), (line, fixed)


def keeps_bounds(line: str, fixed: str) -> None:
    for sign, shift, least in ((MORE, 1, ">="), (LESS, -1, "<=")):
        for number in re.findall(rf"{sign} ?(\d+)(?![\d.])", line):
            quoted = f'"{number}' in fixed or re.search(rf"{sign} ?{number}", fixed)
            assert quoted or f"{least} {int(number) + shift}" in fixed, (line, fixed)
    for words, sign in ((">=|at least|min", ">="), ("<=|at most|max", "<="), ("(?<![<>=!])==?(?!=)|exactly", "==")):
        for number in re.findall(rf"(?:{words}) ?(\d+)", line):
            assert re.search(rf"(?:{sign}|{words}) ?{number}", fixed), (line, fixed)


# --- texts -----------------------------------------------------------------------------------------------------------

TEXTS = ["it is", "Bob", "a: b", "a, b", "# a", "{{x}}", "{{x}} and", "{{y}}", "Total: {{x}}", "{{{x}}a", "it's", ""]
SIGNS = ["*", "&", "@", "%", "`", "!", "|", "#", ",", ": ", "]", "[", "{", "-", "'", '"', " ", " ", ""]
PLACES = [
    "      description: {0}\n",
    "      tags: [{0}]\n",
    "      tags: [b, {0}, c]\n",
    "      tags:\n        - {0}\n",
    "      validate:\n        - type: not_contains\n          rule: {0}\n",
    "      validate: [{{type: not_contains, rule: {0}}}]\n",
]


def drawn_text(seed: int) -> str:
    """Texts in quotes and without, with signs of YAML directly beside them."""
    random = Random(seed)
    pieces = []
    for text in random.choices(TEXTS, k=random.choice([1, 1, 2, 2, 3])):
        quote = random.choice(["'", '"', "", ""])
        pieces += [quote, text, quote, random.choice(SIGNS)]
    return "".join(pieces).strip()


def texts_of(value: object) -> list[str]:
    """The texts in what YAML reads, without keys."""
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) else []


def stands_in(text: str, source: str) -> bool:
    """Whether a text is all that is between two quotes, or stands without any."""
    written = {text, text.replace("'", "''"), text.replace('"', '\\"')}
    places = (found for each in written for found in re.finditer(re.escape(each), source))
    return any(
        (before := source[found.start() - 1]) == (behind := source[found.end()]) or not {before, behind} & {"'", '"'}
        for found in places
    )


def holds_for_texts(text: str, place: str) -> bool:
    """Whether there was a safe fix; what YAML reads then is written so, and compiles."""
    head = "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n      inputs: {x: '1', y: '2'}\n"
    checks = "" if "validate" in place else "      validate: [non-empty]\n"
    source = Source("a.eval.yaml", head + checks + place.format(text))
    result = fixed(source, evalc.check(source), evalc.check, selected=lambda _: True)
    if not result.fixes:
        return False
    assert only_gains(source.text, result.text, "\"'[],% "), result.text
    assert not errors(evalc.check(Source(source.name, result.text))), (text, result.text)
    for read in texts_of(yaml.load(result.text, LOADER)):
        assert stands_in(read, source.text), (text, read)
    return True


# --- the laws --------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(400))
@given(LINES, SHAPES)
def test_a_safe_fix_only_adds_quotes_around_what_is_written(line: str, shape: str) -> None:
    holds_for_safe_fixes(line, shape)


@settings(max_examples=examples(400))
@given(LINES, SHAPES)
def test_no_fix_asks_for_less_or_for_something_else(line: str, shape: str) -> None:
    holds_for_all_fixes(line, shape)


@settings(max_examples=examples(400))
@given(st.integers(0, 2**60).map(drawn_text), st.sampled_from(PLACES))
def test_yaml_reads_the_text_that_a_safe_fix_writes(text: str, place: str) -> None:
    holds_for_texts(text, place)


def test_the_laws_speak_of_lines_that_are_fixed() -> None:
    block = "        - {0}\n"
    assert holds_for_safe_fixes("contains Tokyo", block)
    assert holds_for_safe_fixes("not contains 'Total: 5'", "        - {0}  # why\n")
    assert holds_for_safe_fixes('contains "a, b"', "        [non-empty, {0}]\n")
    assert holds_for_texts("{{x}} and", PLACES[0])
    assert holds_for_texts("@Bob", PLACES[4])
    assert holds_for_all_fixes("does not contain x", block)
    assert holds_for_all_fixes("tool x.q exists and at a exists", block)
    assert holds_for_all_fixes("containz 'x' ignoring case", block)
