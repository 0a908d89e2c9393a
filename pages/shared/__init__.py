"""What all pages share: shell, controls, cached stages, figure frame."""
