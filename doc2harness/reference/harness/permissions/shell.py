"""Parse a shell command into what it would run. It never raises: what cannot be understood is a `problem`."""

from __future__ import annotations

import re
from collections.abc import Callable

from .lexer import Lexer, Unparsable
from .syntax import Block, Joined, Node, Piece, Redirect, Script, Simple, Word

LONGEST = 10_000  # characters

_END = r"(?=(?:\\\n)*(?:[ \t\n;&|<>()]|\Z))"
_RESERVED = re.compile(
    r"(?:if|while|until|for|select|case|function|coproc|\{|\[\[|then|elif|else|fi|do|done|esac|in|\}|\]\]|!)" + _END
)
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "in", "}"})
_TIME = re.compile(r"(?:time[ \t]+(?:-p[ \t]+)?)+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=", re.ASCII)
_FILE_NUMBER = re.compile(r"(?:[0-9]+|\{[A-Za-z_]\w*\})(?=[<>])", re.ASCII)
_REDIRECTS = frozenset({"<", ">", ">>", ">|", "<>", "<&", ">&", "&>", "&>>", "<<", "<<-", "<<<"})


def parse(command: str) -> Script:
    """Parse `command`; on a `problem` the body is None, except for one that is only too long."""
    try:
        if "\0" in command:
            raise Unparsable("a NUL character")
        lexer = Lexer(command, _list)
        body = _list(lexer, "")
        lexer.no_heredoc_waits()
    except Unparsable as error:
        return Script(None, str(error))
    return Script(body, f"longer than {LONGEST:,} characters" if len(command) > LONGEST else None)


def _next(lexer: Lexer) -> str:
    """The reserved word at this place, or nothing."""
    return lexer.looking_at(_RESERVED)


def _list(lexer: Lexer, end: str) -> Node:
    """Commands up to the operator `end` (nothing: the end of the text), which is left in place."""
    node = _commands(lexer)
    if lexer.ended() if end else not lexer.ended():
        raise Unparsable(f"{end or lexer.text[lexer.at : lexer.at + 20]!r} is {'missing' if end else 'unexpected'}")
    return node


def _commands(lexer: Lexer) -> Node:
    """Commands up to a closing word or sign; stops in front of it."""
    items: list[Node] = []
    operators: list[str] = []
    while True:
        while lexer.take("\n"):
            pass
        if lexer.ended() or lexer.operator() in (")", ";;", ";&", ";;&") or _next(lexer) in _CLOSING:
            break
        items.append(_pipeline(lexer))
        operator = next((sign for sign in ("&&", "||", ";", "&", "\n") if lexer.take(sign)), "")
        operators.append(";" if operator == "\n" else operator)
        if operator in ("&&", "||"):
            while lexer.take("\n"):
                pass
            if lexer.ended() or _next(lexer) in _CLOSING or lexer.operator():
                _only_group(lexer)
        elif not operator:
            break
    return Joined(tuple(items), tuple(operators))


def _only_group(lexer: Lexer) -> None:
    """Behind `&&`, `||` and `|` a command has to follow; of the operators only `(` and redirects begin one."""
    if lexer.ended() or _next(lexer) in _CLOSING or lexer.operator() not in _REDIRECTS | {"("}:
        raise Unparsable("a command is missing")


def _pipeline(lexer: Lexer) -> Node:
    inverted = False
    while _next(lexer) == "!":
        lexer.at += 1
        inverted = True
    if inverted and (lexer.ended() or lexer.operator() in (";", "\n")):
        return Joined((), ())  # `!` alone is a command that does nothing
    items = [_command(lexer)]
    operators = []
    while operator := next((sign for sign in ("|&", "|") if lexer.take(sign)), ""):
        operators.append(operator)
        while lexer.take("\n"):
            pass
        items.append(_command(lexer))
    return items[0] if len(items) == 1 else Joined(tuple(items), (*operators, ""))


def _command(lexer: Lexer) -> Node:
    if lexer.ended():
        raise Unparsable("a command is missing")
    if timed := lexer.looking_at(_TIME):
        start, lexer.at = lexer.at, lexer.at + len(timed)
        if _begins_compound(lexer) or _next(lexer) == "!":
            return _pipeline(lexer)
        lexer.at = start  # before a simple command it is a word like another
    block: Block | Simple | None = None
    if lexer.operator() == "(":
        block = _parentheses(lexer)
    elif opener := _OPENERS.get(_next(lexer)):
        block = opener(lexer)
    if block is None:
        return _simple(lexer)
    redirects = []
    while redirect := _redirect(lexer):
        redirects.append(redirect)
    if isinstance(block, Simple):
        return Simple((), block.words, tuple(redirects))
    return Block(block.kind, block.bodies, block.words, tuple(redirects))


def _simple(lexer: Lexer) -> Node:
    assignments: list[Word] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    while True:
        if redirect := _redirect(lexer):
            redirects.append(redirect)
            continue
        word = lexer.word()
        if word is None:
            break
        if not words and _ASSIGNMENT.match(word.source):
            assignments.append(_array(lexer, word) if word.source.endswith("=") and _touches(lexer, "(") else word)
        else:
            words.append(word)
        if lexer.operator() == "(":
            if len(words) != 1 or assignments or redirects:
                raise Unparsable("an unexpected '('")
            return _function_body(lexer)
    if not (assignments or words or redirects):
        raise Unparsable(f"a command is missing before {lexer.text[lexer.at : lexer.at + 2]!r}")
    return Simple(tuple(assignments), tuple(words), tuple(redirects))


def _touches(lexer: Lexer, sign: str) -> bool:
    """Whether `sign` is the very next character."""
    return lexer.text.startswith(sign, lexer.at)


def _array(lexer: Lexer, name: Word) -> Word:
    """`name=( words )` as one word."""
    start = lexer.at
    lexer.need("(")
    scripts = list(name.scripts)
    while True:
        while lexer.take("\n"):
            pass
        word = lexer.word()
        if word is None:
            break
        scripts.extend(word.scripts)
    lexer.need(")")
    inside = lexer.text[start : lexer.at]
    return Word(name.source + inside, (*name.pieces, Piece("opaque", inside, False)), tuple(scripts))


def _redirect(lexer: Lexer) -> Redirect | None:
    start = lexer.at
    number = lexer.looking_at(_FILE_NUMBER)
    lexer.at += len(number)
    operator = lexer.operator()
    if operator not in _REDIRECTS:
        lexer.at = start
        return None
    lexer.at += len(operator)
    if operator in ("<<", "<<-"):
        return lexer.heredoc(operator)
    target = lexer.word()
    if target is None:
        raise Unparsable(f"nothing follows {operator!r}")
    return Redirect(operator, target, [])


# -- compound commands -------------------------------------------------------------------------------------------------


def _parentheses(lexer: Lexer) -> Block | Simple:
    if lexer.text.startswith("((", lexer.at):
        start = lexer.at
        scripts = lexer.arithmetic_command()
        if scripts is not None:
            source = lexer.text[start : lexer.at]
            return Simple((), (Word(source, (Piece("opaque", source, False),), scripts),), ())
    lexer.need("(")
    body = lexer.nested(")")
    lexer.need(")")
    return Block("subshell", (body,))


def _expect(lexer: Lexer, word: str) -> None:
    if _next(lexer) != word:
        raise Unparsable(f"{word!r} is missing")
    lexer.at += len(word)


def _body(lexer: Lexer, *ends: str) -> Node:
    """Commands up to one of the words `ends`, which is left in place; they may not be nothing at all."""
    with lexer.deeper():
        node = _commands(lexer)
    if isinstance(node, Joined) and not node.items:
        raise Unparsable("a command is missing")
    if _next(lexer) not in ends:
        raise Unparsable(f"{ends[-1]!r} is missing")
    return node


def _group(lexer: Lexer) -> Block:
    _expect(lexer, "{")
    body = _body(lexer, "}")
    _expect(lexer, "}")
    return Block("group", (body,))


def _if(lexer: Lexer) -> Block:
    lexer.at += len("if")
    bodies = [_body(lexer, "then")]
    _expect(lexer, "then")
    bodies.append(_body(lexer, "elif", "else", "fi"))
    while _next(lexer) == "elif":
        _expect(lexer, "elif")
        bodies.append(_body(lexer, "then"))
        _expect(lexer, "then")
        bodies.append(_body(lexer, "elif", "else", "fi"))
    if _next(lexer) == "else":
        _expect(lexer, "else")
        bodies.append(_body(lexer, "fi"))
    _expect(lexer, "fi")
    return Block("if", tuple(bodies))


def _while(lexer: Lexer) -> Block:
    lexer.at += len("while")  # `until` is as long
    condition = _body(lexer, "do")
    return Block("loop", (condition, *_do(lexer)))


def _do(lexer: Lexer) -> tuple[Node]:
    if _next(lexer) == "{":
        return (_group(lexer).bodies[0],)
    _expect(lexer, "do")
    body = _body(lexer, "done")
    _expect(lexer, "done")
    return (body,)


def _for(lexer: Lexer) -> Block:
    keyword = _next(lexer)
    lexer.at += len(keyword)
    lexer.skip_blanks()
    words: list[Word] = []
    if keyword == "for" and lexer.text.startswith("((", lexer.at):
        scripts = lexer.arithmetic_command()
        if scripts is None:
            raise Unparsable("for (( is left open")
        words.append(Word("((", (Piece("opaque", "((", False),), scripts))
    else:
        name = lexer.word()
        if name is None or name.literal is None:
            raise Unparsable("a loop has no name")
        if name.text.isupper():
            raise Unparsable(f"a loop sets {name.text}, which may be a variable that commands obey")
    while lexer.take("\n"):
        pass
    if _next(lexer) == "in":
        _expect(lexer, "in")
        while word := lexer.word():
            if word.literal and ("$(" in word.text or "`" in word.text):
                raise Unparsable("a loop hands on text that holds a substitution")
            words.append(word)
    lexer.take(";")
    while lexer.take("\n"):
        pass
    return Block("loop", _do(lexer), tuple(words))


def _case(lexer: Lexer) -> Block:
    lexer.at += len("case")
    subject = lexer.word()
    if subject is None:
        raise Unparsable("a case has no word")
    words = [subject]
    bodies: list[Node] = []
    while lexer.take("\n"):
        pass
    _expect(lexer, "in")
    while True:
        while lexer.take("\n"):
            pass
        if _next(lexer) == "esac":
            break
        lexer.take("(")
        while pattern := lexer.word():
            words.append(pattern)
            if not lexer.take("|"):
                break
        lexer.need(")")
        with lexer.deeper():
            bodies.append(_commands(lexer))
        if not any(lexer.take(sign) for sign in (";;&", ";;", ";&")):
            break
    while lexer.take("\n"):
        pass
    _expect(lexer, "esac")
    return Block("case", tuple(bodies), tuple(words))


def _function(lexer: Lexer) -> Block:
    lexer.at += len("function")
    if lexer.word() is None:
        raise Unparsable("a function has no name")
    return _function_body(lexer)


def _function_body(lexer: Lexer) -> Block:
    if lexer.take("("):
        lexer.need(")")
    while lexer.take("\n"):
        pass
    if lexer.operator() != "(" and _next(lexer) not in _OPENERS:
        raise Unparsable("a function has no body")
    return Block("function", (_command(lexer),))


def _test(lexer: Lexer) -> Simple:
    """`[[ ... ]]` as one command whose words are those inside."""
    _expect(lexer, "[[")
    words = [Word("[[", (Piece("text", "[[", False),))]
    while _next(lexer) != "]]":
        while lexer.take("\n"):
            pass
        if lexer.ended():
            raise Unparsable("']]' is missing")
        word = lexer.word()
        if word is None:
            sign = lexer.text[lexer.at]
            word = Word(sign, (Piece("text", sign, True),))
            lexer.at += 1
        words.append(word)
    _expect(lexer, "]]")
    return Simple((), (*words, Word("]]", (Piece("text", "]]", False),))), ())


def _coproc(lexer: Lexer) -> Block:
    """`coproc [NAME] COMMAND`; a name stands only in front of a compound command."""
    lexer.at += len("coproc")
    if not _begins_compound(lexer):
        start = lexer.at
        lexer.word()
        if not _begins_compound(lexer):
            lexer.at = start
    return Block("subshell", (_command(lexer),))


def _begins_compound(lexer: Lexer) -> bool:
    lexer.skip_blanks()
    return lexer.operator() == "(" or _next(lexer) in _OPENERS


_OPENERS: dict[str, Callable[[Lexer], Block | Simple]] = {
    "if": _if,
    "while": _while,
    "until": _while,
    "for": _for,
    "select": _for,
    "case": _case,
    "function": _function,
    "coproc": _coproc,
    "{": _group,
    "[[": _test,
}
