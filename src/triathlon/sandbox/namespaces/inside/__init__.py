"""What runs in the helper process and inside the sandbox: standard library only, and as little of it as possible."""
