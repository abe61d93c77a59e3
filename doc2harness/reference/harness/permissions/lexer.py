"""Read the words of a shell command: quotes, expansions, substitutions and here-documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .signs import ansi_text, merged, plainly_balanced
from .syntax import BRACES, Node, Piece, Redirect, Word

METACHARACTERS = " \t\n;&|<>()"
DEEPEST = 40  # nested substitutions and groups
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|;|\|&|\||&>>|&>|&|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|\(|\)|\n")
_JOINED_LINES = re.compile(r"(?:\\\n)+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_PLAIN_PARAMETER = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)


class Unparsable(Exception):
    """The text is not a command that can be understood; the message says what is wrong."""


class Lexer:
    """A position in the text of one command. `inner` parses a list of commands up to a closing sign."""

    def __init__(self, text: str, inner: Callable[[Lexer, str], Node], depth: int = 0) -> None:
        if depth > DEEPEST:
            raise Unparsable("nested too deeply")
        self.text = text
        self.at = 0
        self.depth = depth
        self._inner = inner
        self._waiting: list[Redirect] = []  # here-documents whose bodies have yet to come

    # -- blanks and operators ------------------------------------------------------------------------------------

    def skip_blanks(self) -> None:
        """Step over blanks, joined lines and a comment."""
        text = self.text
        while self.at < len(text):
            if text[self.at] in " \t":
                self.at += 1
            elif text.startswith("\\\n", self.at):
                self.at += 2
            elif text[self.at] == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                return

    def operator(self) -> str:
        """The operator at this place, or nothing."""
        found = _OPERATOR.match(self.text, self.at)
        if not found or self.text.startswith(("<(", ">("), self.at):
            return ""
        return found[0]

    def take(self, operator: str) -> bool:
        """Step over `operator` if it is what comes next."""
        self.skip_blanks()
        if self.operator() != operator:
            return False
        self.at += len(operator)
        if operator == "\n":
            self._read_heredocs()
        return True

    def need(self, operator: str) -> None:
        if not self.take(operator):
            raise Unparsable(f"{operator!r} is missing")

    def ended(self) -> bool:
        self.skip_blanks()
        return self.at >= len(self.text)

    def looking_at(self, pattern: re.Pattern[str]) -> str:
        self.skip_blanks()
        found = pattern.match(self.text, self.at)
        return found[0] if found else ""

    # -- words ---------------------------------------------------------------------------------------------------

    def word(self) -> Word | None:
        """The next word, or None if an operator or the end comes first."""
        self.skip_blanks()
        start = self.at
        pieces: list[Piece] = []
        scripts: list[Node] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            if self.text.startswith(("<(", ">("), self.at):
                self._substitution(2, pieces, scripts, quoted=False)
            elif sign in METACHARACTERS or self._line_is_joined_behind_a_word():
                break
            elif sign == "\\":
                self._escape(pieces)
            elif sign == "'":
                pieces.append(Piece("text", self._until("'"), True))
            elif sign == '"':
                self.at += 1
                self._double_quoted('"', pieces, scripts)
            elif sign == "$" or sign == "`":
                self._expansion(pieces, scripts, quoted=False)
            else:
                pieces.append(Piece("text", sign, False))
                self.at += 1
        if self.at == start:
            return None
        return Word(self.text[start : self.at], merged(pieces), tuple(scripts))

    def _line_is_joined_behind_a_word(self) -> bool:
        """Whether the word ends here, in front of backslashes at the end of lines."""
        joined = _JOINED_LINES.match(self.text, self.at)
        return joined is not None and (joined.end() == len(self.text) or self.text[joined.end()] in METACHARACTERS)

    def _escape(self, pieces: list[Piece]) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if after == "\n":
            raise Unparsable("a line is continued inside a word")
        pieces.append(Piece("text", after or "\\", True))
        self.at += 2

    def _until(self, quote: str) -> str:
        """The text from behind the quote at this place to the next one."""
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise Unparsable("a quote is left open")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _double_quoted(self, end: str, pieces: list[Piece], scripts: list[Node]) -> None:
        """Read up to `end`; an empty `end` reads to the end of the text, as in a here-document."""
        pieces.append(Piece("text", "", True))
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign == end:
                self.at += 1
                return
            if sign == "\\":
                after = self.text[self.at + 1 : self.at + 2]
                kept = "" if after == "\n" else after if after in ("$", "`", "\\") or after == end else sign + after
                pieces.append(Piece("text", kept, True))
                self.at += 2
            elif sign == "$" or sign == "`":
                self._expansion(pieces, scripts, quoted=True)
            else:
                pieces.append(Piece("text", sign, True))
                self.at += 1
        if end:
            raise Unparsable("a quote is left open")

    # -- expansions ----------------------------------------------------------------------------------------------

    def _expansion(self, pieces: list[Piece], scripts: list[Node], *, quoted: bool) -> None:
        start = self.at
        ahead = self.text[start + 1 : start + 3]
        if self.text[start] == "`":
            self._backticks(pieces, scripts, quoted=quoted)
        elif ahead.startswith("\\\n"):
            raise Unparsable("a line is continued inside an expansion")
        elif ahead == "((" and self._arithmetic(start + 3, scripts):
            pieces.append(Piece("opaque", self.text[start : self.at], quoted))
        elif ahead.startswith("("):
            self._substitution(2, pieces, scripts, quoted=quoted)
        elif ahead.startswith("["):
            raise Unparsable("old arithmetic $[ ]")
        elif ahead.startswith("{"):
            self._parameter(pieces, scripts, quoted=quoted)
        elif ahead.startswith("'") and not quoted:
            self.at += 1
            pieces.append(Piece("text", self._ansi(), True))
        elif ahead.startswith('"') and not quoted:
            self.at += 2
            self._double_quoted('"', pieces, scripts)
        elif name := _NAME.match(self.text, start + 1):
            pieces.append(Piece("variable" if name[0][0].isalpha() or name[0][0] == "_" else "opaque", name[0], quoted))
            self.at = name.end()
        else:
            pieces.append(Piece("text", "$", quoted))
            self.at += 1

    def _substitution(self, width: int, pieces: list[Piece], scripts: list[Node], *, quoted: bool) -> None:
        """`$( )`, `<( )`, `>( )`: the commands inside, parsed where they stand."""
        start = self.at
        self.at += width
        outer, self._waiting = self._waiting, []
        scripts.append(self.nested(")"))
        self.need(")")
        self.no_heredoc_waits()
        self._waiting = outer
        pieces.append(Piece("opaque", self.text[start : self.at], quoted))

    def nested(self, end: str) -> Node:
        """The list of commands up to `end`, one level deeper."""
        with self.deeper():
            return self._inner(self, end)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count a level of nesting; there is a deepest one, so that no text can exhaust the stack."""
        if self.depth >= DEEPEST:
            raise Unparsable("nested too deeply")
        self.depth += 1
        yield
        self.depth -= 1

    def _backticks(self, pieces: list[Piece], scripts: list[Node], *, quoted: bool) -> None:
        start = self.at
        inside = []
        self.at += 1
        while True:
            sign = self.text[self.at : self.at + 1]
            if not sign:
                raise Unparsable("a backtick is left open")
            self.at += 1
            if sign == "`":
                break
            after = self.text[self.at : self.at + 1]
            if sign == "\\" and (after in ("`", "$", "\\") or (quoted and after == '"')):
                sign = after
                self.at += 1
            inside.append(sign)
        self._refuse_braces_in_nested_quotes(start, quoted=quoted)
        scripts.append(self._elsewhere("".join(inside)))
        pieces.append(Piece("opaque", self.text[start : self.at], quoted))

    def _refuse_braces_in_nested_quotes(self, start: int, *, quoted: bool) -> None:
        """To bash's brace expansion the inner of two nested pairs of quotes is outside of both: it may double them."""
        source = self.text[start : self.at]
        if quoted and '"' in source and BRACES.search(source):
            raise Unparsable("braces inside nested quotes")

    def _elsewhere(self, text: str) -> Node:
        """Parse a text that does not stand in ours as it is."""
        return Lexer(text, self._inner, self.depth + 1).nested("")

    def _parameter(self, pieces: list[Piece], scripts: list[Node], *, quoted: bool) -> None:
        """`${ }`: a plain name is a variable, anything else is opaque and searched for substitutions."""
        if plain := _PLAIN_PARAMETER.match(self.text, self.at + 1):
            pieces.append(Piece("variable", plain[1], quoted))
            self.at = plain.end()
            return
        start = self.at
        self.at += 2
        if self.text[self.at : self.at + 1] in (" ", "\t", "\n", "|"):
            raise Unparsable("${ ... } runs commands")
        with self.deeper():
            self._inside_braces(scripts, quoted=quoted)
        self._refuse_braces_in_nested_quotes(start, quoted=quoted)
        source = self.text[start : self.at]
        if re.search(r"@[A-Za-z]\}$", source):
            raise Unparsable("${...@X} may run its value as a command")
        pieces.append(Piece("opaque", source, quoted))

    def _inside_braces(self, scripts: list[Node], *, quoted: bool) -> None:
        """Read up to and over the `}` that closes a `${`."""
        inside: list[Piece] = []
        while True:
            sign = self.text[self.at : self.at + 1]
            if not sign:
                raise Unparsable("${ is left open")
            if sign == "'" and quoted:
                raise Unparsable("a quote inside a quoted ${ }")  # its meaning hangs on the operator in front
            if sign == "'":
                self._until("'")
            elif sign in ("$", "`"):
                self._expansion(inside, scripts, quoted=quoted)
            elif self.text.startswith(("<(", ">("), self.at):
                self._substitution(2, inside, scripts, quoted=False)
            else:
                self.at += 2 if sign == "\\" else 1
                if sign == '"':
                    self._double_quoted('"', inside, scripts)
                elif sign == "}":
                    return

    def arithmetic_command(self) -> tuple[Node, ...] | None:
        """`(( ))` at this place: the substitutions in it; None if it is two subshells instead."""
        scripts: list[Node] = []
        return tuple(scripts) if self._arithmetic(self.at + 2, scripts) else None

    def _arithmetic(self, start: int, scripts: list[Node]) -> bool:
        """Read to the `))` that closes an arithmetic expression; leave everything as it was if there is none."""
        before, open_signs = self.at, 2
        found: list[Node] = []
        inside: list[Piece] = []
        self.at = start
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in "$`":
                with self.deeper():
                    self._expansion(inside, found, quoted=True)
                continue
            if sign in "'\"\\":
                break
            open_signs += (sign == "(") - (sign == ")")
            self.at += 1
            if open_signs == 1 and sign == ")":
                if self.text[self.at : self.at + 1] != ")":
                    break
                self.at += 1
                opaque = any(piece.kind == "opaque" for piece in inside)
                if opaque and not plainly_balanced(self.text[start : self.at], bool(found)):
                    raise Unparsable("an expansion inside arithmetic that shells do not read alike")
                scripts.extend(found)
                return True
        if inside:
            raise Unparsable("what begins like arithmetic is none")  # nor is it worth reading twice
        self.at = before
        return False

    def _ansi(self) -> str:
        """`$'...'`: the text with its escapes replaced."""
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise Unparsable("a quote is left open")
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return ansi_text(inside)

    # -- here-documents ------------------------------------------------------------------------------------------

    def heredoc(self, operator: str) -> Redirect:
        """The delimiter behind `<<` or `<<-`; the body is read at the end of the line."""
        word = self.word()
        if word is None:
            raise Unparsable("a here-document has no delimiter")
        if word.scripts:
            raise Unparsable("a here-document's delimiter holds a substitution")
        redirect = Redirect(operator, word, [])
        self._waiting.append(redirect)
        return redirect

    def no_heredoc_waits(self) -> None:
        if self._waiting:
            raise Unparsable("a here-document has no body")

    def _read_heredocs(self) -> None:
        for redirect in self._waiting:
            quoted = any(sign in redirect.target.source for sign in "'\"\\")
            delimiter = redirect.target.text if quoted else redirect.target.source
            lines = []
            while (line := self._heredoc_line(quoted, redirect.operator == "<<-")) != delimiter:
                lines.append(line)
            if not quoted:
                body = Lexer("\n".join(lines), self._inner, self.depth + 1)
                body._double_quoted("", [], redirect.body)
        self._waiting = []

    def _heredoc_line(self, quoted: bool, tabs: bool) -> str:
        """The next line of a body; where substitutions work, a backslash at its end joins the following one."""
        joined = ""
        while True:
            if self.at >= len(self.text):
                raise Unparsable("a here-document is left open")
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            self.at = min(end + 1, len(self.text))
            joined += line.lstrip("\t") if tabs else line
            if quoted or (len(joined) - len(joined.rstrip("\\"))) % 2 == 0:
                return joined
            joined = joined[:-1]
