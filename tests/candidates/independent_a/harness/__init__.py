"""A coding-agent harness."""

__version__ = "0.1.0"


class HarnessError(Exception):
    """Ends the command with an exit code."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


def __getattr__(name):
    if name == "Agent":
        from harness.agent import Agent
        return Agent
    raise AttributeError(name)
