"""What a tool call may do: rules, modes, and a shell that is read before it runs."""
