"""Reference pages, written from the code: settings, commands, files and the public names.

    python -m tools.references

writes docs/reference/; tests/docs/test_references.py says whether what is committed is what the code says now.
"""
