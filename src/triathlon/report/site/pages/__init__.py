"""The pages that are whole without a script."""
