"""Small training programs, one flaw each, and one without: python -m tests.gpu.training.NAME [SECONDS]."""
