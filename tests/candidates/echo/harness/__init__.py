"""Answers every prompt with the prompt."""


class Agent:
    """As the specification calls it; nothing but `run` is there."""

    def __init__(self, workspace: str, **settings: object) -> None:
        self.workspace = workspace

    def run(self, prompt: str) -> dict[str, object]:
        """The prompt, as if it were the answer."""
        return {"type": "result", "status": "success", "exit_code": 0, "result": prompt, "permission_denials": []}
