"""What every page uses: shell, controls, links, figures, and the side of the server."""
