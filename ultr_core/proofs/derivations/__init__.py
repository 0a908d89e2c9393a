"""The paper's derivations, each a function from a small world to its lines."""
