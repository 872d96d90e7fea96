"""The rules, one file a subject. A check reads facts and yields what it found; it never reads the machine.

To add one: write a function in the file of its subject, decorate it with `check` (a cause) or `symptom`,
and give it a test in tests/checks/. CONTRIBUTING.md walks through it.
"""
