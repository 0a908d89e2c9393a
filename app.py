"""Start of the Unbiased LTR Lab: ``streamlit run app.py [-- --corpus DIR]``."""

from pages.shared import shell

shell.run()
