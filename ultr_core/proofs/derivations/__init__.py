"""The paper's derivations, each a function that takes a small world and returns its lines."""
