"""Results of the paper-scale runs on the built-in corpus, as data; see ``studies.shipped``."""
