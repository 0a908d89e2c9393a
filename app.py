"""Start of the Unbiased LTR Lab: ``streamlit run app.py [-- --corpus DIR]``.

Streamlit imports this file once, as the server, and runs it again as the script of every visit.
"""

import streamlit as st

if __name__ == "__main__":
    from pages.app import shell

    shell.run()
else:
    from pages.app import uploads

    app = st.App(__file__, middleware=uploads.MIDDLEWARE, lifespan=uploads.lifespan)
