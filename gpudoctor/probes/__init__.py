"""One probe a subject: what the patient answered -> facts. A probe never judges."""
