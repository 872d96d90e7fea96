"""Text that others wrote -> facts, one file a language."""
