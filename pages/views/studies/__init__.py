"""What the pages of the paper's figures share."""
