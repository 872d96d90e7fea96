"""What is written about gpudoctor and made from its code: the manual page (`manual.py`) and the site (`site.py`)."""
